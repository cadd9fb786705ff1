// A client of schema registries that have the API of Confluent's: Karapace, Apicurio (at /apis/ccompat/v7), Redpanda.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/schema/schema.hpp"
#include "ingest/service/service_options.hpp"
#include "ingest/service/web/curl_connection.hpp"
#include "ingest/service/web/url.hpp"

namespace deltamatch::ingest {

/// Fetches a schema once and keeps it as long as the registry lives, because an id never changes its meaning. Threads may ask
/// at once; they wait for each other.
class SchemaRegistry final : public SchemaSource {
 public:
  /// An id that the registry does not know is asked for again after this time.
  static constexpr std::chrono::seconds unknown_for{30};

  /// Connects to no server yet. Throws Error(configuration) if a URL is not valid.
  explicit SchemaRegistry(const RegistryOptions& options);
  ~SchemaRegistry() override;
  SchemaRegistry(const SchemaRegistry&) = delete;
  SchemaRegistry& operator=(const SchemaRegistry&) = delete;

  /// Asks one server after the other until one answers. Throws SchemaUnavailable if none does: the message says for each why.
  /// That takes at most the timeout for each server and schema.
  [[nodiscard]] std::shared_ptr<const RecordSchema> find(std::uint32_t id) override;
  /// Ends a find() in another thread, and every later one that needs a server: it throws SchemaUnavailable.
  void cancel() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  struct Server {
    Url url;
    std::unique_ptr<CurlConnection> connection;
  };
  struct References;

  [[nodiscard]] std::shared_ptr<const RecordSchema> fetch(std::uint32_t id);
  [[nodiscard]] std::optional<std::string> get(const std::string& path, std::span<const std::int64_t> absent);
  [[nodiscard]] std::optional<std::string> get_from(Server& server, const std::string& path,
                                                    std::span<const std::int64_t> absent) const;
  void take_references(const std::string& body, References& references, std::size_t depth);

  std::mutex mutex_;
  std::vector<Server> servers_;
  std::size_t first_ = 0;  // the server that answered last
  std::map<std::uint32_t, std::shared_ptr<const RecordSchema>> schemas_;
  std::map<std::uint32_t, Clock::time_point> unknown_;  // until when an id is taken to be unknown
};

}  // namespace deltamatch::ingest
