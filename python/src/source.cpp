// Takes tables over from Python: by the capsules of Arrow's PyCapsule interface, or column by column. Values are not copied,
// except those of lists of objects, whose texts are read where Python keeps them.
#include "source.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <deque>
#include <limits>
#include <tuple>
#include <vector>

#include "deltamatch/error.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace deltamatch::python {
namespace {

using ingest::ArrowOwner;
using ingest::Cell;
using ingest::TableColumn;

template <class T>
ArrowOwner<T> take_capsule(const nb::handle& capsule, const char* name) {
  auto* held = static_cast<T*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (held == nullptr) throw nb::python_error();
  if (held->release == nullptr)
    throw Error(ErrorKind::usage, "table", "its data has been taken before", "ask the object for its data anew");
  return ArrowOwner<T>(held);
}

/// Keeps an object of Python until the memory that it lends is no longer read. That may end in any thread.
std::shared_ptr<void> keep(nb::object object) {
  PyObject* const held = object.release().ptr();
  return {held, [](void* pointer) {
            if (!nb::is_alive()) return;
            const nb::gil_scoped_acquire lock;
            Py_DECREF(static_cast<PyObject*>(pointer));
          }};
}

/// The texts that cells refer to, and the objects that own them.
struct Texts {
  std::shared_ptr<void> objects;
  std::deque<std::string> made;
};

/// Turns objects into cells.
class Reader {
 public:
  explicit Reader(Texts& texts) : texts_(texts) {
    const nb::object decimal = nb::module_::import_("decimal").attr("Decimal");
    decimal_ = decimal;
  }

  Cell read(PyObject* object) {
    Cell cell;
    if (object == Py_None) return cell;
    if (PyUnicode_Check(object)) {
      Py_ssize_t size = 0;
      const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
      if (text == nullptr) throw nb::python_error();
      cell.kind = Cell::Kind::text;
      cell.text = {text, static_cast<std::size_t>(size)};
      return cell;
    }
    if (PyBool_Check(object)) return {.kind = Cell::Kind::boolean, .number = object == Py_True};
    if (PyLong_Check(object)) return integer(object);
    if (PyFloat_Check(object)) return real(PyFloat_AsDouble(object));
    return other(nb::borrow(object));
  }

 private:
  static Cell real(double value) {
    if (std::isnan(value)) return {};
    return {.kind = Cell::Kind::real, .real = value};
  }

  Cell integer(PyObject* object) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return {.kind = Cell::Kind::integer, .number = value};
    const auto far = static_cast<ingest::Int128>(std::numeric_limits<std::int64_t>::max()) * 4;  // refused as beyond 64 bits
    return {.kind = Cell::Kind::integer, .number = overflow > 0 ? far : -far};
  }

  Cell other(const nb::object& object) {
    if (nb::isinstance(object, decimal_)) return decimal(object);
    const std::string type = nb::cast<std::string>(object.type().attr("__name__"));
    if (type == "NAType" || type == "NaTType") return {};
    if (nb::hasattr(object, "isoformat")) return text(object.attr("isoformat")());
    if (PyIndex_Check(object.ptr()) != 0) {
      const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
      if (!number.is_valid()) throw nb::python_error();
      return integer(number.ptr());
    }
    if (nb::hasattr(object, "item")) {  // a scalar of numpy
      const nb::object item = object.attr("item")();
      if (!nb::hasattr(item, "item")) {
        Cell cell = read(item.ptr());
        if (cell.kind == Cell::Kind::text) cell.text = texts_.made.emplace_back(cell.text);
        return cell;
      }
    }
    Cell cell{.kind = Cell::Kind::other};
    cell.text = texts_.made.emplace_back(type);
    return cell;
  }

  /// Decimals are exact: their digits and exponent are taken as they are.
  Cell decimal(const nb::object& object) {
    if (!nb::cast<bool>(object.attr("is_finite")())) {
      if (nb::cast<bool>(object.attr("is_nan")())) return {};
      return text(nb::str(object));
    }
    const nb::object parts = object.attr("as_tuple")();
    const auto exponent = nb::cast<std::int64_t>(parts.attr("exponent"));
    const auto digits = nb::cast<nb::tuple>(parts.attr("digits"));
    constexpr std::size_t most_digits = 36;
    if (exponent > 0 || exponent < -static_cast<std::int64_t>(most_digits) || nb::len(digits) > most_digits)
      return text(nb::str(object));
    ingest::Int128 number = 0;
    for (const nb::handle digit : digits) number = number * 10 + nb::cast<int>(digit);
    if (nb::cast<int>(parts.attr("sign")) == 1) number = -number;
    return {.kind = Cell::Kind::decimal, .scale = static_cast<std::int32_t>(-exponent), .number = number};
  }

  Cell text(const nb::object& object) {
    Cell cell{.kind = Cell::Kind::text};
    cell.text = texts_.made.emplace_back(nb::cast<std::string>(object));
    return cell;
  }

  Texts& texts_;
  nb::object decimal_;
};

/// A column of a list of objects.
TableColumn cells_of(const std::string& name, const nb::list& objects) {
  auto texts = std::make_shared<Texts>();
  texts->objects = keep(objects);
  Reader reader(*texts);
  TableColumn column{.schema = {}, .array = {}, .name = name, .type = "object", .cells = {}, .keeps = texts};
  column.cells.reserve(nb::len(objects));
  for (const nb::handle object : objects) column.cells.push_back(reader.read(object.ptr()));
  return column;
}

/// What an Arrow array of one buffer owns. A schema owns nothing: its texts are constants.
struct Lent {
  std::shared_ptr<void> keeps;
  const void* buffers[2];
};

TableColumn lend(const std::string& name, const char* format,
                 const nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>& values) {
  TableColumn column{.schema = {}, .array = {}, .name = name, .type = {}, .cells = {}, .keeps = {}};
  *column.schema.get() = {.format = format,
                          .name = "",
                          .metadata = nullptr,
                          .flags = ARROW_FLAG_NULLABLE,
                          .n_children = 0,
                          .children = nullptr,
                          .dictionary = nullptr,
                          .release = [](ArrowSchema* schema) { schema->release = nullptr; },
                          .private_data = nullptr};
  auto lent = std::make_unique<Lent>();
  lent->keeps = keep(nb::cast(values));
  lent->buffers[0] = nullptr;
  lent->buffers[1] = values.data();
  *column.array.get() = {.length = static_cast<std::int64_t>(values.size()),
                         .null_count = 0,
                         .offset = 0,
                         .n_buffers = 2,
                         .n_children = 0,
                         .buffers = lent->buffers,
                         .children = nullptr,
                         .dictionary = nullptr,
                         .release =
                             [](ArrowArray* array) {
                               delete static_cast<Lent*>(array->private_data);
                               array->release = nullptr;
                             },
                         .private_data = lent.release()};
  return column;
}

/// Formats of one letter, and those of timestamps. They must be texts that stay.
const char* known_format(std::string_view format) {
  for (const char* known : {"c", "C", "s", "S", "i", "I", "l", "L", "f", "g", "tss:", "tsm:", "tsu:", "tsn:"}) {
    if (format == known) return known;
  }
  throw Error(ErrorKind::usage, "table", fmt::format("no column has the format {}", format));
}

using ColumnObject = std::tuple<std::string, std::string, nb::object>;

/// A column by itself: (name, format, array) for a buffer, (name, "objects", list), or (name, "arrow", the two capsules).
TableColumn column_of(const ColumnObject& object) {
  const auto& [name, format, values] = object;
  if (format == "objects") return cells_of(name, nb::cast<nb::list>(values));
  if (format == "arrow") {
    const auto capsules = nb::cast<nb::tuple>(values);
    TableColumn column{.schema = {}, .array = {}, .name = name, .type = {}, .cells = {}, .keeps = {}};
    column.schema = take_capsule<ArrowSchema>(capsules[0], "arrow_schema");
    column.array = take_capsule<ArrowArray>(capsules[1], "arrow_array");
    return column;
  }
  return lend(name, known_format(format), nb::cast<nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(values));
}

const char* kind_name(Cell::Kind kind) {
  switch (kind) {
    case Cell::Kind::null:
      return "null";
    case Cell::Kind::integer:
      return "integer";
    case Cell::Kind::decimal:
      return "decimal";
    case Cell::Kind::real:
      return "real";
    case Cell::Kind::boolean:
      return "boolean";
    case Cell::Kind::text:
      return "text";
    case Cell::Kind::time:
      return "time";
    case Cell::Kind::other:
      break;
  }
  return "other";
}

}  // namespace

const ingest::TableReader& Source::table() const {
  if (!table_) throw Error(ErrorKind::usage, "table", "it has been read before", "give the frame again");
  return *table_;
}

std::unique_ptr<ingest::TableReader> Source::take() {
  static_cast<void>(table());
  return std::move(table_);
}

void bind_source(nb::module_& module) {
  nb::class_<Source>(module, "Source", "A table that has not been read yet. It is read once.")
      .def_static(
          "from_stream",
          [](const nb::object& capsule, const std::string& name, bool nan_is_null) {
            return Source(
                ingest::read_stream(take_capsule<ArrowArrayStream>(capsule, "arrow_array_stream"), name, nan_is_null));
          },
          "capsule"_a, "name"_a, "nan_is_null"_a, "Takes over the capsule of __arrow_c_stream__.")
      .def_static(
          "from_array",
          [](const nb::object& schema, const nb::object& array, const std::string& name) {
            return Source(ingest::read_array(take_capsule<ArrowSchema>(schema, "arrow_schema"),
                                             take_capsule<ArrowArray>(array, "arrow_array"), name));
          },
          "schema"_a, "array"_a, "name"_a, "Takes over the capsules of __arrow_c_array__.")
      .def_static(
          "from_columns",
          [](const std::vector<ColumnObject>& objects, const std::string& name) {
            std::vector<TableColumn> columns;
            for (const ColumnObject& object : objects) columns.push_back(column_of(object));
            return Source(ingest::read_columns(std::move(columns), name, true));
          },
          "columns"_a, "name"_a,
          "Takes columns: (name, format of Arrow, buffer), (name, 'objects', list) or (name, 'arrow', capsules).")
      .def_prop_ro(
          "columns",
          [](const Source& source) {
            std::vector<std::tuple<std::string, std::string, int>> columns;
            for (const ingest::Column& column : source.table().columns())
              columns.emplace_back(column.name(), kind_name(column.kind()), column.scale());
            return columns;
          },
          "Name, kind and scale of each column.");
}

}  // namespace deltamatch::python
