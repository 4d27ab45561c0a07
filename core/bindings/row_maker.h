// A line of numbers and known words made into a Row of ringtree.logs.records, without anything in between: a log may
// hold millions of them. Takes only what is certain (ASCII, blanks and tabs, plain numbers); of any other line it says
// nothing, and Python's own reader, which is the reference, looks at it.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringtree::bindings {

/// What stands in a column. Of `time` to `other`: figures of the side that the column belongs to.
enum class Cell : uint8_t { size, count, dtype, op, root, time, algbw, busbw, wrong, other, passed };

class RowMaker {
 public:
  /// Of one column, from the left. `side`: index into `places`; `unit`: as in Printed; `name`: of `other`.
  struct Column {
    Cell cell;
    size_t side;
    nanobind::object unit, name;
  };

  /// `types`: Row, Side and Printed. `dtypes`, `ops`: the words that may stand in those columns; `dtype`, `op`: of all
  /// rows, where there is no such column.
  RowMaker(std::vector<nanobind::object> types, std::vector<nanobind::object> places, std::vector<Column> columns,
           std::vector<nanobind::object> dtypes, std::vector<nanobind::object> ops, nanobind::object dtype,
           nanobind::object op);

  /// The row, or None: not certain that it is one.
  nanobind::object make(nanobind::handle text, Py_ssize_t line);

 private:
  static constexpr size_t kMaxColumns = 64, kMaxPlaces = 4, kMaxCached = 15, kCacheSize = 512;
  using Words = std::vector<std::pair<std::string, nanobind::object>>;
  using Tokens = std::array<std::string_view, kMaxColumns>;
  // Figures that stood before are not made again: half of a table's did, since rates and zeros repeat.
  struct Known {
    std::array<char, kMaxCached> text;
    uint8_t num_chars = 0;
    const PyObject* unit = nullptr;
    nanobind::object printed;
  };

  static Words words_from(const std::vector<nanobind::object>& words);
  static const nanobind::object* find(const Words& words, std::string_view word);
  bool split(std::string_view text, Tokens& tokens) const;
  bool may_be(const Column& column, std::string_view token) const;
  nanobind::object printed(std::string_view token, const nanobind::object& unit);
  nanobind::object side(size_t place, const Tokens& tokens);

  nanobind::object row_type_, side_type_, printed_type_, none_, empty_;
  std::vector<nanobind::object> places_;
  std::vector<Column> columns_;
  Words dtypes_, ops_;
  nanobind::object dtype_, op_;
  std::array<Known, kCacheSize> known_;
};

}  // namespace ringtree::bindings
