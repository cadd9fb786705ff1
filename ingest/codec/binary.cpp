#include "ingest/codec/binary.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/text/varint.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;  // a block is written once it has this size
constexpr std::size_t checked_size = 12;                   // the part of a block's head that has a checksum

void put(char* to, std::uint64_t value, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint64_t get(const char* from, std::size_t bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  return value;
}

// The first byte: the version in the upper bits, the kind of update in the lower ones. No text begins with such a byte.
constexpr unsigned version_bits = 0x10;

// The second byte: which fields follow, in this order.
constexpr unsigned text_source = 1;
constexpr unsigned text_target = 2;
constexpr unsigned has_label = 4;
constexpr unsigned has_source_label = 8;
constexpr unsigned has_target_label = 16;
constexpr unsigned has_time = 32;
constexpr unsigned edge_flags = text_source | text_target | has_label | has_source_label | has_target_label | has_time;
constexpr unsigned vertex_flags = text_source | has_source_label | has_time;

constexpr bool is_edge(UpdateKind kind) noexcept { return kind == UpdateKind::insert_edge || kind == UpdateKind::delete_edge; }

unsigned flags_of(const Update& update) noexcept {
  unsigned flags = 0;
  if (update.source.is_text()) flags |= text_source;
  if (update.source_label) flags |= has_source_label;
  if (update.time) flags |= has_time;
  if (!is_edge(update.kind)) return flags;
  if (update.target.is_text()) flags |= text_target;
  if (!update.label.empty()) flags |= has_label;
  if (update.target_label) flags |= has_target_label;
  return flags;
}

void append_text(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out.append(text);
}

void append_id(std::string& out, const Id& id) {
  if (id.is_text())
    append_text(out, id.text());
  else
    append_varint(out, fold(id.number()));
}

class BinaryCodec final : public Codec {
 public:
  explicit BinaryCodec(const CodecOptions& options)
      : ids_(options.ids.value_or(IdKind::automatic)), edge_label_(options.edge_label) {
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
    const unsigned flags = static_cast<unsigned char>(record[1]);
    if ((first & 0xf0) != version_bits)
      return refuse(RejectReason::malformed, fmt::format("the first byte {:#04x} does not exist in version 1", first));
    if ((first & 0x0f) > static_cast<unsigned>(UpdateKind::delete_vertex))
      return refuse(RejectReason::bad_operation, fmt::format("the first byte {:#04x} is not a kind of update", first));
    update_.kind = static_cast<UpdateKind>(first & 0x0f);
    const bool edge = is_edge(update_.kind);
    if ((flags & ~(edge ? edge_flags : vertex_flags)) != 0)
      return refuse(RejectReason::malformed, fmt::format("the flags {:#04x} have no meaning here", flags));
    return fields(edge, flags, record);
  }

 private:
  Decoded fields(bool edge, unsigned flags, std::string_view record) {
    at_ = record.data() + 2;
    end_ = record.data() + record.size();
    bool whole = take_id((flags & text_source) != 0, update_.source);
    update_.target = Id();
    if (edge) whole = whole && take_id((flags & text_target) != 0, update_.target);
    update_.label = edge ? std::string_view(edge_label_) : std::string_view();
    if ((flags & has_label) != 0) whole = whole && take_text(update_.label);
    update_.source_label.reset();
    if ((flags & has_source_label) != 0) whole = whole && take_text(update_.source_label.emplace());
    update_.target_label.reset();
    if ((flags & has_target_label) != 0) whole = whole && take_text(update_.target_label.emplace());
    update_.time.reset();
    std::uint64_t time = 0;
    if ((flags & has_time) != 0) {
      whole = whole && take_number(time);
      update_.time = unfold(time);
    }
    if (!whole) return refuse(RejectReason::malformed, "the record is cut short, or a number is not in its shortest form");
    if (at_ != end_) return refuse(RejectReason::malformed, fmt::format("{} bytes follow the record", end_ - at_));
    if (!settle_id("source", 0, update_.source) || (edge && !settle_id("target", 1, update_.target)))
      return {{}, RejectReason::bad_id, message_, {}};
    return {{&update_, 1}, std::nullopt, {}, {}};
  }

  bool take_number(std::uint64_t& value) noexcept { return take_varint(at_, end_, value) == VarintFault::none; }

  bool take_text(std::string_view& text) noexcept {
    std::uint64_t size = 0;
    if (!take_number(size) || size > static_cast<std::uint64_t>(end_ - at_)) return false;
    text = {at_, static_cast<std::size_t>(size)};
    at_ += size;
    return true;
  }

  bool take_id(bool is_text, Id& id) noexcept {
    if (is_text) {
      std::string_view text;
      const bool whole = take_text(text);
      id = Id(text);
      return whole;
    }
    std::uint64_t number = 0;
    const bool whole = take_number(number);
    id = Id(unfold(number));
    return whole;
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
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  Update update_;
  std::array<std::array<char, 24>, 2> digits_{};
  std::string message_;
};

}  // namespace

BinaryBlock::Head BinaryBlock::head_of(std::string_view bytes, std::uint64_t number) noexcept {
  Head head{};
  put(head.data(), bytes.size(), 4);
  put(head.data() + 4, XXH3_64bits_withSeed(bytes.data(), bytes.size(), number), 8);
  put(head.data() + checked_size, XXH3_64bits_withSeed(head.data(), checked_size, number), 4);
  return head;
}

std::optional<BinaryBlock> BinaryBlock::read(std::string_view head, std::uint64_t number) noexcept {
  std::array<char, 4> sum{};
  put(sum.data(), XXH3_64bits_withSeed(head.data(), checked_size, number), sum.size());
  if (head.substr(checked_size, sum.size()) != std::string_view(sum.data(), sum.size())) return std::nullopt;
  return BinaryBlock{static_cast<std::uint32_t>(get(head.data(), 4)), get(head.data() + 4, 8)};
}

bool BinaryBlock::holds(std::string_view bytes, std::uint64_t number) const noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), number) == checksum;
}

BinaryStreamWriter::BinaryStreamWriter(std::string& out) {
  out.append(binary_magic).push_back('\2');
  out.append(binary_seal);
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

void append_binary(std::string& out, const Update& update) {
  const unsigned flags = flags_of(update);
  out.push_back(static_cast<char>(version_bits | static_cast<unsigned>(update.kind)));
  out.push_back(static_cast<char>(flags));
  append_id(out, update.source);
  if (is_edge(update.kind)) append_id(out, update.target);
  if ((flags & has_label) != 0) append_text(out, update.label);
  if ((flags & has_source_label) != 0) append_text(out, *update.source_label);
  if ((flags & has_target_label) != 0) append_text(out, *update.target_label);
  if ((flags & has_time) != 0) append_varint(out, fold(*update.time));
}

void append_binary_framed(std::string& out, const Update& update) {
  const std::size_t start = out.size();
  append_binary(out, update);
  std::string length;
  append_varint(length, out.size() - start);
  out.insert(start, length);
}

std::unique_ptr<Codec> make_binary_codec(const CodecOptions& options) { return std::make_unique<BinaryCodec>(options); }

}  // namespace deltamatch::ingest
