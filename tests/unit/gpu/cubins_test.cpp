// Which texts are compiled, and which cubins are kept.
#include "gpu/made/cubins.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace deltamatch::gpu {
namespace {

// Notes what it compiles.
class FakeCompiler {
 public:
  [[nodiscard]] Cubins::Compile calls() {
    return [this](const std::string& text) {
      const std::scoped_lock lock(mutex_);
      if (text == refused) throw std::runtime_error(text);
      compiled.push_back(text);
      return cubin_of(text);
    };
  }
  [[nodiscard]] static std::string cubin_of(const std::string& text) { return "cubin of " + text; }

  std::vector<std::string> compiled;
  std::string refused;

 private:
  std::mutex mutex_;
};

using Texts = std::vector<std::string>;
constexpr std::size_t plenty = 1U << 20;

void expect_cubins(const std::vector<Cubin>& cubins, const Texts& texts) {
  ASSERT_EQ(cubins.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(*cubins[i], FakeCompiler::cubin_of(texts[i]));
}

TEST(Cubins, EqualTextsAreCompiledOnce) {
  Workers workers(4);
  Cubins cubins(plenty);
  FakeCompiler compiler;
  Texts texts;
  for (int i = 0; i < 40; ++i) texts.push_back("text " + std::to_string(i % 20));
  const std::vector<Cubin> made = cubins.of(texts, compiler.calls(), workers);
  expect_cubins(made, texts);
  EXPECT_EQ(compiler.compiled.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(made[i], made[i + 20]);
  EXPECT_EQ(cubins.of(texts, compiler.calls(), workers), made);
  EXPECT_EQ(compiler.compiled.size(), 20U);
  texts = {"text 3", "another", "text 4"};
  expect_cubins(cubins.of(texts, compiler.calls(), workers), texts);
  EXPECT_EQ(compiler.compiled.size(), 21U);
  EXPECT_TRUE(cubins.of({}, compiler.calls(), workers).empty());
}

TEST(Cubins, TheLongestTextBegins) {
  Workers workers(1);
  Cubins cubins(plenty);
  FakeCompiler compiler;
  const Texts texts{"bb", "dddd", "a", "ccc", "BB"};
  expect_cubins(cubins.of(texts, compiler.calls(), workers), texts);
  EXPECT_EQ(compiler.compiled, (Texts{"dddd", "ccc", "bb", "BB", "a"}));
}

TEST(Cubins, AFailureKeepsNothing) {
  Workers workers(1);
  Cubins cubins(plenty);
  FakeCompiler compiler;
  const Texts texts{"one", "three"};
  compiler.refused = "one";
  EXPECT_THROW((void)cubins.of(texts, compiler.calls(), workers), std::runtime_error);
  compiler.refused.clear();
  expect_cubins(cubins.of(texts, compiler.calls(), workers), texts);
  EXPECT_EQ(compiler.compiled, (Texts{"three", "three", "one"}));
}

TEST(Cubins, ThoseUsedLastAreKept) {
  Workers workers(1);
  FakeCompiler compiler;
  Cubins cubins(3 * (1 + FakeCompiler::cubin_of("a").size()));
  const auto ask = [&](const Texts& texts) {
    compiler.compiled.clear();
    const std::vector<Cubin> made = cubins.of(texts, compiler.calls(), workers);
    expect_cubins(made, texts);
    return made;
  };
  const std::vector<Cubin> first = ask({"a"});
  ask({"b"});
  ask({"c"});
  ask({"b"});
  ask({"d"});  // in place of a
  expect_cubins(first, {"a"});
  ask({"b", "c", "d"});
  EXPECT_TRUE(compiler.compiled.empty());
  ask({"b"});
  ask({"a"});
  EXPECT_EQ(compiler.compiled, Texts{"a"});
  ask({"a", "b"});
  EXPECT_TRUE(compiler.compiled.empty());
  // A text that exceeds the bound by itself displaces none.
  const std::string large(100, 'x');
  ask({large});
  ask({large, "a", "b"});
  EXPECT_EQ(compiler.compiled, Texts{large});
}

TEST(Cubins, ThreadsMayShareThem) {
  Cubins cubins(600);  // not all fit
  FakeCompiler compiler;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Workers workers(2);
      for (int i = 0; i < 50; ++i) {
        const Texts texts{"text " + std::to_string(i % 7), "text " + std::to_string((i + t) % 30)};
        expect_cubins(cubins.of(texts, compiler.calls(), workers), texts);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(compiler.compiled.size(), 30U);
}

}  // namespace
}  // namespace deltamatch::gpu
