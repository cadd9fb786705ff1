// Every input format: what is written is read as it was meant. A damaged byte affects no other record.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "deltamatch/error.hpp"
#include "property/draw.hpp"
#include "property/reading_draw.hpp"
#include "property/reading_forms.hpp"

namespace deltamatch::property {
namespace {

using ingest::Codec;
using ingest::Decoded;

/// What was read from a stream. Nothing if all or part of it was refused.
struct Heard {
  std::vector<std::string> updates;
  bool directed = true;
  friend bool operator==(const Heard&, const Heard&) = default;
};

/// `plain`: the text is as it was drawn. A rule about doubtful readings that takes it for something else is too eager.
std::optional<Heard> hear(const std::string& text, const Written& written, bool recognise, bool plain = false) {
  ingest::ReadOptions options;
  options.codec = written.codec;
  if (!recognise) options.format = written.format;
  options.limits.max_updates = 3;
  Heard heard;
  try {
    const auto stream = ingest::open_memory(text, "drawn", options);
    heard.directed = stream->directed();
    ingest::PositionedBatch batch;
    while (stream->next(batch)) {
      for (const Update& update : batch.updates.updates()) heard.updates.push_back(told(update));
      stream->settle(batch, {});
    }
    if (plain) {
      for (const ingest::Warning& warning : stream->warnings()) {
        for (const char* code :
             {"operation_unread", "null_as_label", "invisible_in_id", "invisible_in_label", "id_grouped", "footer_as_record"})
          RC_ASSERT(warning.code != code);
      }
    }
  } catch (const Error& error) {
    RC_ASSERT(std::string(error.what()).find("drawn") == 0);
    RC_ASSERT(std::string(error.what()).find("; ") != std::string::npos);
    return std::nullopt;
  }
  return heard;
}

/// What was read from one message.
std::optional<std::vector<std::string>> hear_message(Codec& codec, const std::string& message) {
  const Decoded decoded = codec.decode(message);
  if (decoded.refused) {
    RC_ASSERT(!decoded.message.empty());
    return std::nullopt;
  }
  std::vector<std::string> updates;
  for (const Update& update : decoded.updates) updates.push_back(told(update));
  return updates;
}

void check_messages(const Written& written) {
  const auto codec = ingest::make_message_codec(written.format, written.codec);
  for (const Written::Record& record : written.records) {
    const auto heard = hear_message(*codec, record.bytes);
    RC_LOG() << record.bytes;
    RC_ASSERT(heard == record.updates);
  }
}

class Reading : public testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const Form& form() const { return forms()[GetParam()]; }
};

TEST_P(Reading, WhatIsWrittenIsRead) {
  hold(150, [&] {
    const Written written = form().draw();
    if (form().of_messages) return check_messages(written);
    const std::string text = written.text();
    RC_LOG() << text;
    const Heard meant{written.updates(0, written.records.size()), written.directed};
    RC_ASSERT(hear(text, written, false, true) == meant);
    // If the format is recognised by content, the result is the same, or the stream is refused. Without records and head, the
    // format is unknown.
    const auto recognised = hear(text, written, true, true);
    if (recognised && !written.records.empty()) RC_ASSERT(*recognised == meant);
  });
}

/// Changes the byte of `text` at `at`, removes it, or inserts another before it.
std::string damaged(std::string text, std::size_t at) {
  const std::string bytes = "+-0123456789,;:.\"'{}[]()#% \t\n\r\\aetvTuLxX\x01\x7f\xff";
  const char byte = bytes[static_cast<std::size_t>(*below(static_cast<int>(bytes.size())))];
  switch (*below(3)) {
    case 0:
      text[at] = byte;
      break;
    case 1:
      text.erase(at, 1);
      break;
    default:
      text.insert(at, 1, byte);
  }
  return text;
}

bool starts_with(const std::vector<std::string>& all, const std::vector<std::string>& part) {
  return all.size() >= part.size() && std::equal(part.begin(), part.end(), all.begin());
}
bool ends_with(const std::vector<std::string>& all, const std::vector<std::string>& part) {
  return all.size() >= part.size() && std::equal(part.rbegin(), part.rend(), all.rbegin());
}

/// Whether one byte may turn the rest of the file into part of a valid record. A quote that another one ends may do that.
bool may_quote(const Written& written, const std::string& text) {
  return written.format == ingest::Format::csv && std::count(text.begin(), text.end(), '"') > 0;
}

/// Checks that a damaged file is refused, or that all records but the damaged one are read as before. That record may mean
/// anything or nothing. If a line end is damaged, the next record is, too.
void check_damage(const Written& written) {
  const auto record = static_cast<std::size_t>(*below(static_cast<int>(written.records.size())));
  Written broken = written;
  std::string& bytes = broken.records[record].bytes;
  const auto at = static_cast<std::size_t>(*below(static_cast<int>(bytes.size())));
  bytes = damaged(bytes, at);
  const std::string text = broken.text();
  if (may_quote(written, text)) return;  // it may absorb other records
  RC_LOG() << text;
  const std::optional<Heard> heard = hear(text, written, false);
  if (!heard) return;
  const std::vector<std::string> before = written.updates(0, record);
  const std::vector<std::string> after = written.updates(std::min(record + 2, written.records.size()), written.records.size());
  RC_ASSERT(heard->directed == written.directed);
  RC_ASSERT(starts_with(heard->updates, before));
  RC_ASSERT(ends_with(heard->updates, after));
  RC_ASSERT(heard->updates.size() >= before.size() + after.size());
  // It may become at most as many records as lines: the damaged one, one more from a line end, and the next one.
  RC_ASSERT(heard->updates.size() <=
            before.size() + after.size() + written.updates(record, std::min(record + 2, written.records.size())).size() + 2);
}

TEST_P(Reading, ADamagedByteCostsNoOtherRecord) {
  hold(300, [&] {
    const Written written = form().draw();
    if (written.records.empty()) RC_DISCARD("nothing to damage");
    if (!form().of_messages) return check_damage(written);
    const auto codec = ingest::make_message_codec(written.format, written.codec);
    const auto record = static_cast<std::size_t>(*below(static_cast<int>(written.records.size())));
    std::string bytes = written.records[record].bytes;
    bytes = damaged(bytes, static_cast<std::size_t>(*below(static_cast<int>(bytes.size()))));
    static_cast<void>(hear_message(*codec, bytes));
    check_messages(written);  // the other messages are read as before
  });
}

TEST_P(Reading, ADamagedHeadIsRefusedOrSaysTheSame) {
  hold(200, [&] {
    Written written = form().draw();
    if (!written.frail_head) return;
    const Heard meant{written.updates(0, written.records.size()), written.directed};
    written.head = damaged(written.head, static_cast<std::size_t>(*below(static_cast<int>(written.head.size()))));
    RC_LOG() << written.text();
    const auto heard = hear(written.text(), written, false);
    if (heard) RC_ASSERT(*heard == meant);
  });
}

std::vector<std::size_t> numbers() {
  std::vector<std::size_t> all(forms().size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryForm, Reading, testing::ValuesIn(numbers()), [](const auto& form) {
  std::string name = forms()[form.param].name;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace deltamatch::property
