#include "ingest/schema/schema.hpp"

#include <fmt/format.h>

namespace deltamatch::ingest {

RecordSchema::RecordSchema(const SchemaText& text) : type(text.type) {
  const auto take = [this](auto result) {
    if (auto* const what = std::get_if<std::string>(&result))
      fault = std::move(*what);
    else
      read = std::move(std::get<0>(result));
  };
  if (type == "AVRO") {
    std::vector<std::string> references;
    references.reserve(text.references.size());
    for (const auto& [name, reference] : text.references) references.push_back(reference);
    take(AvroSchema::read(text.text, references));
  } else if (type == "PROTOBUF") {
    take(ProtoSchema::read(text.text, text.references));
  } else {
    fault = fmt::format("it is of the type {}", type);
  }
}

}  // namespace deltamatch::ingest
