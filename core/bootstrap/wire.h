// ByteWriter and ByteReader: numbers and texts to bytes and back, little endian, for the frames and records of this
// layer. The reader trusts nothing: it never reads past its end, never allocates from an unchecked length, and after
// the first fault every read gives zero or an empty text, so a decoder reads all its fields and then asks done() once.
// Not for collective data, which is never encoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace ringtree {

class ByteWriter {
 public:
  /// The `num_bytes` lowest bytes of `value`, lowest first.
  ByteWriter& number(uint64_t value, size_t num_bytes) {
    for (size_t i = 0; i < num_bytes; ++i) data_.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
    return *this;
  }
  ByteWriter& bytes(std::string_view value) {
    data_.append(value);
    return *this;
  }
  /// A length of four bytes, then the text.
  ByteWriter& text(std::string_view value) { return number(value.size(), 4).bytes(value); }

  std::string take() { return std::move(data_); }

 private:
  std::string data_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view data) : rest_(data) {}

  uint64_t number(size_t num_bytes) {
    const std::string_view raw = bytes(num_bytes);
    uint64_t value = 0;
    for (size_t i = 0; i < raw.size(); ++i) value |= uint64_t{static_cast<unsigned char>(raw[i])} << (8 * i);
    return value;
  }

  std::string_view bytes(size_t num_bytes) {
    if (!ok_ || num_bytes > rest_.size()) return fail();
    const std::string_view value = rest_.substr(0, num_bytes);
    rest_.remove_prefix(num_bytes);
    return value;
  }

  /// What ByteWriter::text wrote; a text longer than `max_bytes` is a fault.
  std::string text(size_t max_bytes) {
    const uint64_t num_bytes = number(4);
    return std::string(num_bytes > max_bytes ? fail() : bytes(num_bytes));
  }

  bool ok() const { return ok_; }
  size_t num_left() const { return rest_.size(); }
  /// Everything was read, nothing is left and there was no fault.
  bool done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view fail() {
    ok_ = false;
    return {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace ringtree
