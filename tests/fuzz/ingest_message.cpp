// Messages of the text formats: what one says depends on nothing that came before it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/codec/binary.hpp"
#include "ingest/codec/codec.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::ingest;

struct Outcome {
  explicit Outcome(const Decoded& decoded) : refused(decoded.refused), message(decoded.message) {
    if (!decoded.remedy.empty() || decoded.updates.size() > 1 || (refused && !decoded.updates.empty())) std::abort();
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
  constexpr Format formats[] = {Format::snap, Format::csv, Format::tsv, Format::tve};
  constexpr const char* columns[] = {"source,target", "op,source,target,label,time",
                                     "source,target,-,source_label,target_label", "vertex,label"};
  const Format format = formats[data[0] % 4];
  CodecOptions options;
  if (format != Format::tve) options.columns = columns[data[0] >> 2 & 3];
  options.ids = static_cast<IdKind>(data[1] % 3);
  options.negative_ids = format == Format::tve && *options.ids == IdKind::integer && (data[1] & 4) != 0;
  if (format == Format::csv) options.separator = ",;\t"[data[1] / 8 % 3];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);

  // Two messages: what stands before the first byte 0, and what stands behind it.
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string_view first = text.substr(0, end);
  const std::string_view second = text.substr(std::min(end + 1, text.size()));
  const auto codec = make_message_codec(format, options);
  const Outcome alone(codec->decode(first));
  static_cast<void>(codec->decode(second));
  if (Outcome(codec->decode(first)) != alone) std::abort();
  const bool blank = first.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (blank && alone.refused != RejectReason::malformed) std::abort();
  return 0;
}
