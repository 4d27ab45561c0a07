// printable(): bytes from outside (environment, network, files) as one line of plain ASCII for messages of errors,
// which end up in terminals and logs: no control byte, no escape sequence, no invalid UTF-8. Not for parsing back.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ringtree {

/// `text` with \xNN for every byte that is not printable ASCII; what is behind `max_bytes` bytes becomes "...".
inline std::string printable(std::string_view text, size_t max_bytes = 120) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  for (const char c : text.substr(0, max_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      shown.push_back(c);
    } else {
      shown.append({'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return text.size() > max_bytes ? shown + "..." : shown;
}

}  // namespace ringtree
