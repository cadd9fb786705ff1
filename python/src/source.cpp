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
#include <cstdlib>
#include <deque>
#include <limits>
#include <tuple>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/table/table_roles.hpp"
#include "settings.hpp"

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

/// Turns objects into cells. An object that cannot be read is Cell::Kind::other, so its row is refused if its column counts.
class Reader {
 public:
  explicit Reader(Texts& texts) : texts_(texts), decimal_(nb::module_::import_("decimal").attr("Decimal")) {}

  Cell read(PyObject* object) {
    if (object == Py_None) return {};
    try {
      return value(object);
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_Exception)) throw;
      return unreadable(object, nb::cast<std::string>(nb::repr(error.value())));
    } catch (const nb::cast_error&) {
      return unreadable(object, "its text is none");
    }
  }

 private:
  Cell value(PyObject* object) {
    if (PyUnicode_Check(object)) {
      Py_ssize_t size = 0;
      const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
      if (text == nullptr) throw nb::python_error();
      return {.kind = Cell::Kind::text, .text = {text, static_cast<std::size_t>(size)}};
    }
    if (PyBool_Check(object)) return {.kind = Cell::Kind::boolean, .number = object == Py_True};
    if (PyLong_Check(object)) return integer(object);
    if (PyFloat_Check(object)) return real(PyFloat_AsDouble(object));
    return other(nb::borrow(object));
  }

  static Cell real(double value) {
    if (std::isnan(value)) return {};
    return {.kind = Cell::Kind::real, .real = value};
  }

  Cell integer(PyObject* object) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) return {.kind = Cell::Kind::integer, .number = value};
    return far(nb::str(nb::handle(object)), 0);
  }

  /// A number that is kept as its digits, because 128 bits may not hold it.
  Cell far(const nb::object& digits, std::int32_t scale) {
    Cell cell = text(digits);
    cell.kind = scale == 0 ? Cell::Kind::integer : Cell::Kind::decimal;
    cell.scale = scale;
    cell.number = std::numeric_limits<ingest::Int128>::max();
    return cell;
  }

  Cell other(const nb::object& object) {
    if (nb::isinstance(object, decimal_)) return decimal(object);
    const std::string type = type_of(object);
    if (type == "NAType" || type == "NaTType") return {};
    if (type == "datetime64") return time(nb::str(object.attr("astype")("datetime64[us]")), type);
    if (nb::hasattr(object, "isoformat")) return time(object.attr("isoformat")(), type);
    if (PyIndex_Check(object.ptr()) != 0) {
      const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
      if (!number.is_valid()) throw nb::python_error();
      return integer(number.ptr());
    }
    if (nb::hasattr(object, "item")) {  // a scalar of numpy
      const nb::object item = object.attr("item")();
      if (!nb::hasattr(item, "item")) {
        Cell cell = value(item.ptr());
        if (!cell.text.empty()) cell.text = texts_.made.emplace_back(cell.text);
        return cell;
      }
    }
    return {.kind = Cell::Kind::other, .text = texts_.made.emplace_back(type)};
  }

  /// Decimals are exact: their digits and exponent are taken as they are.
  Cell decimal(const nb::object& object) {
    if (!nb::cast<bool>(object.attr("is_finite")())) {
      if (nb::cast<bool>(object.attr("is_nan")())) return {};
      return {.kind = Cell::Kind::real, .real = PyFloat_AsDouble(object.ptr())};
    }
    const nb::object parts = object.attr("as_tuple")();
    const auto exponent = nb::cast<std::int64_t>(parts.attr("exponent"));
    const auto digits = nb::cast<nb::tuple>(parts.attr("digits"));
    constexpr std::int64_t most_digits = 36;
    constexpr std::int64_t most_written = 1000;
    const auto count = static_cast<std::int64_t>(nb::len(digits));
    if (std::abs(exponent) + count > most_digits) {
      const bool whole = exponent >= 0;
      const nb::object text =
          std::abs(exponent) > most_written ? nb::str(object) : nb::str(nb::object(object.attr("__format__")("f")));
      return far(text, whole ? 0 : 1);
    }
    ingest::Int128 number = 0;
    for (const nb::handle digit : digits) number = number * 10 + nb::cast<int>(digit);
    for (std::int64_t zero = 0; zero < exponent; ++zero) number *= 10;
    if (nb::cast<int>(parts.attr("sign")) == 1) number = -number;
    if (exponent >= 0) return {.kind = Cell::Kind::decimal, .number = number};
    return {.kind = Cell::Kind::decimal, .scale = static_cast<std::int32_t>(-exponent), .number = number};
  }

  /// A time as ISO 8601.
  Cell time(const nb::object& iso, const std::string& type) {
    const auto text = nb::cast<std::string>(iso);
    if (text == "NaT") return {};
    if (const auto time = times_.read(text)) return {.kind = Cell::Kind::time, .number = *time};
    return {.kind = Cell::Kind::other, .text = texts_.made.emplace_back(fmt::format("{} {}", type, text))};
  }

  Cell text(const nb::object& object) {
    return {.kind = Cell::Kind::text, .text = texts_.made.emplace_back(nb::cast<std::string>(object))};
  }

  Cell unreadable(PyObject* object, const std::string& why) {
    constexpr std::size_t longest = 200;
    std::string text = fmt::format("{} that cannot be read ({})", type_of(nb::borrow(object)), why.substr(0, longest));
    return {.kind = Cell::Kind::other, .text = texts_.made.emplace_back(std::move(text))};
  }

  static std::string type_of(const nb::object& object) { return nb::cast<std::string>(object.type().attr("__name__")); }

  Texts& texts_;
  nb::object decimal_;
  ingest::TimeReader times_{ingest::TimeUnit::seconds, ""};
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
            std::vector<std::tuple<std::string, std::string, int, std::string>> columns;
            for (const ingest::Column& column : source.table().columns())
              columns.emplace_back(column.name(), kind_name(column.kind()), column.scale(), column.type());
            return columns;
          },
          "Name, kind, scale and type of each column.")
      .def(
          "check",
          [](const Source& source, const Dict& settings, const Dict& graph) {
            const ReadSettings read = read_settings(settings, engine_options(graph));
            ingest::Doubts doubts(read.options.spelling);
            ingest::CodecOptions codec = read.options.codec;
            codec.doubts = &doubts;
            static_cast<void>(ingest::lay_out(source.table(), read.roles, codec));
          },
          "settings"_a, "graph"_a, "Finds the columns of edges. Raises ConfigurationError if one is missing.");
}

}  // namespace deltamatch::python
