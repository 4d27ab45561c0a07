// See row_maker.h. Everything here runs with the GIL held.
#include "core/bindings/row_maker.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "core/base/error.h"

namespace nb = nanobind;

namespace ringtree::bindings {
namespace {

constexpr size_t kMaxDigits = 18;  // before and behind the point: fits 64 bits, and is far from infinity
constexpr std::string_view kNotChecked = "N/A";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

size_t num_digits(std::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

bool is_whole(std::string_view text) {
  return !text.empty() && text.size() <= kMaxDigits && num_digits(text) == text.size();
}

bool is_decimal(std::string_view text) {
  const size_t whole = num_digits(text);
  if (whole == 0 || whole > kMaxDigits) return false;
  if (whole == text.size()) return true;
  return text[whole] == '.' && is_whole(text.substr(whole + 1));
}

// Also as "%g" prints it, 1e-06, 0e+00, with an exponent of one digit that counts: larger ones are not measurements.
bool is_figure(std::string_view text) {
  const size_t e = text.find('e');
  if (e == std::string_view::npos) return is_decimal(text);
  const std::string_view exponent = text.substr(e + 1);
  return exponent.size() == 3 && (exponent[0] == '+' || exponent[0] == '-') && exponent[1] == '0' &&
         is_digit(exponent[2]) && is_decimal(text.substr(0, e));
}

nb::object checked(PyObject* made) {
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

// What tuple.__new__(type, parts) makes, of a NamedTuple. The parts are there before the tuple is: nothing sees a half.
nb::object tuple_of(const nb::object& type, std::initializer_list<nb::object> parts) {
  auto* const made = reinterpret_cast<PyTypeObject*>(type.ptr());
  const nb::object result = checked(made->tp_alloc(made, static_cast<Py_ssize_t>(parts.size())));
  Py_ssize_t at = 0;
  for (const nb::object& part : parts) PyTuple_SET_ITEM(result.ptr(), at++, nb::object(part).release().ptr());
  return result;
}

nb::object whole_number(std::string_view digits) {
  const bool negative = digits.front() == '-';
  long long value = 0;
  for (char digit : digits.substr(negative)) value = value * 10 + (digit - '0');
  return checked(PyLong_FromLongLong(negative ? -value : value));
}

nb::object string_of(std::string_view text) {
  return checked(PyUnicode_FromKindAndData(PyUnicode_1BYTE_KIND, text.data(), static_cast<Py_ssize_t>(text.size())));
}

}  // namespace

RowMaker::RowMaker(std::vector<nb::object> types, std::vector<nb::object> places, std::vector<Column> columns,
                   std::vector<nb::object> dtypes, std::vector<nb::object> ops, nb::object dtype, nb::object op)
    : none_(nb::none()),
      empty_(nb::tuple()),
      places_(std::move(places)),
      columns_(std::move(columns)),
      dtypes_(words_from(dtypes)),
      ops_(words_from(ops)),
      dtype_(std::move(dtype)),
      op_(std::move(op)) {
  if (types.size() != 3 || places_.empty() || places_.size() > kMaxPlaces || columns_.size() > kMaxColumns)
    throw UsageError("a row has three types, up to 4 sides and up to 64 columns");
  for (const nb::object& type : types)
    if (!PyType_Check(type.ptr()) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), &PyTuple_Type))
      throw UsageError("rows, sides and figures are tuples");
  for (const Column& column : columns_)
    if (column.side >= places_.size()) throw UsageError("a column belongs to a side that the row does not have");
  row_type_ = types[0], side_type_ = types[1], printed_type_ = types[2];
}

RowMaker::Words RowMaker::words_from(const std::vector<nb::object>& words) {
  Words found;
  for (const nb::object& word : words) found.emplace_back(nb::cast<nb::str>(word).c_str(), word);
  return found;
}

const nb::object* RowMaker::find(const Words& words, std::string_view word) {
  for (const auto& [text, object] : words)
    if (text == word) return &object;
  return nullptr;
}

bool RowMaker::split(std::string_view text, Tokens& tokens) const {
  size_t count = 0, at = 0;
  for (;;) {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    if (at == text.size()) return count == columns_.size();
    const size_t begin = at;
    while (at < text.size() && text[at] > ' ') ++at;
    // Anything but a blank or a tab: Python's split() may think otherwise of it.
    if (at < text.size() && text[at] != ' ' && text[at] != '\t') return false;
    if (count == columns_.size()) return false;
    tokens[count++] = text.substr(begin, at - begin);
  }
}

bool RowMaker::may_be(const Column& column, std::string_view token) const {
  switch (column.cell) {
    case Cell::size:
    case Cell::count:
      return is_whole(token);
    case Cell::dtype:
      return find(dtypes_, token) != nullptr;
    case Cell::op:
      return find(ops_, token) != nullptr;
    case Cell::root:
      return is_whole(token.substr(token.front() == '-'));
    case Cell::time:
    case Cell::algbw:
    case Cell::busbw:
    case Cell::other:
      return is_figure(token);
    case Cell::wrong:
      return is_figure(token) || token == kNotChecked;
    case Cell::passed:
      return true;
  }
  return false;
}

nb::object RowMaker::printed(std::string_view token, const nb::object& unit) {
  if (token.size() > kMaxCached) return tuple_of(printed_type_, {string_of(token), unit});
  size_t hash = 0;
  for (char c : token) hash = hash * 31 + static_cast<unsigned char>(c);
  Known& known = known_[(hash ^ hash >> 9) % kCacheSize];
  if (known.unit != unit.ptr() || std::string_view(known.text.data(), known.num_chars) != token) {
    known.printed = tuple_of(printed_type_, {string_of(token), unit});
    known.unit = unit.ptr();  // of a column, which lives as long as this
    known.num_chars = static_cast<uint8_t>(token.size());
    std::copy(token.begin(), token.end(), known.text.begin());
  }
  return known.printed;
}

nb::object RowMaker::side(size_t place, const Tokens& tokens) {
  nb::object time = none_, algbw = none_, busbw = none_, wrong = none_, others = empty_;
  std::array<nb::object, kMaxColumns> more;
  size_t num_more = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    if (column.cell < Cell::time || column.cell > Cell::other || column.side != place) continue;
    if (column.cell == Cell::wrong && tokens[i] == kNotChecked) continue;
    nb::object figure = printed(tokens[i], column.unit);
    if (column.cell == Cell::time) time = std::move(figure);
    if (column.cell == Cell::algbw) algbw = std::move(figure);
    if (column.cell == Cell::busbw) busbw = std::move(figure);
    if (column.cell == Cell::wrong) wrong = std::move(figure);
    if (column.cell == Cell::other) more[num_more++] = checked(PyTuple_Pack(2, column.name.ptr(), figure.ptr()));
  }
  if (num_more > 0) {
    others = checked(PyTuple_New(static_cast<Py_ssize_t>(num_more)));
    for (size_t i = 0; i < num_more; ++i)
      PyTuple_SET_ITEM(others.ptr(), static_cast<Py_ssize_t>(i), more[i].release().ptr());
  }
  return tuple_of(side_type_, {places_[place], time, algbw, busbw, wrong, others, empty_});
}

nb::object RowMaker::make(nb::handle text, Py_ssize_t line) {
  if (!PyUnicode_Check(text.ptr()) || PyUnicode_READY(text.ptr()) != 0 || !PyUnicode_IS_ASCII(text.ptr())) return none_;
  Tokens tokens;
  const auto* const begin = reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(text.ptr()));
  if (!split({begin, static_cast<size_t>(PyUnicode_GET_LENGTH(text.ptr()))}, tokens)) return none_;
  for (size_t i = 0; i < columns_.size(); ++i)
    if (!may_be(columns_[i], tokens[i])) return none_;

  nb::object size = none_, count = none_, dtype = dtype_, op = op_, root = none_;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Cell cell = columns_[i].cell;
    if (cell == Cell::size) size = whole_number(tokens[i]);
    if (cell == Cell::count) count = whole_number(tokens[i]);
    if (cell == Cell::dtype) dtype = *find(dtypes_, tokens[i]);
    if (cell == Cell::op) op = *find(ops_, tokens[i]);
    if (cell == Cell::root) root = whole_number(tokens[i]);
  }
  const nb::object sides = checked(PyTuple_New(static_cast<Py_ssize_t>(places_.size())));
  for (size_t place = 0; place < places_.size(); ++place)
    PyTuple_SET_ITEM(sides.ptr(), static_cast<Py_ssize_t>(place), side(place, tokens).release().ptr());
  return tuple_of(row_type_, {checked(PyLong_FromSsize_t(line)), size, sides, count, dtype, op, root});
}

}  // namespace ringtree::bindings
