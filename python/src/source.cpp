// Takes tables over from Python: by the capsules of Arrow's PyCapsule interface, or column by column. Values are not copied,
// except those of objects (objects.hpp).
#include "source.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/table/table_roles.hpp"
#include "lent.hpp"
#include "objects.hpp"
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

/// Formats of one letter, and those of timestamps. They must be texts that stay.
const char* known_format(std::string_view format) {
  for (const char* known : {"c", "C", "s", "S", "i", "I", "l", "L", "f", "g", "tss:", "tsm:", "tsu:", "tsn:"}) {
    if (format == known) return known;
  }
  throw Error(ErrorKind::usage, "table", fmt::format("no column has the format {}", format));
}

using ColumnObject = std::tuple<std::string, std::string, nb::object>;

/// A column by itself: (name, format, array) for a buffer, (name, "objects", list or array), or (name, "arrow", the two
/// capsules).
TableColumn column_of(const ColumnObject& object) {
  const auto& [name, format, values] = object;
  if (format == "objects") return column_of_objects(name, values);
  if (format == "arrow") {
    const auto capsules = nb::cast<nb::tuple>(values);
    TableColumn column{.schema = {}, .array = {}, .name = name, .type = {}, .cells = {}, .keeps = {}};
    column.schema = take_capsule<ArrowSchema>(capsules[0], "arrow_schema");
    column.array = take_capsule<ArrowArray>(capsules[1], "arrow_array");
    return column;
  }
  const auto array = nb::cast<nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(values);
  return lend(name, known_format(format), static_cast<std::int64_t>(array.size()), {nullptr, array.data()},
              keep(nb::cast(array)));
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
          "Takes columns: (name, format of Arrow, buffer), (name, 'objects', list or array) or (name, 'arrow', capsules).")
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
