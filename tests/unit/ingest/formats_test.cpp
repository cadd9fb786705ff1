// The table of formats is whole, and the pages tell of each format what it says.
#include "ingest/codec/formats.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <source_dir.hpp>
#include <string>
#include <string_view>

#include "deltamatch/error.hpp"
#include "unit/ingest/support.hpp"

namespace deltamatch::ingest {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// Options without which a message of some formats has no meaning.
CodecOptions options_of(const FormatTraits& traits) {
  CodecOptions options;
  if (traits.has_positions()) options.columns = "source,target";
  if (traits.format == Format::avro)
    options.schema.text = R"({"type":"record","name":"E","fields":[{"name":"source","type":"long"}]})";
  if (traits.format == Format::protobuf) options.schema.text = "syntax = \"proto3\"; message E { int64 source = 1; }";
  return options;
}

TEST(Formats, NamesGoBothWays) {
  std::set<std::string_view> names;
  for (const FormatTraits& traits : formats()) {
    EXPECT_EQ(format_name(traits.format), traits.name);
    EXPECT_EQ(format_by_name(traits.name), traits.format);
    EXPECT_TRUE(names.insert(traits.name).second) << traits.name;
    if (traits.alias.empty()) continue;
    EXPECT_EQ(format_by_name(traits.alias), traits.format);
    EXPECT_TRUE(names.insert(traits.alias).second) << traits.alias;
  }
  EXPECT_FALSE(format_by_name("xml"));
  EXPECT_FALSE(format_by_name(""));
}

TEST(Formats, EachThatClaimsTextsHasARankOfItsOwn) {
  std::set<int> ranks;
  for (const FormatTraits& traits : formats()) {
    EXPECT_EQ(traits.begins != nullptr, traits.claim_rank != 0) << traits.name;
    if (traits.claim_rank == 0) continue;
    EXPECT_TRUE(ranks.insert(traits.claim_rank).second) << traits.name;
  }
}

TEST(Formats, EachReadsFilesAndThoseOfMessagesReadMessages) {
  for (const FormatTraits& traits : formats()) {
    EXPECT_NE(make_codec(traits.format, {}), nullptr) << traits.name;
    const std::string fault = error_of([&] { (void)make_message_codec(traits.format, options_of(traits)); });
    if (traits.message == MessageForm::none)
      EXPECT_THAT(fault, HasSubstr(fmt::format("{} is a format of files", traits.name)));
    else
      EXPECT_EQ(fault, "") << traits.name;
  }
}

TEST(Formats, AnEmptyMessageIsRefused) {
  for (const FormatTraits& traits : formats()) {
    if (traits.message == MessageForm::none) continue;
    const auto codec = make_message_codec(traits.format, options_of(traits));
    EXPECT_EQ(codec->decode("").refused, RejectReason::malformed) << traits.name;
  }
}

TEST(Formats, AnEmptyFileOfEachHasNoUpdates) {
  for (const FormatTraits& traits : formats()) {
    ReadOptions options;
    options.format = traits.format;
    options.on_error = OnError::skip;
    if (traits.has_files) {
      EXPECT_THAT(read_all("", options), ::testing::IsEmpty()) << traits.name;
    } else {
      EXPECT_THAT(error_of([&] { (void)read_all("", options); }), HasSubstr("is a format of messages")) << traits.name;
    }
  }
}

TEST(Formats, ThePageNamesEach) {
  const std::string page = read_file(DELTAMATCH_SOURCE_DIR "/docs/reference/formats.md");
  for (const FormatTraits& traits : formats()) {
    const std::string alias = traits.alias.empty() ? "" : fmt::format(" (`{}`)", traits.alias);
    const std::string_view messages = traits.message == MessageForm::none ? "no" : "yes";
    const std::string row = fmt::format("\n| `{}`{} | {} | ", traits.name, alias, messages);
    EXPECT_NE(page.find(row), std::string::npos) << "docs/reference/formats.md lacks the row" << row << "…";
  }
}

}  // namespace
}  // namespace deltamatch::ingest
