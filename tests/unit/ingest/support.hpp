// Helpers of the ingest tests.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "deltamatch/error.hpp"
#include "deltamatch/labels.hpp"
#include "ingest/codec/binary.hpp"
#include "ingest/source/bytes.hpp"
#include "ingest/stream.hpp"

namespace deltamatch::ingest::testing {

/// The beginning of a binary stream of this version.
inline std::string binary_preamble(char version) {
  std::string bytes(binary_magic);
  bytes += version;
  return version == 2 ? bytes.append(binary_seal) : bytes;
}

inline std::string text_of(const Id& id) {
  return id.is_text() ? fmt::format("'{}'", id.text()) : fmt::format("{}", id.number());
}

/// The digits of an integer or a decimal, "1.5r", "'web'", "yes" or "null".
inline std::string text_of(const AttributeValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return fmt::format("'{}'", *text);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}r", *real);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "yes" : "no";
  return "null";
}

/// " #'tx-1' {120, 'web'}": key and attributes.
inline std::string text_of(const Properties* properties) {
  if (properties == nullptr) return {};
  std::string text;
  if (properties->key) text += " #" + text_of(*properties->key);
  if (properties->attributes.empty()) return text;
  text += " {";
  for (const AttributeValue& value : properties->attributes) text += (text.ends_with('{') ? "" : ", ") + text_of(value);
  return text + "}";
}

/// Several labels of a vertex as A&B.
inline std::string labels_text(std::string_view labels) {
  std::string text(labels);
  std::ranges::replace(text, label_separator, '&');
  return text;
}

/// "+ 1 -> 'b' [L] (A -> B) @5": with times and labels if there are any. "- #7" is a deletion by key. "+ 1 (A&B) adds C
/// removes D": a vertex.
inline std::string text_of(const Update& update) {
  if (update.by_key)
    return "-" + text_of(update.properties) + (update.time ? " @" + std::to_string(*update.time) : std::string());
  const bool inserts = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::insert_vertex;
  const bool vertex = update.kind == UpdateKind::insert_vertex || update.kind == UpdateKind::delete_vertex;
  std::string text = inserts ? "+ " : "- ";
  text += text_of(update.source);
  if (vertex) {
    if (update.source_label) text += fmt::format(" ({})", labels_text(*update.source_label));
    if (!update.label.empty()) text += " adds " + labels_text(update.label);
    if (update.target_label) text += " removes " + labels_text(*update.target_label);
  } else {
    text += " -> " + text_of(update.target);
    if (!update.label.empty()) text += fmt::format(" [{}]", update.label);
    if (update.source_label || update.target_label) {
      text += fmt::format(" ({} -> {})", labels_text(update.source_label.value_or("?")),
                          labels_text(update.target_label.value_or("?")));
    }
  }
  if (update.time) text += " @" + std::to_string(*update.time);
  return text + text_of(update.properties);
}

/// The updates and refusals of records. A refusal is "! reason: message".
inline std::vector<std::string> decode(Codec& codec, const std::vector<std::string>& records) {
  std::vector<std::string> out;
  for (const std::string& record : records) {
    const Decoded decoded = codec.decode(record);
    for (const Update& update : decoded.updates) out.push_back(text_of(update));
    if (decoded.refused) out.push_back(fmt::format("! {}: {}", reject_name(*decoded.refused), decoded.message));
  }
  return out;
}

inline std::vector<std::string> decode(Format format, const std::vector<std::string>& records,
                                       const CodecOptions& options = {}) {
  return decode(*make_codec(format, options), records);
}

/// The text of what `call` throws. Empty if it throws nothing.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// Reads a stream to its end. Returns all updates, with a line of dashes between batches.
inline std::vector<std::string> read_all(UpdateStream& stream) {
  std::vector<std::string> out;
  PositionedBatch batch;
  while (stream.next(batch)) {
    if (!out.empty()) out.push_back("--");
    for (const Update& update : batch.updates.updates()) out.push_back(text_of(update));
    stream.settle(batch, {});
  }
  return out;
}

inline std::vector<std::string> read_all(std::string_view bytes, const ReadOptions& options = {}) {
  return read_all(*open_memory(bytes, "test", options));
}

/// Hands over at most `step` bytes in each read.
class Dribble final : public ByteSource {
 public:
  Dribble(std::string bytes, std::size_t step) : bytes_(std::move(bytes)), step_(step) {}
  std::size_t read(std::span<char> buffer) override {
    const std::size_t size = std::min({buffer.size(), step_, bytes_.size() - at_});
    std::copy_n(bytes_.data() + at_, size, buffer.data());
    at_ += size;
    largest_buffer = std::max(largest_buffer, buffer.size());
    return size;
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept override { return at_; }
  [[nodiscard]] std::optional<std::uint64_t> bytes_total() const noexcept override { return bytes_.size(); }
  void cancel() noexcept override {}
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }

  std::size_t largest_buffer = 0;

 private:
  std::string bytes_;
  std::size_t step_;
  std::size_t at_ = 0;
  std::string name_ = "test";
};

/// A folder that is removed after the test.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "deltamatch-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Error(pattern, "cannot be created");
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace deltamatch::ingest::testing
