// Codecs of messages. They are the codecs of files, restricted to what makes sense if each record stands alone.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/formats.hpp"
#include "ingest/codec/schema_reader.hpp"
#include "ingest/codec/tombstones.hpp"

namespace deltamatch::ingest {
namespace {

CodecOptions options_of_messages(Format format, CodecOptions options) {
  const FormatTraits& traits = traits_of(format);
  options.message = true;
  if (traits.message == MessageForm::none) {
    throw Error(ErrorKind::usage, "format", fmt::format("{} is a format of files, which begin with a header", traits.name),
                "choose another format");
  }
  if (traits.columns == ColumnForm::names) options.header = false;  // a first message that is a row of words is no header
  if (!traits.has_positions()) return options;
  if (options.vertices && options.columns.empty()) options.columns = "vertex,label";
  if (options.header.value_or(false))
    throw Error(ErrorKind::usage, "header", "messages have no header", "leave it out and give columns by position");
  if (parse_columns(options).named()) {
    throw Error(ErrorKind::usage, "columns", fmt::format("{} messages need their columns by position", traits.name),
                "give e.g. source,target,label,time");
  }
  options.header = false;
  if (options.separator == 0) options.separator = ',';
  return options;
}

class MessageCodec final : public Codec {
 public:
  MessageCodec(Format format, const CodecOptions& options)
      : form_(traits_of(format).message),
        fault_(traits_of(format).message_fault),
        codec_(make_codec(format, options_of_messages(format, options))),
        tombstones_(format, options),
        keyed_(options.edges == EdgeModel::keyed),
        event_(options.envelope != Envelope::none),
        doubts_(options.doubts),
        spelling_(spelling_of(options)) {
    if (!options.key_format) return;
    if (!traits_of(*options.key_format).has_schema) {
      throw Error(ErrorKind::usage, "key_format", fmt::format("{} has no schemas of keys", format_name(*options.key_format)),
                  "leave it out: keys that are texts or JSON are read anyway");
    }
    keys_.emplace(*options.key_format, options.schemas, options.time_unit);
  }

  Decoded decode(std::string_view record) override {
    if (form_ == MessageForm::bytes) return codec_->decode(record);
    if (record.ends_with('\n')) record.remove_suffix(1);
    if (record.ends_with('\r')) record.remove_suffix(1);
    if (record.find_first_not_of(" \t\r\n") == std::string_view::npos) return malformed("the message is empty");
    if (form_ == MessageForm::line && record.find('\n') != std::string_view::npos)
      return malformed("the message has more than one line");
    if (fault_ != nullptr) {
      if (const std::string_view fault = fault_(record); !fault.empty()) return malformed(fault);
    }
    return codec_->decode(record);
  }

  Decoded decode_message(std::optional<std::string_view> value, const MessageFrame& frame) override {
    if (!keys_ || !frame.key) return decode_framed(value, frame);
    const std::optional<std::string_view> key = keys_->read(*frame.key);
    if (!key) {
      message_ = fmt::format("the message's key cannot be read: {}", keys_->fault());
      return malformed(message_);
    }
    MessageFrame read = frame;
    read.key = *key == "null" ? std::nullopt : key;
    return decode_framed(value, read);
  }

 private:
  /// Reads a message whose key is a text or JSON.
  Decoded decode_framed(std::optional<std::string_view> value, const MessageFrame& frame) {
    if (value) {
      codec_->surround(&frame);
      const Surrounded end(*codec_);
      return decode(*value);
    }
    if (tombstones_.deletes()) return tombstones_.decode(frame);
    if (keyed_ && !event_ && doubts_ != nullptr) {
      doubts_->tell("tombstone_unread", "a message without a value says that its edge goes, but its key is not read",
                    fmt::format("{} reads it", spelling_("columns", "edge=kafka:key")));
    }
    return {};
  }

  /// Ends what surrounds a message.
  class Surrounded {
   public:
    explicit Surrounded(Codec& codec) : codec_(codec) {}
    ~Surrounded() { codec_.surround(nullptr); }
    Surrounded(const Surrounded&) = delete;
    Surrounded& operator=(const Surrounded&) = delete;

   private:
    Codec& codec_;
  };

  static Decoded malformed(std::string_view message) { return {{}, RejectReason::malformed, message, {}}; }

  MessageForm form_;
  std::string_view (*fault_)(std::string_view message);
  std::unique_ptr<Codec> codec_;
  std::optional<SchemaReader> keys_;
  TombstoneReader tombstones_;
  bool keyed_;
  bool event_;
  Doubts* doubts_;
  OptionSpelling spelling_;
  std::string message_;
};

}  // namespace

std::unique_ptr<Codec> make_message_codec(Format format, const CodecOptions& options) {
  return std::make_unique<MessageCodec>(format, options);
}

}  // namespace deltamatch::ingest
