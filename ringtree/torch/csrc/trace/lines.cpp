// See lines.h.
#include "lines.h"

#include <torch/csrc/utils/pybind.h>

#include <array>
#include <cstdio>

namespace ringtree_torch {
namespace {

/// torch.float32 as "float32"; "" for none. Asked once of each: PyTorch's own table is in no header of all versions.
const std::string& dtype_name(c10::ScalarType dtype) {
  static std::array<std::string, 256> known;  // under the GIL
  std::string& name = known[static_cast<uint8_t>(dtype)];
  if (name.empty() && dtype != c10::ScalarType::Undefined) {
    name = pybind11::str(pybind11::cast(dtype)).cast<std::string>();
    if (name.starts_with("torch.")) name.erase(0, 6);
  }
  return name;
}

void add_number(std::string& line, const char* name, int64_t value) {
  line.append(",\"").append(name).append("\":").append(std::to_string(value));
}

void add_text(std::string& line, const char* name, const std::string& value) {
  line.append(",\"").append(name).append("\":\"").append(value).append("\"");
}

/// Seconds with seven digits; `never`: null.
void add_time(std::string& line, const char* name, int64_t nanoseconds, bool never = false) {
  line.append(",\"").append(name).append("\":");
  if (never) {
    line.append("null");
    return;
  }
  std::array<char, 32> text;
  const int64_t tenths = ((nanoseconds < 0 ? -nanoseconds : nanoseconds) + 50) / 100;  // of microseconds
  const int length = std::snprintf(text.data(), text.size(), "%s%lld.%07lld", nanoseconds < 0 ? "-" : "",
                                   static_cast<long long>(tenths / 10'000'000),   // NOLINT(google-runtime-int)
                                   static_cast<long long>(tenths % 10'000'000));  // NOLINT(google-runtime-int)
  line.append(text.data(), static_cast<size_t>(length));
}

}  // namespace

std::string lines_of(const std::vector<TracedCall>& calls, const std::vector<TracedOperator>& operators) {
  std::string lines;
  for (const TracedCall& call : calls) {
    const TracedOperator& op = operators[static_cast<size_t>(call.kind)];
    const bool has_end = call.end != TracedCall::kNever;
    lines.append("{\"kind\":\"call\"");
    add_number(lines, "call", call.number);
    add_number(lines, "step", call.step);
    add_text(lines, "collective", op.collective);
    add_text(lines, "operator", op.name);
    add_number(lines, "group", call.group);
    add_number(lines, "in_bytes", call.in_bytes);
    add_number(lines, "out_bytes", call.out_bytes);
    add_text(lines, "dtype", dtype_name(call.dtype));
    add_text(lines, "device", c10::DeviceTypeName(call.device, /*lower_case=*/true));
    add_number(lines, "num_tensors", call.num_tensors);
    add_time(lines, "begin", call.begin);
    add_time(lines, "issued", call.issued, call.issued == TracedCall::kNever);
    add_time(lines, "end", call.end, !has_end);
    add_time(lines, "ran_begin", call.ran_begin);
    add_time(lines, "ran_end", call.ran_end, !has_end);
    lines.append("}\n");
  }
  return lines;
}

}  // namespace ringtree_torch
