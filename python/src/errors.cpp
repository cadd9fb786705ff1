#include "errors.hpp"

#include <Python.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/stream.hpp"

namespace nb = nanobind;

namespace deltamatch::python {
namespace {

/// Sets the exception: an instance of the class of that name, made of `text` and the parts.
void raise(const char* name, const char* text, const ErrorParts& parts, const nb::object& row, const std::string& reason) {
  try {
    const nb::object type = nb::module_::import_("deltamatch.errors").attr(name);
    const nb::object error = type(text);
    error.attr("where") = parts.where;
    error.attr("what") = parts.what;
    error.attr("remedy") = parts.remedy;
    if (!row.is_none()) error.attr("row") = row;
    if (!reason.empty()) error.attr("reason") = reason;
    PyErr_SetObject(type.ptr(), error.ptr());
  } catch (nb::python_error& failure) {
    failure.restore();
  }
}

/// Takes out what a message says of C++: ", in C++ Struct::member".
void leave_out_cpp(std::string& text) {
  constexpr std::string_view mark = ", in C++ ";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
    const std::size_t end = text.find_first_of(",; )\n", at + mark.size());
    text.erase(at, end == std::string::npos ? end : end - at);
  }
}

/// A message of the library, which names options as the program and C++ have them. Here they are arguments.
std::string as_arguments(std::string text) {
  leave_out_cpp(text);
  constexpr std::pair<std::string_view, std::string_view> options[] = {
      {"--edges keyed", "edges='keyed'"},
      {"--edges events", "edges='events'"},
      {"--self-loops keep, in a configuration graph.self_loops: keep", "self_loops='keep'"},
      {"--threads, engine.threads", "threads"}};
  for (const auto& [option, argument] : options) {
    for (std::size_t at = text.find(option); at != std::string::npos; at = text.find(option, at + argument.size()))
      text.replace(at, option.size(), argument);
  }
  return text;
}

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ingest::RecordError& error) {
    raise("RecordError", error.what(), {error.where(), error.fault(), error.remedy()}, nb::int_(error.at().number - 1),
          std::string(reject_name(error.reason())));
  } catch (const Error& error) {
    const bool configuration = error.kind() == ErrorKind::configuration || error.kind() == ErrorKind::usage;
    const std::string text = as_arguments(error.what());
    raise(configuration ? "ConfigurationError" : "Error", text.c_str(), take_apart(text), nb::none(), {});
  }
}

}  // namespace

ErrorParts take_apart(std::string_view text) {
  ErrorParts parts;
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t where = line.find(": ");
  const std::size_t remedy = line.rfind("; ");
  const std::size_t begin = where == std::string_view::npos ? 0 : where + 2;
  if (where != std::string_view::npos) parts.where = line.substr(0, where);
  const bool has_remedy = remedy != std::string_view::npos && remedy >= begin;
  parts.what = line.substr(begin, has_remedy ? remedy - begin : std::string_view::npos);
  if (has_remedy) parts.remedy = line.substr(remedy + 2);
  return parts;
}

void translate_errors() { nb::register_exception_translator(translate); }

}  // namespace deltamatch::python
