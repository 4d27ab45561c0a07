// See machine_file.h.
#include "core/builtin/machine_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include "core/model/probed_constants.h"

namespace ringtree {
namespace {

constexpr std::string_view kFormat = "ringtree.machine/2\n";  // new when what is probed, or how, changes

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string head(const std::string& fingerprint) { return std::string(kFormat) + fingerprint + "\n"; }

bool write_all(int descriptor, const std::string& text) {
  std::FILE* const file = fdopen(descriptor, "wb");
  if (!file) {
    close(descriptor);
    return false;
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

}  // namespace

std::optional<Machine> read_machine(const std::string& path, const std::string& fingerprint) {
  const File file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) return std::nullopt;
  std::array<char, 4096> bytes{};  // more than any file of ours has
  const std::string text(bytes.data(), std::fread(bytes.data(), 1, bytes.size(), file.get()));
  const std::string expected = head(fingerprint);
  if (!text.starts_with(expected)) return std::nullopt;
  return parse_machine(std::string_view(text).substr(expected.size()));
}

bool keep_machine(const std::string& path, const std::string& fingerprint, const Machine& machine) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  std::string draft = path + ".XXXXXX";
  const int descriptor = mkostemp(draft.data(), O_CLOEXEC);
  if (descriptor < 0) return false;
  if (write_all(descriptor, head(fingerprint) + machine_text(machine)) && std::rename(draft.c_str(), path.c_str()) == 0)
    return true;
  unlink(draft.c_str());
  return false;
}

}  // namespace ringtree
