// An update is a byte of flags, and then what they announce, in this order: label, source, target, source label, target label,
// time. Labels have numbers as in later versions. A time is the difference to the time before.
#include "ingest/service/state/older_updates.hpp"

#include "encoding/updates.hpp"

namespace deltamatch::ingest::log_format {
namespace {

// Flags of an update. The lowest two bits are its kind.
constexpr std::uint8_t kind_bits = 0x03;
constexpr std::uint8_t source_is_text = 0x04;
constexpr std::uint8_t target_is_text = 0x08;
constexpr std::uint8_t has_label = 0x10;
constexpr std::uint8_t has_source_label = 0x20;
constexpr std::uint8_t has_target_label = 0x40;
constexpr std::uint8_t has_time = 0x80;

class UpdateReader {
 public:
  explicit UpdateReader(encoding::ByteReader& in) : in_(&in) {}

  Update get() {
    const std::uint8_t flags = in_->byte();
    Update update;
    update.kind = static_cast<UpdateKind>(flags & kind_bits);
    const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
    if (!edge && (flags & (target_is_text | has_label | has_target_label)) != 0) in_->fail();
    if ((flags & has_label) != 0) update.label = labels_.take(*in_);
    update.source = id((flags & source_is_text) != 0);
    if (edge) update.target = id((flags & target_is_text) != 0);
    if ((flags & has_source_label) != 0) update.source_label = labels_.take(*in_);
    if ((flags & has_target_label) != 0) update.target_label = labels_.take(*in_);
    if ((flags & has_time) != 0) update.time = last_time_ = encoding::advance(last_time_, in_->signed_number());
    return update;
  }

 private:
  Id id(bool text) { return text ? Id(in_->text()) : Id(in_->signed_number()); }

  encoding::ByteReader* in_;
  encoding::TextsByFirstUse labels_;
  Timestamp last_time_ = 0;
};

}  // namespace

bool read_older_updates(encoding::ByteReader& in, std::uint64_t count, const std::function<void(const Update&)>& take) {
  UpdateReader reader(in);
  for (; count > 0 && in.sound(); --count) {
    const Update update = reader.get();
    if (in.sound()) take(update);
  }
  return in.sound();
}

}  // namespace deltamatch::ingest::log_format
