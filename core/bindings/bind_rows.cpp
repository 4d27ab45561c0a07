// The quick way from a line of a log to a row; ringtree.logs.quick_rows gives it its columns.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>

#include "core/bindings/bindings.h"
#include "core/bindings/row_maker.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace ringtree::bindings {

void bind_rows(nb::module_& module) {
  nb::class_<RowMaker> maker(module, "RowMaker", "Makes rows of the lines of one table; see ringtree.logs.quick_rows.");
  nb::enum_<Cell>(maker, "Cell")
      .value("SIZE", Cell::size)
      .value("COUNT", Cell::count)
      .value("DTYPE", Cell::dtype)
      .value("OP", Cell::op)
      .value("ROOT", Cell::root)
      .value("TIME", Cell::time)
      .value("ALGBW", Cell::algbw)
      .value("BUSBW", Cell::busbw)
      .value("WRONG", Cell::wrong)
      .value("OTHER", Cell::other)
      .value("PASSED", Cell::passed);
  nb::class_<RowMaker::Column>(maker, "Column")
      .def(
          "__init__",
          [](RowMaker::Column* column, Cell cell, size_t side, nb::float_ unit, nb::str name) {
            new (column) RowMaker::Column{cell, side, std::move(unit), std::move(name)};
          },
          "cell"_a, "side"_a = 0, "unit"_a = 1.0, "name"_a = "");
  maker
      .def(nb::init<std::vector<nb::object>, std::vector<nb::object>, std::vector<RowMaker::Column>,
                    std::vector<nb::object>, std::vector<nb::object>, nb::object, nb::object>(),
           "types"_a, "places"_a, "columns"_a, "dtypes"_a, "ops"_a, "dtype"_a = nb::none(), "op"_a = nb::none())
      .def("make", &RowMaker::make, "text"_a, "line"_a, nb::sig("def make(self, text: str, line: int) -> object"));
}

}  // namespace ringtree::bindings
