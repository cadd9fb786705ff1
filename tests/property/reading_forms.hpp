// Random streams, written in every form that is read, with what they say.
#pragma once

#include <rapidcheck.h>

#include <functional>
#include <string>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::property {

/// A stream in one form.
struct Written {
  ingest::Format format{};
  ingest::CodecOptions codec;
  bool directed = true;
  std::string head;  ///< before the first record: headers, comments, brackets
  struct Record {
    std::string bytes;                 ///< with its line end
    std::vector<std::string> updates;  ///< what it says, as told() does
  };
  std::vector<Record> records;
  std::string tail;
  /// Whether the head is damaged, too: where one byte may make another head of it that is as good, it is not.
  bool frail_head = false;

  [[nodiscard]] std::string text() const;
  /// All that the records from `first` to before `last` say.
  [[nodiscard]] std::vector<std::string> updates(std::size_t first, std::size_t last) const;
};

/// An update in words that are equal where the updates are.
[[nodiscard]] std::string told(const Update& update);

struct Form {
  std::string name;
  std::function<Written()> draw;  ///< within a property
  bool of_messages = false;       ///< each record is a message
};

/// All of them.
[[nodiscard]] const std::vector<Form>& forms();

}  // namespace deltamatch::property
