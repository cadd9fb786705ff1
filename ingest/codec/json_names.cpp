#include "ingest/codec/json_names.hpp"

#include <algorithm>
#include <cstring>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/operation_columns.hpp"
#include "ingest/source/record_source.hpp"

namespace deltamatch::ingest {

simdjson::error_code JsonNames::find(std::uint32_t node, ondemand::field& field, std::uint32_t& found) {
  const char* const raw = field.key().raw();
  const std::vector<JsonTree::Node>& nodes = tree_.nodes();
  const auto is = [&](std::uint32_t child) {
    const std::string& name = nodes[child].name;
    return nodes[child].plain && raw[name.size()] == '"' && std::memcmp(raw, name.data(), name.size()) == 0;
  };
  if (next_found_ < found_.size()) {
    const Found& next = found_[next_found_];
    std::array<std::uint64_t, 2> bytes{};
    std::memcpy(bytes.data(), raw, sizeof bytes);  // Record::padding is readable behind the record
    const std::uint64_t differs = ((bytes[0] ^ next.key[0]) & next.mask[0]) | ((bytes[1] ^ next.key[1]) & next.mask[1]);
    if (differs == 0 && next.node == node) [[likely]] {
      found = next.child;
      ++next_found_;
      return simdjson::SUCCESS;
    }
  }
  if (is_ignored(node, raw)) {
    found = JsonTree::none;
    return simdjson::SUCCESS;
  }
  for (const std::uint32_t child : nodes[node].children) {
    if (!is(child)) continue;
    expect(node, child);
    found = child;
    return simdjson::SUCCESS;
  }
  std::string_view key;
  if (const auto error = field.unescaped_key().get(key)) return error;
  for (const std::uint32_t child : nodes[node].children) {
    found = child;
    if (nodes[child].name == key) return simdjson::SUCCESS;
  }
  for (const std::uint32_t child : nodes[node].children) {
    found = child;
    if (nodes[child].usual && same_letters(nodes[child].name, key)) return simdjson::SUCCESS;
  }
  found = JsonTree::none;
  if (records_ <= most_looked_at && node == JsonTree::root && !has_unread_time_ && may_be_time(key)) {
    unread_time_ = key;
    has_unread_time_.store(true, std::memory_order_release);
  }
  if (watches_ && node == JsonTree::root && (may_say_operation(key) || is_metadata(key))) {
    found = is_metadata(key) ? metadata : watched;
    watched_key_ = key;
    return simdjson::SUCCESS;
  }
  if (watches_ && node != JsonTree::root && is_metadata(nodes[node].path) && is_watched_within(nodes[node].path, key)) {
    found = watched;
    return simdjson::SUCCESS;
  }
  const bool plain = key.size() < Record::padding && raw[key.size()] == '"' && std::memcmp(raw, key.data(), key.size()) == 0;
  if (plain && ignored_.size() < most_ignored) ignored_.push_back({node, std::string(key)});
  return simdjson::SUCCESS;
}

bool JsonNames::is_watched_within(const std::string& outer, std::string_view key) {
  if (!is_operation_in_metadata(key) || key.find_first_of(".\\, ") != std::string_view::npos) return false;
  watched_key_ = outer + "." + std::string(key);
  return true;
}

/// Remembers the child as the next one of a record. Records mostly have their keys in the same order.
void JsonNames::expect(std::uint32_t node, std::uint32_t child) {
  const std::string& name = tree_.nodes()[child].name;
  Found next{node, child, {}, {}};
  if (next_found_ == most_expected || name.size() >= sizeof next.key) return;
  std::array<char, sizeof next.key> key{};
  std::array<char, sizeof next.mask> mask{};
  std::copy(name.begin(), name.end(), key.begin());
  key[name.size()] = '"';
  std::fill_n(mask.begin(), name.size() + 1, '\xff');
  std::memcpy(next.key.data(), key.data(), sizeof next.key);
  std::memcpy(next.mask.data(), mask.data(), sizeof next.mask);
  if (next_found_ == found_.size()) found_.emplace_back();
  found_[next_found_++] = next;
}

/// Whether a key was looked up before and is not read. Records mostly have their keys in the same order. So it compares only
/// the key after the last one, and one more.
bool JsonNames::is_ignored(std::uint32_t node, const char* raw) noexcept {
  const std::size_t start = next_ignored_;
  for (std::size_t tries = 0; tries < 2 && !ignored_.empty(); ++tries) {
    if (next_ignored_ >= ignored_.size()) next_ignored_ = 0;
    const Ignored& ignored = ignored_[next_ignored_++];
    const std::string& name = ignored.name;
    if (ignored.node == node && raw[name.size()] == '"' && std::memcmp(raw, name.data(), name.size()) == 0) return true;
  }
  next_ignored_ = start;
  return false;
}

}  // namespace deltamatch::ingest
