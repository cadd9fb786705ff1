#include "ingest/codec/label_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::uint64_t enough = std::uint64_t{1} << 16;
constexpr std::uint64_t compared = 1024;

enum class Kind : std::uint8_t { word, integer, weight, time };

/// A weight has a point, or lies below 0. A time is a date, or a number that lies between 1990 and 2100 in some unit.
Kind kind_of(std::string_view label) noexcept {
  constexpr std::string_view digits = "0123456789";
  if (label.size() >= 10 && label[4] == '-' && label[7] == '-' &&
      label.substr(0, 10).find_first_not_of("0123456789-") == std::string_view::npos)
    return Kind::time;
  const bool negative = label.starts_with('-');
  if (negative) label.remove_prefix(1);
  const std::size_t whole = std::min(label.find_first_not_of(digits), label.size());
  if (whole == 0) return Kind::word;
  std::string_view rest = label.substr(whole);
  const bool fraction = rest.starts_with('.');
  if (fraction) {
    rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of(digits), rest.size()));
  }
  if (!rest.empty()) return Kind::word;
  std::int64_t value = 0;
  if (!negative && parse_integer(label.substr(0, whole), value) == NumberFault::none) {
    constexpr std::int64_t since_1990 = 631'152'000;
    constexpr std::int64_t until_2100 = 4'102'444'800;
    for (const std::int64_t unit : {1LL, 1'000LL, 1'000'000LL, 1'000'000'000LL}) {
      if (value / unit >= since_1990 && value / unit < until_2100) return Kind::time;
    }
  }
  return fraction || negative ? Kind::weight : Kind::integer;
}

}  // namespace

bool LabelNumbers::see(std::string_view label, Position position) {
  if (label.empty()) return true;
  const Kind kind = kind_of(label);
  words_ = kind == Kind::word;
  if (words_) return false;
  if (count_++ == 0) first_ = position;
  if (kind == Kind::time) ++times_;
  if (kind == Kind::weight && weights_++ == 0) first_weight_ = position;
  if (count_ <= compared) different_.emplace(label);
  return count_ < enough;
}

std::optional<Doubts::Doubt> LabelNumbers::doubt(const OptionSpelling& spelling) const {
  constexpr std::uint64_t fewest = 16;
  if (words_ || count_ == 0) return std::nullopt;
  if (times_ == count_) return number_as_label(spelling, first_, "its values lie between 1990 and 2100, as times do", true);
  if (weights_ != 0)
    return number_as_label(spelling, first_weight_, "its values are fractional or negative numbers, as weights are", false);
  if (count_ >= fewest && different_.size() * 2 > std::min(count_, compared))
    return number_as_label(spelling, first_, "its values are numbers and mostly different, as weights are", false);
  return std::nullopt;
}

Doubts::Doubt weight_as_time(const OptionSpelling& spelling, Position position, std::size_t column, std::string_view as) {
  const bool third = column == 3;
  return {"weight_as_time", position, fmt::format("column {} is read as times, but {}", column, as),
          fmt::format("{} leaves it out, {} says that it is a time",
                      spelling("columns", third ? "source,target,-" : "source,target,label,-"),
                      spelling("columns", third ? "source,target,time" : "source,target,label,time"))};
}

Doubts::Doubt number_as_label(const OptionSpelling& spelling, Position position, std::string_view as, bool times) {
  return {"number_as_label", position, fmt::format("column 3 is read as labels, but {}", as),
          fmt::format("{}, {} says that it is the label",
                      times ? fmt::format("{} reads it as the time", spelling("columns", "source,target,time,-"))
                            : fmt::format("{} leaves it out", spelling("columns", "source,target,-,time")),
                      spelling("columns", "source,target,label,time"))};
}

}  // namespace deltamatch::ingest
