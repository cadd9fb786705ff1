#include "ingest/service/web/schema_registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace deltamatch::ingest {
namespace {

constexpr std::size_t most_of_schema = std::size_t{16} << 20;
constexpr std::size_t most_unknown = 10'000;
constexpr std::size_t most_references = 1000;
constexpr std::size_t deepest = 32;

// The error codes by which a registry says that it has no such schema, or no such subject or version.
constexpr std::array<std::int64_t, 1> no_schema{40'403};
constexpr std::array<std::int64_t, 2> no_version{40'401, 40'402};

/// The part of a path that stands for a subject: what is neither a letter nor a digit becomes %XX.
std::string in_path(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    plain ? out += c : out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

/// What a registry says about an error: ": Schema not found (40403)". Empty if the body has another form.
std::string told(const nlohmann::json& answer) {
  constexpr std::size_t longest = 200;
  if (!answer.is_object()) return {};
  const auto message = answer.find("message");
  const auto code = answer.find("error_code");
  std::string text;
  if (message != answer.end() && message->is_string()) text = message->get<std::string>().substr(0, longest);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  if (code != answer.end() && code->is_number_integer())
    text += fmt::format("{}({})", text.empty() ? "" : " ", code->get<std::int64_t>());
  return text.empty() ? text : ": " + text;
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The version that a reference names: a number, or a text such as `latest`. Nothing if it is neither.
std::optional<std::string> version_of(const nlohmann::json& reference) {
  const auto found = reference.find("version");
  if (found == reference.end()) return "latest";
  if (found->is_number_integer()) return fmt::format("{}", found->get<std::int64_t>());
  return found->is_string() ? std::optional(found->get<std::string>()) : std::nullopt;
}

/// Whether an answer has one of these error codes.
bool has_code(const nlohmann::json& answer, std::span<const std::int64_t> codes) {
  const auto code = answer.find("error_code");
  return code != answer.end() && code->is_number_integer() &&
         std::ranges::find(codes, code->get<std::int64_t>()) != codes.end();
}

}  // namespace

/// The references of a schema, gathered in the order in which they can be read.
struct SchemaRegistry::References {
  std::vector<std::pair<std::string, std::string>> texts;
  std::set<std::pair<std::string, std::string>> seen;  // name, and subject with version
  std::string fault;
};

SchemaRegistry::SchemaRegistry(const RegistryOptions& options) {
  for (const std::string& url : options.urls) {
    Server server{parse_url("input.registry.url", url, "https://registry.example:8081", "give them as user and password"),
                  std::make_unique<CurlConnection>(CurlConnection::Limits{options.timeout, most_of_schema, most_of_schema})};
    while (server.url.target.ends_with('/')) server.url.target.pop_back();
    if (!options.user.empty()) server.connection->authenticate(options.user, options.password);
    server.connection->use({options.ca, options.certificate, options.key});
    servers_.push_back(std::move(server));
  }
}

SchemaRegistry::~SchemaRegistry() = default;

void SchemaRegistry::cancel() noexcept {
  for (const Server& server : servers_) server.connection->cancel();
}

std::shared_ptr<const RecordSchema> SchemaRegistry::find(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = schemas_.find(id); found != schemas_.end()) return found->second;
  if (const auto found = unknown_.find(id); found != unknown_.end()) {
    if (Clock::now() < found->second) return nullptr;
    unknown_.erase(found);
  }
  std::shared_ptr<const RecordSchema> schema = fetch(id);
  if (schema != nullptr) {
    schemas_.emplace(id, schema);
  } else {
    if (unknown_.size() >= most_unknown) unknown_.clear();
    unknown_.emplace(id, Clock::now() + unknown_for);
  }
  return schema;
}

/// Fetches a schema with all that it refers to. Returns null if there is none of this id.
std::shared_ptr<const RecordSchema> SchemaRegistry::fetch(std::uint32_t id) {
  const std::optional<std::string> body = get(fmt::format("/schemas/ids/{}", id), no_schema);
  if (!body) return nullptr;
  const nlohmann::json answer = nlohmann::json::parse(*body, nullptr, false);
  SchemaText text;
  text.text = text_of(answer, "schema");
  if (const std::string type = text_of(answer, "schemaType"); !type.empty()) text.type = type;
  References references;
  take_references(*body, references, 0);
  text.references = std::move(references.texts);
  if (references.fault.empty()) return std::make_shared<const RecordSchema>(text);
  auto schema = std::make_shared<RecordSchema>(SchemaText{text.type, {}, {}});
  schema->fault = std::move(references.fault);
  return schema;
}

void SchemaRegistry::take_references(const std::string& body, References& references,  // NOLINT(misc-no-recursion)
                                     std::size_t depth) {
  const nlohmann::json answer = nlohmann::json::parse(body, nullptr, false);
  const auto found = answer.find("references");
  if (found == answer.end() || !found->is_array()) return;
  for (const nlohmann::json& reference : *found) {
    if (!references.fault.empty()) return;
    if (!reference.is_object()) continue;
    const std::string name = text_of(reference, "name");
    const std::string subject = text_of(reference, "subject");
    const std::optional<std::string> version = version_of(reference);
    if (!version) {
      references.fault = fmt::format("it refers to a version of the subject {} that is no number", subject);
      return;
    }
    if (!references.seen.emplace(name, subject + '\n' + *version).second) continue;
    if (depth >= deepest || references.seen.size() > most_references) {
      references.fault = "it refers to too many schemas";
      return;
    }
    const std::string where = fmt::format("/subjects/{}/versions/{}", in_path(subject), in_path(*version));
    const std::optional<std::string> text = get(where + "?deleted=true", no_version);
    if (!text) {
      references.fault = fmt::format("the registry has no version {} of the subject {}, to which it refers", *version, subject);
      return;
    }
    take_references(*text, references, depth + 1);
    references.texts.emplace_back(name, text_of(nlohmann::json::parse(*text, nullptr, false), "schema"));
  }
}

/// What one of the servers has under a path. Nothing if the registry says by one of these codes that it has nothing there.
std::optional<std::string> SchemaRegistry::get(const std::string& path, std::span<const std::int64_t> absent) {
  std::string faults;
  for (std::size_t turn = 0; turn < servers_.size(); ++turn) {
    const std::size_t at = (first_ + turn) % servers_.size();
    try {
      std::optional<std::string> body = get_from(servers_[at], path, absent);
      first_ = at;
      return body;
    } catch (const SchemaUnavailable& fault) {
      faults += fmt::format("{}{}: {}", faults.empty() ? "" : "; ", servers_[at].url.origin, fault.what());
    }
  }
  throw SchemaUnavailable(faults.empty() ? "no registry is configured" : faults);
}

std::optional<std::string> SchemaRegistry::get_from(Server& server, const std::string& path,
                                                    std::span<const std::int64_t> absent) const {
  const CurlConnection::Headers headers = {{"Accept", "application/vnd.schemaregistry.v1+json, application/json"}};
  CurlConnection::Answer answer = server.connection->get(server.url.origin + server.url.target + path, headers);
  if (answer.status == 0) throw SchemaUnavailable(answer.error);
  if (!answer.whole) {
    throw SchemaUnavailable(
        fmt::format("HTTP {}: the answer is torn, or longer than {} MiB", answer.status, most_of_schema >> 20));
  }
  const nlohmann::json body = nlohmann::json::parse(answer.body, nullptr, false);
  constexpr int not_found = 404;
  if (answer.status == not_found && body.is_object() && has_code(body, absent)) return std::nullopt;
  if (answer.status == 200 && body.is_object() && !text_of(body, "schema").empty()) return std::move(answer.body);
  const std::string_view remedy = answer.status == 401 || answer.status == 403 ? "; check user and password"
                                  : answer.status / 100 == 3                   ? "; redirects are not followed"
                                  : answer.status == 200 || answer.status == not_found
                                      ? "; this is no answer of a registry, check the path of its URL"
                                      : "";
  throw SchemaUnavailable(fmt::format("HTTP {}{}{}", answer.status, told(body), remedy));
}

}  // namespace deltamatch::ingest
