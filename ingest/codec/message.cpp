// Codecs of messages. They are the codecs of files, restricted to what makes sense if each record stands alone.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"

namespace deltamatch::ingest {
namespace {

CodecOptions options_of_messages(Format format, CodecOptions options) {
  const std::string name(format_name(format));
  if (format == Format::jlg || format == Format::mtx) {
    throw Error(ErrorKind::usage, "format", name + " is a format of files, which begin with a header", "choose another format");
  }
  if (options.vertices && options.columns.empty()) {
    if (format == Format::snap || format == Format::tsv || format == Format::csv) options.columns = "vertex,label";
  }
  if (format != Format::snap && format != Format::tsv && format != Format::csv) return options;
  if (options.header.value_or(false))
    throw Error(ErrorKind::usage, "header", "messages have no header", "leave it out and give columns by position");
  if (parse_columns(options.columns).named()) {
    throw Error(ErrorKind::usage, "columns", fmt::format("{} messages need their columns by position", name),
                "give e.g. source,target,label,time");
  }
  options.header = false;
  if (options.separator == 0) options.separator = ',';
  return options;
}

class MessageCodec final : public Codec {
 public:
  MessageCodec(Format format, const CodecOptions& options)
      : text_(format != Format::binary),
        begins_graph_(format == Format::tve),
        one_line_(format == Format::snap || format == Format::tsv || format == Format::tve),
        codec_(make_codec(format, options_of_messages(format, options))) {}

  Decoded decode(std::string_view record) override {
    if (!text_) return codec_->decode(record);
    if (record.ends_with('\n')) record.remove_suffix(1);
    if (record.ends_with('\r')) record.remove_suffix(1);
    if (record.find_first_not_of(" \t\r\n") == std::string_view::npos) return malformed("the message is empty");
    if (one_line_ && record.find('\n') != std::string_view::npos) return malformed("the message has more than one line");
    if (begins_graph_ && is_graph_header(record)) return malformed("t # N begins one of several graphs; a message is of one");
    return codec_->decode(record);
  }

 private:
  /// Whether a message is gSpan's header `t # N`, which is about later messages.
  static bool is_graph_header(std::string_view record) noexcept {
    const std::size_t verb = record.find_first_not_of(" \t");
    const std::size_t number = record.find_first_not_of(" \t", verb + 1);
    return record[verb] == 't' && number != std::string_view::npos && number > verb + 1 && record[number] == '#';
  }
  static Decoded malformed(std::string_view message) { return {{}, RejectReason::malformed, message, {}}; }

  bool text_;
  bool begins_graph_;
  bool one_line_;
  std::unique_ptr<Codec> codec_;
};

}  // namespace

std::unique_ptr<Codec> make_message_codec(Format format, const CodecOptions& options) {
  return std::make_unique<MessageCodec>(format, options);
}

}  // namespace deltamatch::ingest
