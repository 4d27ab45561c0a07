// ringtree._core: the C++ core as Python sees it. Users import ringtree, which gives these objects their documented
// names.
#include "core/bindings/bindings.h"

NB_MODULE(_core, module) {
  using namespace ringtree::bindings;
  module.doc() = "The C++ core of ringtree; import ringtree instead.";
  bind_errors(module);
  bind_schedule(module);
  bind_rounds(module);
  bind_algorithms(module);
  bind_verify(module);
  bind_model(module);
  bind_simulate(module);
  bind_probe(module);
  bind_rows(module);
  bind_stores(module);
  bind_trace(module);
  bind_communicator(module);
  bind_group(module);
  bind_shared(module);
  bind_textbook(module);
}
