#include "ingest/codec/size_line.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {

std::optional<SizeLine> SizeLine::of(std::string_view line, std::uint64_t number) {
  constexpr std::string_view separators = " \t,;";
  std::array<std::int64_t, 3> numbers{};
  std::size_t count = 0;
  for (std::size_t at = line.find_first_not_of(separators); at < line.size(); at = line.find_first_not_of(separators, at)) {
    const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
    std::int64_t value = 0;
    if (count == numbers.size() || parse_integer(line.substr(at, end - at), value) != NumberFault::none || value < 1)
      return std::nullopt;
    numbers[count++] = value;
    at = end;
  }
  if (count < 2) return std::nullopt;
  SizeLine sizes;
  sizes.text_ = line;
  sizes.line_ = number;
  sizes.first_ = numbers[0];
  sizes.second_ = numbers[1];
  if (count == 3) sizes.third_ = numbers[2];
  return sizes;
}

bool SizeLine::see(const Update& update, std::uint64_t number) noexcept {
  if (update.kind != UpdateKind::insert_edge || update.source.is_text() || update.target.is_text()) return false;
  const auto [less, more] = std::minmax({update.source.number(), update.target.number()});
  if (number == line_) {
    read_ = update.source.number() == first_ && update.target.number() == second_;
    return read_;
  }
  if (++records_ == 1) continues_ = update.source == Id(first_) || update.source == Id(second_);
  for (const std::int64_t id : {less, more}) {
    if (id >= 0 && id <= many) seen_.set(static_cast<std::size_t>(id));
  }
  least_ = std::min(least_, less);
  largest_ = std::max(largest_, more);
  // If three numbers are sizes, the second one may be the number of vertices.
  return least_ >= 0 && largest_ <= (third_ ? std::max(first_, second_) : first_);
}

bool SizeLine::all_occur(std::int64_t vertices) const noexcept {
  if (vertices < fewest || vertices > many) return false;
  for (std::int64_t id = least_ >= 1 ? 1 : 0; id < vertices + (least_ >= 1 ? 1 : 0); ++id) {
    if (!seen_.test(static_cast<std::size_t>(id))) return false;
  }
  return true;
}

/// Whether the line states how many records follow, and no record has an id beyond the number of vertices. An edge of a small
/// graph may do so by accident. Then all vertices must occur, and the next record must not go on where this one ends.
bool SizeLine::states_count() const noexcept {
  const auto fits = [&](std::int64_t vertices, std::int64_t count) {
    const bool within = least_ >= 1 ? largest_ <= vertices : largest_ < vertices;
    if (records_ != count || !within) return false;
    const bool strange = count > largest_ || (!continues_ && (largest_ < vertices || vertices >= many));
    return (strange && records_ >= fewest) || (all_occur(vertices) && !continues_);
  };
  if (fits(first_, second_)) return true;
  return third_ && fits(std::max(first_, second_), *third_) && (first_ == second_ || *third_ > largest_);
}

std::optional<Doubts::Doubt> SizeLine::doubt() const {
  if (!read_ || records_ < 2 || !states_count()) return std::nullopt;
  return Doubts::Doubt{"sizes_as_edge",
                       {line_, 0},
                       fmt::format("{} is read as an edge, but {} records with ids from {} to {} follow: it may state sizes",
                                   in_ticks(text_), records_, least_, largest_),
                       fmt::format("leave the line out if it does: sed {}d FILE", line_)};
}

}  // namespace deltamatch::ingest
