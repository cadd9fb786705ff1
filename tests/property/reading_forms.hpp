// Random streams, written in every form that can be read, with the updates that they mean.
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
    std::vector<std::string> updates;  ///< what it means, as told() prints it
  };
  std::vector<Record> records;
  std::string tail;
  /// Whether tests damage the head, too. They do not if one byte may turn it into another valid head.
  bool frail_head = false;

  [[nodiscard]] std::string text() const;
  /// The updates of the records from `first` up to, but not including, `last`.
  [[nodiscard]] std::vector<std::string> updates(std::size_t first, std::size_t last) const;
};

/// An update as text. Equal updates have equal texts.
[[nodiscard]] std::string told(const Update& update);

struct Form {
  std::string name;
  std::function<Written()> draw;  ///< called within a property
  bool of_messages = false;       ///< each record is a message
};

/// All of them.
[[nodiscard]] const std::vector<Form>& forms();

}  // namespace deltamatch::property
