#include "table.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"

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

/// Makes objects of Python of the values of one field.
class Objects {
 public:
  explicit Objects(const ingest::ArrowField& field) : field_(field), name_(intern(field.name)) {
    for (const ingest::ArrowField& child : field.children) children_.emplace_back(child);
    if (field.format.starts_with("d:")) {
      make_ = nb::module_::import_("decimal").attr("Decimal");
      scale_ = std::stoi(field.format.substr(field.format.find(',') + 1));
    } else if (field.format == ingest::arrow_type::timestamp) {
      const nb::module_ datetime = nb::module_::import_("datetime");
      epoch_ = datetime.attr("datetime")(1970, 1, 1, "tzinfo"_a = datetime.attr("timezone").attr("utc"));
      make_ = datetime.attr("timedelta");
    }
  }

  nb::object make(const ingest::ArrowColumn& column, std::int64_t at) const {
    namespace type = ingest::arrow_type;
    const std::string& format = field_.format;
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
    if (format == type::timestamp) return time(load<std::int64_t>(column, at));
    if (format.starts_with("d:")) return decimal(load<ingest::Int128>(column, at));
    if (format == type::list) {
      nb::list items;
      for (auto item = load<std::int32_t>(column, at); item < load<std::int32_t>(column, at + 1); ++item)
        items.append(children_[0].make(column.children[0], item));
      return items;
    }
    nb::dict members;
    for (std::size_t c = 0; c < children_.size(); ++c) members[children_[c].name_] = children_[c].make(column.children[c], at);
    return members;
  }

 private:
  static nb::object intern(const std::string& name) {
    PyObject* const text = PyUnicode_InternFromString(name.c_str());
    if (text == nullptr) throw nb::python_error();
    return nb::steal(text);
  }

  nb::object time(std::int64_t microseconds) const {
    constexpr std::int64_t first = -62'135'596'800'000'000;  // of the years 1 to 9999, which a datetime can say
    constexpr std::int64_t last = 253'402'300'799'999'999;
    if (microseconds < first || microseconds > last) {
      throw Error(ErrorKind::usage, fmt::format("column {} of the result", field_.name),
                  fmt::format("{} microseconds since 1970 is beyond the year 9999, the last that a datetime has", microseconds),
                  "take it as a table of Arrow or polars: give such a frame, or call to_arrow or to_polars");
    }
    return epoch_ + make_("microseconds"_a = microseconds);
  }

  nb::object decimal(ingest::Int128 number) const {
    const ingest::Cell cell{.kind = ingest::Cell::Kind::decimal, .scale = scale_, .number = number};
    ingest::NumberText room;
    const std::string_view text = ingest::text_of(cell, room);
    return make_(nb::str(text.data(), text.size()));
  }

  const ingest::ArrowField& field_;
  nb::object name_;
  nb::object make_;  // the class of decimals, or of spans of time
  nb::object epoch_;
  int scale_ = 0;
  std::vector<Objects> children_;
};

nb::typed<nb::list, nb::typed<nb::dict, nb::str, nb::any>> to_pylist(const ingest::ArrowTable& table) {
  const ingest::ArrowField field{.format = ingest::arrow_type::structure, .name = "", .children = table.columns()};
  const Objects rows_of(field);
  nb::list rows;
  for (const ingest::ArrowColumn& chunk : table.chunks()) {
    for (std::int64_t row = 0; row < chunk.length; ++row) rows.append(rows_of.make(chunk, row));
  }
  return rows;
}

nb::typed<nb::list, nb::any> values(const ingest::ArrowTable& table, std::size_t column) {
  const Objects values_of(table.columns().at(column));
  nb::list values;
  for (const ingest::ArrowColumn& chunk : table.chunks()) {
    for (std::int64_t row = 0; row < chunk.length; ++row) values.append(values_of.make(chunk.children[column], row));
  }
  return values;
}

// A table as tuples, texts and bytes, for pickle.

using State = nb::typed<nb::tuple, nb::any, nb::ellipsis>;

State state_of(const ingest::ArrowField& field) {
  nb::list children;
  for (const ingest::ArrowField& child : field.children) children.append(state_of(child));
  return nb::make_tuple(field.format, field.name, field.nullable, nb::tuple(children));
}

ingest::ArrowField field_from(const nb::handle& state) {
  ingest::ArrowField field{
      .format = nb::cast<std::string>(state[0]), .name = nb::cast<std::string>(state[1]), .nullable = nb::cast<bool>(state[2])};
  for (const nb::handle child : nb::cast<nb::tuple>(state[3])) field.children.push_back(field_from(child));
  return field;
}

State state_of(const ingest::ArrowColumn& column) {
  const auto bytes = [](const auto& buffer) { return nb::bytes(buffer.data(), buffer.size()); };
  nb::list children;
  for (const ingest::ArrowColumn& child : column.children) children.append(state_of(child));
  return nb::make_tuple(column.length, column.nulls, bytes(column.validity), bytes(column.values), bytes(column.bytes),
                        nb::tuple(children));
}

ingest::ArrowColumn column_from(const nb::handle& state) {
  const auto take = [&](int place, auto& buffer) {
    const auto bytes = nb::cast<nb::bytes>(state[place]);
    buffer.assign(bytes.c_str(), bytes.c_str() + bytes.size());
  };
  ingest::ArrowColumn column;
  column.length = nb::cast<std::int64_t>(state[0]);
  column.nulls = nb::cast<std::int64_t>(state[1]);
  take(2, column.validity);
  take(3, column.values);
  take(4, column.bytes);
  for (const nb::handle child : nb::cast<nb::tuple>(state[5])) column.children.push_back(column_from(child));
  return column;
}

State state_of(const ingest::ArrowTable& table) {
  nb::list columns;
  nb::list chunks;
  for (const ingest::ArrowField& field : table.columns()) columns.append(state_of(field));
  for (const ingest::ArrowColumn& chunk : table.chunks()) chunks.append(state_of(chunk));
  return nb::make_tuple(nb::tuple(columns), nb::tuple(chunks));
}

void make_from(ingest::ArrowTable& place, const State& state) {
  std::vector<ingest::ArrowField> columns;
  std::vector<ingest::ArrowColumn> chunks;
  for (const nb::handle field : nb::cast<nb::tuple>(state[0])) columns.push_back(field_from(field));
  for (const nb::handle chunk : nb::cast<nb::tuple>(state[1])) chunks.push_back(column_from(chunk));
  new (&place) ingest::ArrowTable(std::move(columns), std::move(chunks));
}

}  // namespace

void bind_table(nb::module_& module) {
  nb::class_<ingest::ArrowTable>(module, "ArrowTable", "A table of results, in Arrow's memory.")
      .def("__len__", &ingest::ArrowTable::rows)
      .def("__getstate__", [](const ingest::ArrowTable& table) { return state_of(table); })
      .def("__setstate__", &make_from)
      .def_prop_ro("column_names",
                   [](const ingest::ArrowTable& table) {
                     std::vector<std::string> names;
                     for (const ingest::ArrowField& field : table.columns()) names.push_back(field.name);
                     return names;
                   })
      .def_prop_ro(
          "fields",
          [](const ingest::ArrowTable& table) {
            std::vector<State> fields;
            for (const ingest::ArrowField& field : table.columns()) fields.push_back(state_of(field));
            return fields;
          },
          "Format, name, whether values may be missing, and members of each column.")
      .def("values", &values, "column"_a, "The values of a column, by its place.")
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
