#include "ingest/codec/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t most_samples = 2048;
constexpr std::size_t most_ids = std::size_t{1} << 17;

constexpr double second = 1e6;
constexpr double year = 365.2425 * 86400 * second;
constexpr double since_1990 = 631'152'000 * second;
constexpr double until_2100 = 4'102'444'800 * second;
constexpr double longest_span = 100 * year;

struct Unit {
  std::string_view option;  // of --time-unit; empty: it has none
  std::string_view name;
  double micros;
};
constexpr std::array<Unit, 4> units = {
    {{"s", "seconds", 1e6}, {"ms", "milliseconds", 1e3}, {"us", "microseconds", 1}, {"", "nanoseconds", 1e-3}}};

bool plausible(double micros) noexcept { return micros >= since_1990 && micros < until_2100; }

int year_of(double micros) { return static_cast<int>(1970 + std::floor(micros / year)); }

std::string span_text(double micros) {
  const std::array<std::pair<double, std::string_view>, 5> steps = {
      {{year, "years"}, {86400 * second, "days"}, {3600 * second, "hours"}, {second, "seconds"}, {1, "microseconds"}}};
  const auto* const step =
      std::find_if(steps.begin(), steps.end() - 1, [&](const auto& each) { return micros >= 2 * each.first; });
  return fmt::format("{:.4g} {}", micros / step->first, step->second);
}

}  // namespace

std::string to_string(const Warning& warning) {
  std::string text = warning.where.empty() ? warning.what : fmt::format("{}: {}", warning.where, warning.what);
  if (warning.count > 1) text += fmt::format(" ({} in all)", warning.count);
  if (!warning.remedy.empty()) text += "; " + warning.remedy;
  return text;
}

std::string OptionSpelling::operator()(std::string_view option, std::string_view value) const {
  if (!in_configuration) return fmt::format("--{}{} {}", prefix, option, value);
  std::string key(option);
  std::ranges::replace(key, '-', '_');
  if (option == "header") return fmt::format("header: {}", value == "yes");
  if (option != "columns") return fmt::format("{}: {}", key, value);
  if (value.find('=') == std::string_view::npos) return fmt::format("columns: [{}]", value);
  std::string names(value);
  for (const auto& [from, to] : {std::pair{"=", ": "}, std::pair{",", ", "}}) {
    for (std::size_t at = 0; (at = names.find(from, at)) != std::string::npos; at += 2) names.replace(at, 1, to);
  }
  return fmt::format("columns: {{{}}}", names);
}

/// The integers seen as numbers (0) and as texts (1).
struct Doubts::Ids {
  struct Side {
    boost::unordered_flat_set<std::int64_t> seen;
    std::size_t left = most_ids;  // how many more are remembered
  };
  std::array<Side, 2> sides;
};

OptionSpelling spelling_of(const CodecOptions& options) {
  return options.doubts == nullptr ? OptionSpelling() : options.doubts->spelling();
}

Doubts::Doubts(OptionSpelling spelling) : spelling_(std::move(spelling)) {}
Doubts::~Doubts() = default;
Doubts::Doubts(Doubts&&) noexcept = default;
Doubts& Doubts::operator=(Doubts&&) noexcept = default;

void Doubts::report_at(Position position, std::string_view code, std::string_view what, std::string_view remedy) {
  const auto known = std::ranges::find(told_, code, &Doubt::code);
  if (known != told_.end()) {
    ++known->count;
  } else {
    told_.push_back({std::string(code), position, std::string(what), std::string(remedy)});
  }
}

/// Keeps every stride-th time. When there are too many, drops every second one and doubles the stride. So the sample is spread
/// over the whole input, and a short input is kept whole. The steps vary, because times of two kinds may take turns.
void Doubts::sample(Timestamp time, bool fraction) {
  std::vector<Times::Sample>& kept = times_.samples;
  if (kept.size() == most_samples) {
    for (std::size_t i = 0; i < kept.size() / 2; ++i) kept[i] = kept[2 * i];
    kept.resize(kept.size() / 2);
    times_.stride *= 2;
  }
  kept.push_back({time, fraction, now_});
  constexpr std::uint64_t mixer = 0x9e37'79b9'7f4a'7c15;  // of Fibonacci hashing
  until_sample_ = 1 + (times_.count * mixer >> 32) % (2 * times_.stride - 1);
}

void Doubts::watch_ids() {
  if (!ids_) ids_ = std::make_unique<Ids>();
}

void Doubts::see(const Update& update) {
  see_id(update.source);
  const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
  if (edge) see_id(update.target);
}

void Doubts::see_id(const Id& id) {
  Id number = id;
  if (id.is_text() && (parse_id(id.text(), IdKind::automatic, number) != IdFault::none || number.is_text())) return;
  Ids::Side& own = ids_->sides[id.is_text() ? 1 : 0];
  const Ids::Side& other = ids_->sides[id.is_text() ? 0 : 1];
  if (!other.seen.empty() && other.seen.contains(number.number())) [[unlikely]] {
    tell("ids_of_two_kinds",
         fmt::format("the id {0} occurs as the text \"{0}\" and as the number {0}, which are two vertices", number.number()),
         remedy_of_ids());
  }
  if (own.left != 0) {
    --own.left;
    own.seen.insert(number.number());
  }
  numbers_are_known_ = ids_->sides[0].left == 0 && ids_->sides[1].seen.empty();
}

std::string Doubts::remedy_of_ids() const {
  return fmt::format("{} reads both as one text, {} as one number", spelling_.common("ids", "string"),
                     spelling_.common("ids", "integer"));
}

std::optional<std::int64_t> Doubts::text_and_number(const Doubts& texts, const Doubts& numbers) {
  if (!texts.ids_ || !numbers.ids_) return std::nullopt;
  std::optional<std::int64_t> least;  // the first one would depend on how they are stored
  for (const std::int64_t id : texts.ids_->sides[1].seen) {
    if (numbers.ids_->sides[0].seen.contains(id) && (!least || id < *least)) least = id;
  }
  return least;
}

std::optional<Doubts::Doubt> Doubts::about_times(Timestamp window) const {
  if (!unit_ || times_.count == 0) return std::nullopt;
  std::vector<Timestamp> sorted;
  std::size_t fractions = 0;
  std::size_t descents = 0;
  for (const Times::Sample& sample : times_.samples) {
    fractions += sample.fraction ? 1 : 0;
    descents += !sorted.empty() && sample.time < sorted.back() ? 1 : 0;
    sorted.push_back(sample.time);
  }
  const auto [least, largest] = std::ranges::minmax(sorted);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const Unit& read_as = units[static_cast<std::size_t>(*unit_)];
  const auto median = static_cast<double>(*middle);
  if (std::optional<Doubt> mixed = about_mixed_times(*middle)) return mixed;
  if (plausible(median)) return std::nullopt;

  Doubt doubt{"time_unit", times_.samples.front().at, {}, {}, times_.count};
  const auto in = [&](const Unit& unit) { return median / read_as.micros * unit.micros; };
  const auto* const fits = std::ranges::find_if(units, [&](const Unit& unit) { return plausible(in(unit)); });
  const std::string keep = fmt::format("{} says that they are {}", spelling_("time-unit", read_as.option), read_as.name);
  if (fits != units.end()) {
    doubt.what = fmt::format("times are read as {} and lie about the year {}; as {} they would lie about {}", read_as.name,
                             year_of(median), fits->name, year_of(in(*fits)));
    doubt.remedy = fits->option.empty() ? fmt::format("no time unit reads {}: divide them by 1000, and give {}; {}", fits->name,
                                                      spelling_("time-unit", "us"), keep)
                                        : fmt::format("{} reads them so; {}", spelling_("time-unit", fits->option), keep);
    return doubt;
  }
  const bool unordered = descents * 10 >= sorted.size();
  const bool constant = sorted.size() > 1 && least == largest;
  if (guessed_column_ != 0 && (fractions != 0 || least < 0 || unordered || constant)) {
    const bool third = guessed_column_ == 3;
    doubt.code = "weight_as_time";
    doubt.what = fmt::format("column {} is read as times, but its numbers are small, fractional or in no order, as weights are",
                             guessed_column_);
    doubt.remedy = fmt::format("{} leaves it out, {} says that it is a time",
                               spelling_("columns", third ? "source,target,-" : "source,target,label,-"),
                               spelling_("columns", third ? "source,target,time" : "source,target,label,time"));
    return doubt;
  }
  const double span = static_cast<double>(largest) - static_cast<double>(least);
  if (median >= until_2100 || span > longest_span || plausible(static_cast<double>(largest))) {
    doubt.what =
        fmt::format("times are read as {}, lie about the year {} and span {}", read_as.name, year_of(median), span_text(span));
  } else if (window > 0 && static_cast<double>(window) < longest_span && span < static_cast<double>(window)) {
    doubt.what = fmt::format(
        "times are read as {} and lie about the year {}, but span {}, less than the window of {}, so no edge leaves it",
        read_as.name, year_of(median), span_text(span), span_text(static_cast<double>(window)));
  } else {
    return std::nullopt;
  }
  doubt.remedy = fmt::format("set the unit (s, ms or us; others must be converted); {}", keep);
  return doubt;
}

/// Reports times of two units. Most are plausible in one unit; others are so only in another unit, or are 0.
std::optional<Doubts::Doubt> Doubts::about_mixed_times(Timestamp median) const {
  const Unit& read_as = units[static_cast<std::size_t>(*unit_)];
  const auto in = [&](Timestamp time, const Unit& unit) { return static_cast<double>(time) / read_as.micros * unit.micros; };
  const auto fits = [&](Timestamp time, const Unit& unit) { return plausible(in(time, unit)); };
  const Unit* most = &read_as;  // the unit of most of them
  if (!fits(median, *most)) most = std::ranges::find_if(units, [&](const Unit& unit) { return fits(median, unit); });
  if (most == units.end()) return std::nullopt;
  struct Part {
    std::uint64_t count = 0;
    Position first;
    void add(const Times::Sample& sample) {
      if (count++ == 0) first = sample.at;
    }
  };
  Part zeros;
  std::array<Part, units.size()> others;
  for (const Times::Sample& sample : times_.samples) {
    if (sample.time == 0) zeros.add(sample);
    for (std::size_t unit = 0; unit < units.size() && sample.time != 0 && !fits(sample.time, *most); ++unit) {
      if (fits(sample.time, units[unit])) others[unit].add(sample);
    }
  }
  const auto* const other = std::ranges::max_element(others, {}, &Part::count);
  const auto is_much = [&](const Part& part) { return part.count > 1 && part.count * 100 >= times_.samples.size(); };
  const bool of_units = is_much(*other);
  if (!of_units && !is_much(zeros)) return std::nullopt;
  const Part& told = of_units ? *other : zeros;
  const std::string lie = fmt::format("most times lie about the year {} as {}, but {} of {} that were looked at",
                                      year_of(in(median, *most)), most->name, told.count, times_.samples.size());
  const std::string keep = fmt::format("{} says that all are {}", spelling_("time-unit", read_as.option), read_as.name);
  Doubt doubt{"mixed_times", told.first, {}, {}, told.count * times_.count / times_.samples.size()};
  if (of_units) {
    const Unit& unit = units[static_cast<std::size_t>(other - others.begin())];
    doubt.what = fmt::format("{} do so as {}, while all are read as {}", lie, unit.name, read_as.name);
    doubt.remedy = fmt::format("convert them to one unit; {}", keep);
  } else {
    doubt.what = fmt::format("{} are 0, the beginning of 1970", lie);
    doubt.remedy = fmt::format("give these records their times, or leave them out; {}", keep);
  }
  return doubt;
}

/// Under a window such records are refused.
std::optional<Doubts::Doubt> Doubts::about_empty_times(Timestamp window) const {
  constexpr std::uint64_t many = 10;  // one in so many
  const auto& [timed, untimed, first] = edges_;
  if (window != 0 || timed == 0 || untimed < 2 || untimed <= (timed + untimed) / many) return std::nullopt;
  return Doubt{"empty_times", first,
               fmt::format("{} of {} edges are inserted without a time, the others with one", untimed, timed + untimed),
               "give these records their times; under a window they are refused", untimed};
}

std::vector<Doubts::Doubt> Doubts::fresh(Timestamp window) {
  std::vector<Doubt> doubts(told_.begin() + static_cast<std::ptrdiff_t>(given_), told_.end());
  given_ = told_.size();
  if (times_given_ || times_.count < judged_at_) return doubts;
  judged_at_ = 2 * times_.count;
  if (std::optional<Doubt> times = about_times(window)) {
    times_given_ = true;
    doubts.push_back(std::move(*times));
  }
  return doubts;
}

std::vector<Doubts::Doubt> Doubts::all(Timestamp window) const {
  std::vector<Doubt> doubts = told_;
  if (std::optional<Doubt> times = about_times(window)) doubts.push_back(std::move(*times));
  if (std::optional<Doubt> empty = about_empty_times(window)) doubts.push_back(std::move(*empty));
  std::ranges::stable_sort(doubts, {}, [](const Doubt& doubt) { return doubt.at.number; });
  return doubts;
}

}  // namespace deltamatch::ingest
