#include "table.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace deltamatch::python {
namespace {

/// A capsule that releases a structure nobody has taken.
template <class T>
nb::object capsule(std::unique_ptr<T> structure, const char* name) {
  PyObject* const made = PyCapsule_New(structure.get(), name, [](PyObject* object) {
    auto* held = static_cast<T*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  if (made == nullptr) throw nb::python_error();
  static_cast<void>(structure.release());
  return nb::steal(made);
}

template <class T>
T load(const ingest::ArrowColumn& column, std::int64_t at) {
  T value;
  std::memcpy(&value, column.values.data() + static_cast<std::size_t>(at) * sizeof value, sizeof value);
  return value;
}

/// Makes objects of Python of cells.
class Objects {
 public:
  Objects() : decimal_(nb::module_::import_("decimal").attr("Decimal")), scaled_(nb::module_::import_("datetime")) {
    epoch_ = scaled_.attr("datetime")(1970, 1, 1, "tzinfo"_a = scaled_.attr("timezone").attr("utc"));
  }

  nb::object make(const ingest::ArrowField& field, const ingest::ArrowColumn& column, std::int64_t at) const {
    namespace type = ingest::arrow_type;
    const std::string& format = field.format;
    const auto place = static_cast<std::size_t>(at);
    if (!column.validity.empty() && (column.validity[place / 8] >> (place % 8) & 1U) == 0) return nb::none();
    if (format == type::int32) return nb::int_(load<std::int32_t>(column, at));
    if (format == type::int64) return nb::int_(load<std::int64_t>(column, at));
    if (format == type::float64) return nb::float_(load<double>(column, at));
    if (format == type::boolean) return nb::bool_((column.values[place / 8] >> (place % 8) & 1U) != 0);
    if (format == type::text) {
      const auto begin = load<std::int32_t>(column, at);
      return nb::str(column.bytes.data() + begin, static_cast<std::size_t>(load<std::int32_t>(column, at + 1) - begin));
    }
    if (format == type::timestamp) return epoch_ + scaled_.attr("timedelta")("microseconds"_a = load<std::int64_t>(column, at));
    if (format.starts_with("d:")) return decimal(field, load<ingest::Int128>(column, at));
    if (format == type::list) {
      nb::list items;
      for (auto item = load<std::int32_t>(column, at); item < load<std::int32_t>(column, at + 1); ++item)
        items.append(make(field.children[0], column.children[0], item));
      return items;
    }
    return row(field.children, column, at);
  }

  nb::dict row(const std::vector<ingest::ArrowField>& fields, const ingest::ArrowColumn& column, std::int64_t at) const {
    nb::dict members;
    for (std::size_t c = 0; c < fields.size(); ++c) members[fields[c].name.c_str()] = make(fields[c], column.children[c], at);
    return members;
  }

 private:
  nb::object decimal(const ingest::ArrowField& field, ingest::Int128 number) const {
    ingest::Cell cell{.kind = ingest::Cell::Kind::decimal, .number = number};
    cell.scale = std::stoi(field.format.substr(field.format.find(',') + 1));
    ingest::NumberText room;
    const std::string_view text = ingest::text_of(cell, room);
    return decimal_(nb::str(text.data(), text.size()));
  }

  nb::object decimal_;
  nb::object scaled_;
  nb::object epoch_;
};

nb::typed<nb::list, nb::typed<nb::dict, nb::str, nb::any>> to_pylist(const ingest::ArrowTable& table) {
  const Objects objects;
  nb::list rows;
  for (const ingest::ArrowColumn& chunk : table.chunks()) {
    for (std::int64_t row = 0; row < chunk.length; ++row) rows.append(objects.row(table.columns(), chunk, row));
  }
  return rows;
}

}  // namespace

void bind_table(nb::module_& module) {
  nb::class_<ingest::ArrowTable>(module, "ArrowTable", "A table of results, in Arrow's memory.")
      .def("__len__", &ingest::ArrowTable::rows)
      .def_prop_ro("column_names",
                   [](const ingest::ArrowTable& table) {
                     std::vector<std::string> names;
                     for (const ingest::ArrowField& field : table.columns()) names.push_back(field.name);
                     return names;
                   })
      .def(
          "__arrow_c_stream__",
          [](const ingest::ArrowTable& table, const nb::object& /*requested*/) {
            auto stream = std::make_unique<ArrowArrayStream>();
            table.export_stream(stream.get());
            return capsule(std::move(stream), "arrow_array_stream");
          },
          "requested_schema"_a = nb::none(), "The table as a capsule of Arrow's stream interface.")
      .def("to_pylist", &to_pylist, "The rows as dictionaries.")
      .def("__arrow_c_schema__", [](const ingest::ArrowTable& table) {
        auto schema = std::make_unique<ArrowSchema>();
        table.export_schema(schema.get());
        return capsule(std::move(schema), "arrow_schema");
      });
}

}  // namespace deltamatch::python
