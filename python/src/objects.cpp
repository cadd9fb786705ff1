#include "objects.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/codec/fields.hpp"
#include "lent.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace deltamatch::python {
namespace {

using ingest::Cell;
using ingest::TableColumn;

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

TableColumn cells_of(const std::string& name, const nb::list& objects) {
  auto texts = std::make_shared<Texts>();
  texts->objects = keep(objects);
  Reader reader(*texts);
  TableColumn column{.schema = {}, .array = {}, .name = name, .type = "object", .cells = {}, .keeps = texts};
  column.cells.reserve(nb::len(objects));
  for (const nb::handle object : objects) column.cells.push_back(reader.read(object.ptr()));
  return column;
}

/// The objects of a list, or of an array of numpy, in its own memory. They are borrowed, so no other code of Python may run.
class Borrowed {
 public:
  explicit Borrowed(const nb::object& values) : list_(PyList_Check(values.ptr()) ? values.ptr() : nullptr) {
    if (list_ != nullptr) {
      size_ = PyList_Size(list_);
    } else if (PyObject_GetBuffer(values.ptr(), &buffer_, PyBUF_FORMAT | PyBUF_STRIDES) == 0) {
      size_ = buffer_.shape[0];
    } else {
      throw nb::python_error();
    }
  }
  ~Borrowed() {
    if (list_ == nullptr) PyBuffer_Release(&buffer_);
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  [[nodiscard]] Py_ssize_t size() const noexcept { return size_; }
  /// Null is None.
  [[nodiscard]] PyObject* operator[](Py_ssize_t at) const noexcept {
    if (list_ != nullptr) return PyList_GetItem(list_, at);
    PyObject* object = nullptr;
    std::memcpy(&object, static_cast<const char*>(buffer_.buf) + at * buffer_.strides[0], sizeof object);
    return object;
  }

 private:
  PyObject* list_;
  Py_buffer buffer_{};
  Py_ssize_t size_ = 0;
};

/// Texts side by side, as an Arrow array of large texts has them.
struct SideBySide {
  std::vector<std::uint8_t> validity;  // none, if no text is missing
  std::vector<std::int64_t> offsets{0};
  std::string bytes;
};

bool is_missing(PyObject* object) {
  return object == nullptr || object == Py_None || (PyFloat_Check(object) && std::isnan(PyFloat_AsDouble(object)));
}

/// A column of texts, if the objects are texts, at least one, or missing.
std::optional<TableColumn> texts_of(const std::string& name, const Borrowed& objects) {
  auto texts = std::make_shared<SideBySide>();
  texts->offsets.reserve(static_cast<std::size_t>(objects.size()) + 1);
  bool any = false;
  for (Py_ssize_t at = 0; at < objects.size(); ++at) {
    PyObject* const object = objects[at];
    if (object != nullptr && PyUnicode_Check(object)) {
      Py_ssize_t size = 0;
      const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
      if (text == nullptr) {
        PyErr_Clear();
        return std::nullopt;
      }
      texts->bytes.append(text, static_cast<std::size_t>(size));
      any = true;
    } else if (is_missing(object)) {
      if (texts->validity.empty()) texts->validity.assign(static_cast<std::size_t>(objects.size() + 7) / 8, 0xff);
      texts->validity[static_cast<std::size_t>(at) / 8] &= static_cast<std::uint8_t>(~(1U << (at % 8)));
    } else {
      return std::nullopt;
    }
    texts->offsets.push_back(static_cast<std::int64_t>(texts->bytes.size()));
  }
  if (!any) return std::nullopt;
  const Buffers buffers{texts->validity.empty() ? nullptr : texts->validity.data(), texts->offsets.data(), texts->bytes.data()};
  return lend(name, "U", objects.size(), buffers, texts);
}

}  // namespace

TableColumn column_of_objects(const std::string& name, const nb::object& values) {
  if (auto texts = texts_of(name, Borrowed(values))) return std::move(*texts);
  return cells_of(name, nb::cast<nb::list>(PyList_Check(values.ptr()) ? values : values.attr("tolist")()));
}

}  // namespace deltamatch::python
