// Broken records and the reasons for which they are refused. broken_records.txt holds both.
#include <array>
#include <source_dir.hpp>

#include "encoding/numbers.hpp"
#include "ingest/codec/binary.hpp"
#include "ingest/source/record_source.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::text_of;

struct Section {
  std::string title;
  Format format = Format::jsonl;
  CodecOptions options;
  std::string good;
  std::vector<std::pair<std::string, std::string>> broken;  // reason and record
};

std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else if (text[++i] == 'x') {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
    }
  }
  return out;
}

Section section(std::string_view title) {
  Section made;
  made.title = title;
  std::istringstream words(made.title);
  std::string word;
  words >> word;
  made.format = format_by_name(word).value();
  while (words >> word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = word.substr(equals + 1);
    if (name == "columns") made.options.columns = value;
    if (name == "envelope" && value == "debezium") made.options.envelope = Envelope::debezium;
    if (name == "ids" && value == "integer") made.options.ids = IdKind::integer;
  }
  return made;
}

std::vector<Section> sections() {
  std::vector<Section> all;
  std::ifstream file(DELTAMATCH_SOURCE_DIR "/tests/unit/ingest/broken_records.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('[')) {
      all.push_back(section(line.substr(1, line.size() - 2)));
      continue;
    }
    const std::size_t blank = line.find(' ');
    const std::string word = line.substr(0, blank);
    const std::string record = unescape(std::string_view(line).substr(blank + 1));
    if (word == "say")
      all.back().good = record;
    else
      all.back().broken.emplace_back(word, record);
  }
  return all;
}

std::string outcome(const Decoded& decoded) {
  if (decoded.refused) return std::string(reject_name(*decoded.refused));
  std::string out;
  for (const Update& update : decoded.updates) out += text_of(update) + '\n';
  return out;
}

TEST(BrokenRecords, AreRefusedForTheirReasonAndCostNoOther) {
  std::size_t count = 0;
  for (const Section& section : sections()) {
    const auto codec = make_message_codec(section.format, section.options);
    const std::string good = outcome(codec->decode(section.good));
    ASSERT_THAT(good, ::testing::StartsWith("+ ")) << section.title;
    for (const auto& [reason, record] : section.broken) {
      EXPECT_EQ(outcome(codec->decode(record)), reason) << section.title << ": " << record;
      EXPECT_EQ(outcome(codec->decode(section.good)), good) << section.title << ": " << record;
      ++count;
    }
  }
  EXPECT_GT(count, 200U);
}

TEST(BrokenRecords, AreRefusedAlikeWhateverFollowsThem) {
  const std::array<std::string_view, 5> tails = {"\"}", "}]", "1,\"source\":3}", "\\\"", "\n"};
  for (const Section& section : sections()) {
    CodecOptions options = section.options;
    if (section.format == Format::csv) options.header = false;
    const auto codec = make_codec(section.format, options);
    for (const auto& [reason, record] : section.broken) {
      for (const std::string_view tail : tails) {
        std::string padded = record + std::string(tail);
        padded.append(Record::padding, static_cast<char>(tail[0]));
        EXPECT_EQ(outcome(codec->decode_padded(std::string_view(padded).substr(0, record.size()))), reason) << record;
      }
    }
  }
}

/// The records as a file, with a good one after each broken one.
std::string file_of(const Section& section, std::size_t& broken) {
  std::string out;
  const auto add = [&](const std::string& record) {
    if (section.format == Format::binary) encoding::put_number(out, record.size());
    out += record;
    if (section.format != Format::binary) out += '\n';
  };
  if (section.format == Format::binary) out += testing::binary_preamble(1);
  for (const auto& [reason, record] : section.broken) {
    if (section.format != Format::binary && record.find('\n') != std::string::npos) continue;
    add(record);
    add(section.good);
    ++broken;
  }
  return out;
}

TEST(BrokenRecords, InFilesTooOneBadRecordNeverCostsAGoodOne) {
  for (const Section& section : sections()) {
    std::size_t broken = 0;
    const std::string file = file_of(section, broken);
    ReadOptions options;
    options.format = section.format;
    options.codec = section.options;
    if (section.format == Format::csv) options.codec.header = false;
    options.on_error = OnError::skip;
    const auto stream = open_memory(file, "broken", options);
    const std::vector<std::string> read = testing::read_all(*stream);
    EXPECT_EQ(read.size(), broken) << section.title;
    for (const std::string& update : read) EXPECT_EQ(update, read[0]);
    EXPECT_EQ(stream->refused().total(), broken) << section.title;
  }
}

}  // namespace
}  // namespace deltamatch::ingest
