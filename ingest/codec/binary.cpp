#include "ingest/codec/binary.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "deltamatch/error.hpp"
#include "encoding/numbers.hpp"
#include "encoding/updates.hpp"
#include "ingest/codec/binary_schema.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;  // a block is written once it has this size
constexpr std::size_t checked_size = 12;                   // the part of a block's head that has a checksum

class BinaryCodec final : public Codec {
 public:
  explicit BinaryCodec(const CodecOptions& options)
      : ids_(options.ids.value_or(IdKind::automatic)),
        edge_label_(options.edge_label),
        configured_(options.doubts != nullptr && options.doubts->spelling().in_configuration) {
    const auto refuse_option = [](std::string_view option, std::string_view what) {
      throw Error(ErrorKind::usage, option, fmt::format("binary records {}", what), "leave the option out");
    };
    if (!options.columns.empty()) refuse_option("columns", "have no columns");
    if (!options.op_values.empty()) refuse_option("op-values", "have their own operations");
    if (options.time_unit || !options.time_format.empty()) refuse_option("time", "have times in microseconds");
  }

  Decoded decode(std::string_view record) override {
    if (record.size() < 2) return refuse(RejectReason::malformed, "the record is cut short");
    const unsigned first = static_cast<unsigned char>(record[0]);
    if ((first & 0xf0) != encoding::plain_version_bits)
      return refuse(RejectReason::malformed, fmt::format("the first byte {:#04x} does not exist in version 1", first));
    if ((first & 0x0f) > static_cast<unsigned>(UpdateKind::delete_vertex))
      return refuse(RejectReason::bad_operation, fmt::format("the first byte {:#04x} is not a kind of update", first));
    encoding::ByteReader in(record.substr(1));
    const encoding::Head head{static_cast<UpdateKind>(first & 0x0f), in.number()};
    if (auto reason = in.sound() ? encoding::unreadable(head) : std::nullopt)
      return refuse(RejectReason::malformed, std::move(*reason));
    return fields(head, in);
  }

  /// Streams of older versions do not state their attributes.
  [[nodiscard]] std::string advice(RejectReason reason, std::string_view /*record*/) const override {
    if (reason != RejectReason::bad_value) return {};
    return std::string("declare the attributes that the stream was written with, in their order, in ") +
           (configured_ ? "graph.edges, graph.attributes and graph.vertex_attributes"
                        : "--edges, --attributes and --vertex-attributes");
  }

 private:
  Decoded fields(const encoding::Head& head, encoding::ByteReader& in) {
    update_ = Update{};
    update_.kind = head.kind;
    if (head.edge()) update_.label = edge_label_;
    take_fields(in, form_, head, update_);
    if (!in.sound()) {
      return refuse(RejectReason::malformed,
                    head.has(encoding::field::attributes)
                        ? "the record is cut short, or a number or its attributes are not in their only form"
                        : "the record is cut short, or a number is not in its shortest form");
    }
    if (update_.time == std::numeric_limits<Timestamp>::min())  // the graph means an edge without a time by it
      return refuse(RejectReason::bad_time, fmt::format("time {} is beyond the range", *update_.time));
    if (!in.finished()) return refuse(RejectReason::malformed, fmt::format("{} bytes follow the record", in.left()));
    if (!update_.by_key &&
        (!settle_id("source", 0, update_.source) || (head.edge() && !settle_id("target", 1, update_.target))))
      return {{}, RejectReason::bad_id, message_, {}};
    if (head.has(encoding::field::key) && !settle_id("key", 2, *form_.properties_read().properties.key))
      return {{}, RejectReason::bad_id, message_, {}};
    return {{&update_, 1}, std::nullopt, {}, {}};
  }

  /// Turns an id into the kind that the options ask for. `place` is the index of its text.
  bool settle_id(std::string_view what, std::size_t place, Id& id) {
    if (!id.is_text()) {
      if (ids_ != IdKind::string) return true;
      std::array<char, 24>& digits = digits_[place];
      const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), id.number()).ptr;
      id = Id(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
      return true;
    }
    const std::string_view text = id.text();
    IdFault fault = text.empty() ? IdFault::empty : IdFault::none;
    if (ids_ == IdKind::integer) fault = parse_id(text, ids_, id);
    if (fault == IdFault::none) return true;
    message_ = fmt::format("{} {} {}", what, in_ticks(text), fault_text(fault));
    return false;
  }

  Decoded refuse(RejectReason reason, std::string message) {
    message_ = std::move(message);
    return {{}, reason, message_, {}};
  }

  IdKind ids_;
  std::string edge_label_;
  bool configured_;           // options are keys of a configuration
  encoding::PlainForm form_;  // has the properties of the update
  Update update_;
  std::array<std::array<char, 24>, 3> digits_{};
  std::string message_;
};

}  // namespace

BinaryBlock::Head BinaryBlock::head_of(std::string_view contents, std::uint64_t number) noexcept {
  Head head{};
  encoding::put_fixed(head.data(), contents.size(), 4);
  encoding::put_fixed(head.data() + 4, XXH3_64bits_withSeed(contents.data(), contents.size(), number), 8);
  encoding::put_fixed(head.data() + checked_size, XXH3_64bits_withSeed(head.data(), checked_size, number), 4);
  return head;
}

std::optional<BinaryBlock> BinaryBlock::read(std::string_view head, std::uint64_t number) noexcept {
  const auto sum = static_cast<std::uint32_t>(XXH3_64bits_withSeed(head.data(), checked_size, number));
  if (encoding::get_fixed(head.data() + checked_size, 4) != sum) return std::nullopt;
  return BinaryBlock{static_cast<std::uint32_t>(encoding::get_fixed(head.data(), 4)), encoding::get_fixed(head.data() + 4, 8)};
}

bool BinaryBlock::holds(std::string_view contents, std::uint64_t number) const noexcept {
  return XXH3_64bits_withSeed(contents.data(), contents.size(), number) == checksum;
}

BinaryStreamWriter::BinaryStreamWriter(std::string& out, const Schema& schema) {
  const bool stated = schema != Schema{};
  const std::string bytes = stated ? schema_bytes(schema) : std::string();
  out.append(binary_magic).push_back(stated ? binary_version_with_schema : '\2');
  out.append(stated ? binary_seal_with_schema : binary_seal);
  if (stated) append_block(out, bytes);
}

void BinaryStreamWriter::add(std::string& out, const Update& update) {
  append_binary_framed(waiting_, update);
  if (waiting_.size() >= block_bytes) flush(out);
}

void BinaryStreamWriter::flush(std::string& out) {
  for (std::string_view left = waiting_; !left.empty();) {
    const std::string_view bytes = left.substr(0, BinaryBlock::most_bytes);
    append_block(out, bytes);
    left.remove_prefix(bytes.size());
  }
  waiting_.clear();
}

void BinaryStreamWriter::finish(std::string& out) {
  flush(out);
  append_block(out, {});
}

void BinaryStreamWriter::append_block(std::string& out, std::string_view bytes) {
  const BinaryBlock::Head head = BinaryBlock::head_of(bytes, blocks_++);
  out.append(head.data(), head.size()).append(bytes);
}

void append_binary(std::string& out, const Update& update) { encoding::put_plain(out, update); }

void append_binary_framed(std::string& out, const Update& update) {
  const std::size_t start = out.size();
  append_binary(out, update);
  std::string length;
  encoding::put_number(length, out.size() - start);
  out.insert(start, length);
}

std::unique_ptr<Codec> make_binary_codec(const CodecOptions& options) { return std::make_unique<BinaryCodec>(options); }

}  // namespace deltamatch::ingest
