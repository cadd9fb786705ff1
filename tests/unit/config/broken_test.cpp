// The messages about broken configurations. broken.txt holds the configurations and the expected messages.
#include <gmock/gmock.h>

#include <fstream>
#include <source_dir.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/config/service_config.hpp"
#include "deltamatch/error.hpp"
#include "unit/config/support.hpp"

namespace deltamatch::cli {
namespace {

struct Case {
  std::string name;
  std::string text;
  std::vector<std::string> expected;
};

void PrintTo(const Case& broken, std::ostream* out) { *out << broken.name; }

std::vector<Case> read_cases() {
  std::ifstream file(DELTAMATCH_SOURCE_DIR "/tests/unit/config/broken.txt");
  std::vector<Case> cases;
  std::string without;
  bool expectations = false;
  const auto complete = [&] {
    if (cases.empty()) return;
    std::string& text = cases.back().text;
    if (without.empty()) text = test::completed(text);
    for (const auto& [key, section] : test::least()) {
      if (!without.empty() && without.find(key) == std::string::npos) text += section;
    }
  };
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      complete();
      cases.push_back({line.substr(4), "", {}});
      expectations = false;
      without.clear();
    } else if (cases.empty()) {
      continue;
    } else if (line == "---") {
      expectations = true;
    } else if (expectations) {
      if (!line.empty()) cases.back().expected.push_back(line);
    } else if (line.starts_with("without: ")) {
      without = line;
    } else {
      cases.back().text += (line == "---8<---" ? "---" : line) + '\n';
    }
  }
  complete();
  return cases;
}

/// What a message says about each problem, without the file's name.
std::vector<std::string> problems(const std::string& message) {
  std::vector<std::string> found;
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view file = "service.yaml:";
    if (line.starts_with(file)) found.push_back(line.substr(file.size()));
  }
  return found;
}

class Broken : public testing::TestWithParam<Case> {};

TEST_P(Broken, IsRefusedWithPlaceAndRemedy) {
  const Case& broken = GetParam();
  const test::Folder folder;
  folder.write("good/ring.pattern", "(a)-->(b)-->(c)-->(a)");
  folder.write("bad/open.pattern", "(a)-->(b)\n, (c)");
  folder.write("bad/loop.pattern", "(a)-->(a)");
  folder.write("secret", "hunter2\n");
  folder.write("seed.csv", "a,b\n");
  std::filesystem::create_directories(folder.path() / "empty");
  folder.write("service.yaml", broken.text);
  const Environment environment =
      test::variables({{"SET", "5"}, {"SECRET", "hunter2"}, {"KEYS", "5, max_delay: 1s}\nlog: {level: debug"}});
  try {
    static_cast<void>(read_service_config("service.yaml", environment));
    FAIL() << "this was taken:\n" << broken.text;
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::configuration) << message;
    const std::vector<std::string> found = problems(message);
    EXPECT_EQ(found.size(), broken.expected.size()) << broken.text << message;
    for (std::size_t i = 0; i < std::min(found.size(), broken.expected.size()); ++i) {
      EXPECT_THAT(found[i], testing::HasSubstr(broken.expected[i])) << broken.text << message;
    }
    EXPECT_THAT(message, testing::Not(testing::HasSubstr("hunter2")));
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, Broken, testing::ValuesIn(read_cases()), [](const auto& tested) {
  std::string name;
  for (const char c : tested.param.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

TEST(BrokenCorpus, IsThere) { EXPECT_GE(read_cases().size(), 100U); }

}  // namespace
}  // namespace deltamatch::cli
