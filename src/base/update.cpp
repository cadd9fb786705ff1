// Batches of updates. Text is stored in chunks that never move, so views stay valid while the batch grows or is moved.
#include "deltamatch/update.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

namespace deltamatch {

std::string_view reject_name(RejectReason reason) noexcept {
  static constexpr std::array<std::string_view, reject_reason_count> names = {
      "malformed",      "wrong_arity",  "bad_id",      "bad_time",    "bad_operation", "too_long",
      "label_conflict", "missing_time", "label_limit", "missing_key", "bad_value"};
  const auto index = static_cast<std::size_t>(reason);
  return index < names.size() ? names[index] : std::string_view("unknown");
}

RecordBounds record_around(std::span<const Update> updates, std::size_t index) noexcept {
  RecordBounds bounds{index, index + 1};
  while (bounds.first > 0 && updates[bounds.first].continues) --bounds.first;
  while (bounds.last < updates.size() && updates[bounds.last].continues) ++bounds.last;
  return bounds;
}

/// A bump allocator over a list of chunks. `reset` starts over in the first chunk and keeps all of them.
class UpdateBatch::Text {
 public:
  /// Returns room for `size` bytes, valid until reset. Strong exception guarantee.
  char* take(std::size_t size) {
    while (static_cast<std::size_t>(end_ - next_) < size) advance(size);
    char* place = next_;
    next_ += size;
    return place;
  }

  void reset() noexcept {
    steps.reset();
    used_ = 0;
    next_ = end_ = nullptr;
  }

  std::optional<std::vector<WatermarkStep>> steps;

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::size_t size;
  };
  static constexpr std::size_t chunk_size = std::size_t{1} << 16;

  void advance(std::size_t size) {
    if (used_ == chunks_.size()) {
      const std::size_t bytes = std::max(chunk_size, size);
      chunks_.push_back({std::unique_ptr<char[]>(new char[bytes]), bytes});
    }
    const Chunk& chunk = chunks_[used_++];
    next_ = chunk.bytes.get();
    end_ = next_ + chunk.size;
  }

  std::vector<Chunk> chunks_;
  std::size_t used_ = 0;
  char* next_ = nullptr;
  char* end_ = nullptr;
};

UpdateBatch::Edition::Edition() noexcept {
  static std::atomic<std::uint64_t> last{0};
  number = last.fetch_add(1, std::memory_order_relaxed) + 1;
}

UpdateBatch::UpdateBatch() = default;
UpdateBatch::~UpdateBatch() = default;
UpdateBatch::UpdateBatch(UpdateBatch&& other) noexcept = default;
UpdateBatch& UpdateBatch::operator=(UpdateBatch&& other) noexcept = default;

namespace {

std::size_t text_size(const Update& update) noexcept {
  std::size_t size = update.label.size();
  if (update.source.is_text()) size += update.source.text().size();
  if (update.target.is_text()) size += update.target.text().size();
  if (update.source_label) size += update.source_label->size();
  if (update.target_label) size += update.target_label->size();
  return size;
}

/// The bytes that the properties take, with the gap in front of them.
std::size_t properties_size(const Properties& properties) noexcept {
  std::size_t size = alignof(Properties) - 1 + sizeof(Properties) + properties.attributes.size_bytes();
  if (properties.key && properties.key->is_text()) size += properties.key->text().size();
  for (const AttributeValue& value : properties.attributes) {
    if (const auto* text = std::get_if<std::string_view>(&value)) size += text->size();
  }
  return size;
}

std::string_view copy(std::string_view text, char*& place) noexcept {
  if (text.empty()) return "";  // not null
  std::memcpy(place, text.data(), text.size());
  const std::string_view copied(place, text.size());
  place += text.size();
  return copied;
}

/// Copies the properties to `place`, which has room for properties_size bytes.
const Properties* copy(const Properties& properties, char* place) noexcept {
  static_assert(std::is_trivially_copyable_v<AttributeValue> && std::is_trivially_destructible_v<Properties>);
  static_assert(sizeof(Properties) % alignof(AttributeValue) == 0 && alignof(AttributeValue) <= alignof(Properties));
  const auto address = reinterpret_cast<std::uintptr_t>(place);
  place += (alignof(Properties) - address % alignof(Properties)) % alignof(Properties);
  auto* copied = new (place) Properties(properties);
  place += sizeof(Properties);
  auto* values = reinterpret_cast<AttributeValue*>(place);
  std::uninitialized_copy(properties.attributes.begin(), properties.attributes.end(), values);
  place += properties.attributes.size_bytes();
  copied->attributes = {values, properties.attributes.size()};
  if (copied->key && copied->key->is_text()) copied->key = Id(copy(copied->key->text(), place));
  for (std::size_t i = 0; i < copied->attributes.size(); ++i) {
    if (auto* text = std::get_if<std::string_view>(&values[i])) *text = copy(*text, place);
  }
  return copied;
}

}  // namespace

void UpdateBatch::add(const Update& update) {
  const std::size_t size = text_size(update) + (update.properties != nullptr ? properties_size(*update.properties) : 0);
  char* place = nullptr;
  if (size != 0) {
    if (!text_) text_ = std::make_unique<Text>();
    place = text_->take(size);
  }
  // If this push throws, the text taken above is lost until the next clear; nothing refers to it. `update` is not read after
  // the push, because it may have been an element of this batch.
  Update& copied = updates_.emplace_back(update);
  if (copied.source.is_text()) copied.source = Id(copy(copied.source.text(), place));
  if (copied.target.is_text()) copied.target = Id(copy(copied.target.text(), place));
  copied.label = copy(copied.label, place);
  if (copied.source_label) copied.source_label = copy(*copied.source_label, place);
  if (copied.target_label) copied.target_label = copy(*copied.target_label, place);
  if (copied.properties != nullptr) copied.properties = copy(*copied.properties, place);
}

void UpdateBatch::set_steps(std::vector<WatermarkStep> steps) {
  if (!text_) text_ = std::make_unique<Text>();
  text_->steps = std::move(steps);
}

std::optional<std::span<const WatermarkStep>> UpdateBatch::steps() const noexcept {
  if (!text_ || !text_->steps) return std::nullopt;
  return std::span<const WatermarkStep>(*text_->steps);
}

void UpdateBatch::drop_first(std::size_t count) noexcept {
  dropped_.count += std::min(count, size());
  edition_ = Edition();
  if (!text_ || !text_->steps) return;
  std::erase_if(*text_->steps, [&](const WatermarkStep& step) { return step.first < count; });
  for (WatermarkStep& step : *text_->steps) step.first -= count;
}

void UpdateBatch::clear() noexcept {
  updates_.clear();
  dropped_ = {};
  edition_ = Edition();
  watermark_.reset();
  sets_watermark_ = false;
  if (text_) text_->reset();
}

}  // namespace deltamatch
