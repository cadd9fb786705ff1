#include "ingest/service/alert/dead_letters.hpp"

#include "ingest/batch/refusals.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {

HeaderList dead_letter_headers(const RefusedRecord& record) {
  HeaderList headers{{"__connect.errors.topic", record.partition.topic},
                     {"__connect.errors.partition", std::to_string(record.partition.partition)},
                     {"__connect.errors.offset", std::to_string(record.offset)},
                     {"__connect.errors.exception.class.name", std::string(reject_name(record.reason))},
                     {"__connect.errors.exception.message", std::string(record.message)}};
  if (record.value.size() < record.length) headers.emplace_back("deltamatch.length", std::to_string(record.length));
  return headers;
}

void append_dead_letter(std::string& out, const RefusedRecord& record) {
  const std::string source = to_string(record.partition);
  const Position position{static_cast<std::uint64_t>(record.offset), static_cast<std::uint32_t>(record.partition.partition)};
  append_dead_letter_fields(out, {source, position, record.reason, record.message, record.value, record.length});
  out += R"(,"topic":)";
  append_json_string(out, record.partition.topic);
  out += R"(,"partition":)";
  append_number(out, std::int64_t{record.partition.partition});
  out += R"(,"offset":)";
  append_number(out, record.offset);
  out += R"(,"key":)";
  if (record.key) {
    append_json_string(out, *record.key);
  } else {
    out += "null";
  }
  out += '}';
}

}  // namespace deltamatch::ingest
