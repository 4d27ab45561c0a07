// See explorer.h: the loop over all executions.
#include "tests/models/explorer/explorer.h"

#include <exception>

#include "tests/models/explorer/run.h"

namespace ringtree::explorer {

const char* fault_name(Fault fault) {
  constexpr const char* kNames[] = {"none",    "data race", "uninitialised read", "requirement", "deadlock",
                                    "endless", "program"};
  return kNames[static_cast<int>(fault)];
}

Result explore(const std::function<void(Program&)>& make, const Options& options) {
  Result result;
  Path path;
  Run run(options, path);
  do {
    const Run::End end = run.once(make);
    ++(end == Run::End::redundant ? result.redundant : result.executions);
    if (end == Run::End::faulty) {
      result.fault = run.fault();
      result.what = run.report();
      return result;
    }
    if (result.executions + result.redundant >= options.max_executions) {
      result.is_exhaustive = !path.advance();
      return result;
    }
  } while (path.advance());
  result.is_exhaustive = true;
  return result;
}

void require(bool holds, const char* what) {
  if (!holds) Run::current().fail(Fault::requirement, what);
}

}  // namespace ringtree::explorer
