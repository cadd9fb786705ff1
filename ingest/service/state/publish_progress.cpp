#include "ingest/service/state/publish_progress.hpp"

#include <nlohmann/json.hpp>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view beginning = R"({"v":1,"published":)";

}  // namespace

std::string to_json(const BatchProgress& progress) {
  return std::string(beginning) + nlohmann::json(progress.published).dump() + R"(,"queries":)" +
         nlohmann::json(progress.queries).dump() + R"(,"mark":)" + to_json(progress.mark) + "}";
}

std::optional<BatchProgress> parse_progress(std::string_view json, std::string_view where) {
  if (!json.starts_with(beginning)) return std::nullopt;
  try {
    const nlohmann::json object = nlohmann::json::parse(json);
    BatchProgress progress;
    progress.published = object.at("published").get<std::map<std::string, std::uint64_t>>();
    // A record of an older release lacks it.
    progress.queries = object.value("queries", std::vector<std::string>());
    progress.mark = parse_mark(object.at("mark").dump(), where);
    return progress;
  } catch (const nlohmann::json::exception& error) {
    throw Error(where, std::string("this is not the progress of a batch: ") + error.what());
  }
}

}  // namespace deltamatch::ingest
