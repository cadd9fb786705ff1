// config/service.yaml is the reference. It is valid and has every key, and the defaults that it states are the real ones.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <source_dir.hpp>
#include <sstream>
#include <string>

#include "cli/config/service_config.hpp"
#include "cli/config/service_sections.hpp"
#include "cli/options/small_file.hpp"
#include "unit/config/support.hpp"

namespace deltamatch::cli {
namespace {

constexpr const char* folder = DELTAMATCH_SOURCE_DIR "/config";

std::string reference() { return read_small_file(std::string(folder) + "/service.yaml", "the reference"); }

/// The reference with its defaults uncommented.
std::string spelled_out() {
  static const std::regex statement("^( *)#([a-z_]+:)");
  std::istringstream lines(reference());
  std::string text;
  for (std::string line; std::getline(lines, line);) text += std::regex_replace(line, statement, "$1$2") + '\n';
  return text;
}

struct Outcome {
  ServiceConfig config;
  std::set<std::string> known;
};

Outcome read(const std::string& text) {
  ConfigContext context{Problems("service.yaml"), folder, {}, {}, {}, {}, {}};
  Outcome outcome;
  Node root = parse_yaml(text, context.problems);
  expand(root, test::variables({}), context.problems);
  read_service(context, root, outcome.config);
  context.problems.raise();
  outcome.known = context.known;
  return outcome;
}

/// The keys that a file has, as ConfigContext::known names them.
void collect(const Node& node, const std::string& path, std::set<std::string>& keys) {
  for (const Entry& entry : node.entries) {
    const std::string key = join_path(path, path == "sinks" ? "*" : entry.key);
    keys.insert(key);
    collect(entry.value, key, keys);
  }
  for (const Node& item : node.items) collect(item, path + "[]", keys);
}

/// Removes differences between a key that is left out and one that states the default.
ingest::ServiceOptions normalised(ingest::ServiceOptions service) {
  for (ingest::InputTopics& topics : service.input.topics) {
    topics.codec.ids = topics.codec.ids.value_or(ingest::IdKind::automatic);
    if (topics.format == ingest::Format::csv && topics.codec.separator == 0) topics.codec.separator = ',';
  }
  return service;
}

TEST(Reference, IsValidAsItStands) {
  const ServiceConfig config = read_service_config(std::string(folder) + "/service.yaml", test::variables({}));
  EXPECT_TRUE(config.warnings.empty()) << config.warnings.front();
  EXPECT_EQ(config.service.application, "fraud-alerts");
  EXPECT_EQ(config.service.sinks.size(), 8U);
  EXPECT_GE(config.service.queries.size(), 3U);
}

TEST(Reference, StatesTheDefaultsThatHold) {
  ASSERT_NE(spelled_out(), reference());
  const ServiceConfig stated = read(spelled_out()).config;
  const ServiceConfig held = read(reference()).config;
  EXPECT_EQ(normalised(stated.service), normalised(held.service));
  EXPECT_EQ(stated.backend, held.backend);
}

TEST(Reference, AWrongDefaultWouldBeSeen) {
  const std::string text = spelled_out();
  const auto [from, to] = std::pair<std::string, std::string>{"max_updates: 8192", "max_updates: 8191"};
  std::string other = text;
  other.replace(other.find(from), from.size(), to);
  EXPECT_NE(normalised(read(other).config.service), normalised(read(reference()).config.service));
}

TEST(Reference, HasEveryKey) {
  Problems problems("service.yaml");
  std::set<std::string> keys;
  collect(parse_yaml(spelled_out(), problems), "", keys);
  problems.raise();
  // Some examples stay commented out. A snapshot excludes files, and a topic excludes a file. The file of a secret would have
  // to exist.
  const std::string text = reference();
  for (const std::string& key : read(spelled_out()).known) {
    if (keys.contains(key)) continue;
    const std::string last = key.substr(key.rfind('.') + 1);
    EXPECT_TRUE(std::regex_search(text, std::regex("(^|\n) *# [^\n]*\\b" + last + ":"))) << key;
  }
}

}  // namespace
}  // namespace deltamatch::cli
