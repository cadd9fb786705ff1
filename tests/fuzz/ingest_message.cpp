// Messages of every format that needs no schema: what one says depends on nothing that came before it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/binary.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/formats.hpp"
#include "ingest/codec/schema_text.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::ingest;

struct Outcome {
  explicit Outcome(const Decoded& decoded) : refused(decoded.refused), message(decoded.message) {
    if (!decoded.remedy.empty() || (refused && !decoded.updates.empty())) std::abort();
    for (const Update& update : decoded.updates) {
      if (update.source.is_text() && update.source.text().empty()) std::abort();
      append_binary_framed(updates, update);
    }
  }
  std::optional<RejectReason> refused;
  std::string message;
  std::string updates;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  std::vector<FormatTraits> messages;
  for (const FormatTraits& traits : formats()) {
    if (traits.message != MessageForm::none && !traits.has_schema) messages.push_back(traits);
  }
  constexpr const char* columns[] = {"source,target", "op,source,target,label,time",
                                     "source,target,-,source_label,target_label", "vertex,label"};
  const FormatTraits& traits = messages[data[0] % 16 % messages.size()];
  CodecOptions options;
  if (traits.has_positions()) options.columns = columns[data[0] >> 4 & 3];
  options.ids = static_cast<IdKind>(data[1] % 3);
  // What stands before the byte 0 is then the message's key, too.
  const bool keyed = (data[1] & 128) != 0 && traits.columns != ColumnForm::fixed && options.columns != "vertex,label";
  if (keyed) {
    options.edges = EdgeModel::keyed;
    options.attributes = parse_attributes("n:decimal(2)=kafka:header.n,t:time=kafka:timestamp", AttributesOf::edges, "");
    options.columns += (data[1] & 64) != 0 ? ",edge=kafka:key.id" : ",edge=kafka:key";
    if (options.columns[0] == ',') options.columns.erase(0, 1);
  }
  options.negative_ids = traits.format == Format::tve && *options.ids == IdKind::integer && (data[1] & 4) != 0;
  if (traits.has_separator) options.separator = ",;\t"[data[1] / 8 % 3];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);

  // Two messages: what stands before the first byte 0, and what stands behind it.
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string_view first = text.substr(0, end);
  const std::string_view second = text.substr(std::min(end + 1, text.size()));
  const auto codec = make_message_codec(traits.format, options);
  const MessageHeader header{"n", second};
  const MessageFrame frame{.key = second, .headers = {&header, 1}, .time = 5};
  const auto read = [&](std::string_view text_of_message) {
    return Outcome(keyed ? codec->decode_message(text_of_message, frame) : codec->decode(text_of_message));
  };
  const Outcome alone = read(first);
  static_cast<void>(read(second));
  if (keyed) static_cast<void>(Outcome(codec->decode_message(std::nullopt, frame)));
  if (read(first) != alone) std::abort();
  const bool blank = first.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (blank && traits.message != MessageForm::bytes && alone.refused != RejectReason::malformed) std::abort();
  return 0;
}
