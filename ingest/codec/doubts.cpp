#include "ingest/codec/doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/fields.hpp"
#include "ingest/codec/id_doubts.hpp"
#include "ingest/codec/label_numbers.hpp"
#include "ingest/codec/operation_doubts.hpp"
#include "ingest/codec/size_line.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t most_samples = 2048;

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

/// Dates that are written as digits alone.
struct DateDigits {
  std::int64_t parts;  // what stands behind the eight digits of the day: 1, or 10 for each digit
  std::string_view format;
};
constexpr std::array<DateDigits, 3> date_forms = {{{1, "%Y%m%d"}, {10'000, "%Y%m%d%H%M"}, {1'000'000, "%Y%m%d%H%M%S"}}};

/// The form in which a number is a date between 1990 and 2100. Null if there is none.
const DateDigits* date_digits(std::int64_t number) noexcept {
  for (const DateDigits& form : date_forms) {
    const std::int64_t date = number / form.parts;
    const std::int64_t clock = number % form.parts * (1'000'000 / form.parts);
    const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(date / 10'000 % 10'000)),
                                          std::chrono::month(static_cast<unsigned>(date / 100 % 100)),
                                          std::chrono::day(static_cast<unsigned>(date % 100))};
    if (date < 1990'01'01 || date > 2099'12'31 || !day.ok()) continue;
    if (form.parts == 1 || (clock / 10'000 < 24 && clock / 100 % 100 < 60 && clock % 100 < 60)) return &form;
  }
  return nullptr;
}

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

namespace {

/// `time_unit='us'`. Roles of columns are arguments of their own: "source=a,target=b" is `source='a', target='b'`.
std::string spell_keywords(std::string_view option, std::string_view value) {
  const auto argument = [](std::string_view name, std::string_view text) {
    std::string key(name == "edge" ? "key" : name);
    std::ranges::replace(key, '-', '_');
    return text == "none" || text.empty() ? fmt::format("{}={}", key, text.empty() ? "''" : "None")
                                          : fmt::format("{}='{}'", key, text);
  };
  if (option != "columns" || value.find('=') == std::string_view::npos) return argument(option, value);
  std::string text;
  while (!value.empty()) {
    const std::string_view entry = value.substr(0, value.find(','));
    value.remove_prefix(std::min(entry.size() + 1, value.size()));
    const std::size_t sign = std::min(entry.find('='), entry.size() - 1);
    text += (text.empty() ? "" : ", ") + argument(entry.substr(0, sign), entry.substr(sign + 1));
  }
  return text;
}

}  // namespace

std::string OptionSpelling::operator()(std::string_view option, std::string_view value) const {
  if (as_keywords) return spell_keywords(option, value);
  if (!in_configuration) return fmt::format("--{}{} {}", prefix, option, value);
  std::string key(option);
  std::ranges::replace(key, '-', '_');
  if (option == "time-format") return fmt::format("{}: '{}'", key, value);  // a bare text cannot begin with %
  if (option == "header") return fmt::format("header: {}", value == "yes");
  if (option != "columns") return fmt::format("{}: {}", key, value);
  if (value.find('=') == std::string_view::npos) return fmt::format("columns: [{}]", value);
  std::string names(value);
  for (const auto& [from, to] : {std::pair{"=", ": "}, std::pair{",", ", "}}) {
    for (std::size_t at = 0; (at = names.find(from, at)) != std::string::npos; at += 2) names.replace(at, 1, to);
  }
  return fmt::format("columns: {{{}}}", names);
}

OptionSpelling spelling_of(const CodecOptions& options) {
  return options.doubts == nullptr ? OptionSpelling() : options.doubts->spelling();
}

Doubts::Doubts(OptionSpelling spelling) : spelling_(std::move(spelling)) {}
Doubts::~Doubts() = default;
Doubts::Doubts(Doubts&&) noexcept = default;
Doubts& Doubts::operator=(Doubts&&) noexcept = default;

bool Doubts::again(std::string_view code) noexcept {
  const auto known = std::ranges::find(told_, code, &Doubt::code);
  if (known == told_.end()) return false;
  ++known->count;
  return true;
}

void Doubts::report_at(Position position, std::string_view code, std::string_view what, std::string_view remedy) {
  if (!again(code)) told_.push_back({std::string(code), position, std::string(what), std::string(remedy)});
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

bool Doubts::told(std::string_view code) const noexcept { return std::ranges::find(told_, code, &Doubt::code) != told_.end(); }

void Doubts::watch_ids(bool spellings) {
  if (!ids_) ids_ = std::make_unique<IdDoubts>(spellings);
}

void Doubts::see(const Update& update, std::optional<bool> spellings) {
  const auto see = [&](const Id& id) { spellings ? ids_->see(id, *this, *spellings) : ids_->see(id, *this); };
  see(update.source);
  const bool edge = update.kind == UpdateKind::insert_edge || update.kind == UpdateKind::delete_edge;
  if (edge) see(update.target);
  numbers_are_known_ = ids_->numbers_are_known();
}

void Doubts::tell_ids_of_two_kinds(std::int64_t id) {
  tell("ids_of_two_kinds",
       fmt::format("the id {0} occurs as the text \"{0}\" and as the number {0}, which are two vertices", id), remedy_of_ids());
}

void Doubts::watch_sizes(SizeLine line) { sizes_ = std::make_unique<SizeLine>(std::move(line)); }

void Doubts::see_size(const Update& update) {
  if (!sizes_->see(update, now_.number)) sizes_.reset();
}

void Doubts::label_of_third_column(std::string_view label) {
  if (!label_numbers_) label_numbers_ = std::make_unique<LabelNumbers>();
  watches_third_column_ = label_numbers_->see(label, now_);
}

void Doubts::signed_source(std::string_view source, bool target_has_sign) {
  signed_target_ = signed_target_ || target_has_sign;
  minus_ = minus_ || source.front() == '-';
  if (source.front() == '-' || source.size() == 1) return;
  if (plus_) {
    ++plus_->count;
    return;
  }
  plus_ = {"sign_in_id", now_,
           fmt::format("the sign of {} is read as a part of the id, but may say the operation", in_ticks(source)),
           fmt::format("if it does, put a blank behind each sign: sed 's/^[+-]/& /' FILE; {} says that ids have signs",
                       spelling_.common("ids", "string"))};
}

std::optional<Doubts::Doubt> Doubts::about_signs() const { return minus_ && !signed_target_ ? plus_ : std::nullopt; }

void Doubts::begins_with_hash(std::string_view record) {
  if (hashes_) {
    ++hashes_->count;
    return;
  }
  hashes_ = {"comment_as_record", now_,
             fmt::format("{} is read as a record, since this format has no comments", in_ticks(record)),
             fmt::format("leave such lines out if they are comments: grep -v '^#' FILE; {} says that they are records",
                         spelling_.common("ids", "string"))};
}

/// If most records begin so, these are names.
std::optional<Doubts::Doubt> Doubts::about_hashes() const {
  return hashes_ && hashes_->count * 2 <= records_ ? hashes_ : std::nullopt;
}

void Doubts::suspect_at(Position position, std::string_view code, std::string_view what, std::string_view remedy) {
  if (!suspected_again(code)) suspected_.push_back({std::string(code), position, std::string(what), std::string(remedy)});
}

bool Doubts::suspected_again(std::string_view code) noexcept {
  const auto known = std::ranges::find(suspected_, code, &Doubt::code);
  if (known == suspected_.end()) return false;
  ++known->count;
  return true;
}

void Doubts::acquit(std::string_view code) {
  std::erase_if(suspected_, [&](const Doubt& doubt) { return doubt.code == code; });
}

void Doubts::may_be_total(std::string_view what, std::string_view remedy) {
  total_ = {"footer_as_record", now_, std::string(what), std::string(remedy)};
  total_record_ = records_;
}

/// A blank line or a count of rows may follow.
std::optional<Doubts::Doubt> Doubts::about_total() const {
  return total_ && records_ <= total_record_ + 2 && records_ > 1 && !told("footer_as_record") ? total_ : std::nullopt;
}

std::string Doubts::remedy_of_ids() const {
  return fmt::format("{} reads both as one text, {} as one number", spelling_.common("ids", "string"),
                     spelling_.common("ids", "integer"));
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
  if (plausible(median)) return about_zeros(median);
  if (std::optional<Doubt> dates = about_dates()) return dates;

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
  const bool first_is_time = std::ranges::find(suspected_, "time_as_id", &Doubt::code) != suspected_.end();
  if (first_is_time) return std::nullopt;
  const bool unordered = descents * 10 >= sorted.size();
  const bool constant = sorted.size() > 1 && least == largest;
  if (guessed_column_ != 0 && !told("weight_as_time") && (fractions != 0 || least < 0 || unordered || constant)) {
    doubt = weight_as_time(spelling_, times_.samples.front().at, guessed_column_,
                           "its numbers are small, fractional or in no order, as weights are");
    doubt.count = times_.count;
    constexpr std::size_t of_edges = 3;
    const auto is_one = [&](Timestamp time) { return std::abs(static_cast<double>(time)) == read_as.micros; };
    if (guessed_column_ == of_edges && least < 0 && largest > 0 && fractions == 0 && std::ranges::all_of(sorted, is_one)) {
      doubt.remedy += fmt::format("; if 1 inserts and -1 deletes, {} {} read it", spelling_("columns", "source,target,op"),
                                  spell(spelling_, "op-values", "1=+;-1=-"));
    }
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

/// Reports times of two units. Most are plausible in one unit; others are so only in another unit.
std::optional<Doubts::Doubt> Doubts::about_mixed_times(Timestamp median) const {
  const Unit& read_as = units[static_cast<std::size_t>(*unit_)];
  const auto in = [&](Timestamp time, const Unit& unit) { return static_cast<double>(time) / read_as.micros * unit.micros; };
  const auto fits = [&](Timestamp time, const Unit& unit) { return plausible(in(time, unit)); };
  const Unit* most = &read_as;  // the unit of most of them
  if (!fits(median, *most)) most = std::ranges::find_if(units, [&](const Unit& unit) { return fits(median, unit); });
  if (most == units.end()) return std::nullopt;
  std::array<Part, units.size()> others;
  for (const Times::Sample& sample : times_.samples) {
    for (std::size_t unit = 0; unit < units.size() && sample.time != 0 && !fits(sample.time, *most); ++unit) {
      if (fits(sample.time, units[unit]) && others[unit].count++ == 0) others[unit].first = sample.at;
    }
  }
  const auto* const other = std::ranges::max_element(others, {}, &Part::count);
  if (other->count < 2 || other->count * 100 < times_.samples.size()) return std::nullopt;
  const Unit& unit = units[static_cast<std::size_t>(other - others.begin())];
  return Doubt{
      "mixed_times", other->first,
      fmt::format("most times fit year {} as {}; {} of {} sampled fit as {}; all are read as {}", year_of(in(median, *most)),
                  most->name, other->count, times_.samples.size(), unit.name, read_as.name),
      fmt::format("convert them to one unit; {} says that all are {}", spelling_("time-unit", read_as.option), read_as.name),
      other->count * times_.count / times_.samples.size()};
}

/// Reports zeros among plausible times.
std::optional<Doubts::Doubt> Doubts::about_zeros(double median) const {
  if (zeros_.count == 0) return std::nullopt;
  const Unit& read_as = units[static_cast<std::size_t>(*unit_)];
  return Doubt{"mixed_times", zeros_.first,
               fmt::format("most times fit year {} as {}, but {} of {} {} 0, the beginning of 1970", year_of(median),
                           read_as.name, zeros_.count, times_.count, zeros_.count == 1 ? "is" : "are"),
               fmt::format("give these records their times, or leave them out; {} says that all are {}",
                           spelling_("time-unit", read_as.option), read_as.name),
               zeros_.count};
}

/// Reports numbers such as 20240115: dates without separators.
std::optional<Doubts::Doubt> Doubts::about_dates() const {
  const Unit& read_as = units[static_cast<std::size_t>(*unit_)];
  const DateDigits* form = nullptr;
  Timestamp first = 0;
  for (const Times::Sample& sample : times_.samples) {
    if (sample.time == 0) continue;
    const auto unit = static_cast<Timestamp>(read_as.micros);
    const DateDigits* const own = sample.fraction || sample.time % unit != 0 ? nullptr : date_digits(sample.time / unit);
    if (own == nullptr || (form != nullptr && own != form)) return std::nullopt;
    if (form == nullptr) first = sample.time / unit;
    form = own;
  }
  if (form == nullptr) return std::nullopt;
  return Doubt{"date_as_number", times_.samples.front().at,
               fmt::format("times such as `{}` look like dates without separators, but are read as {}", first, read_as.name),
               fmt::format("{} reads them so, {} says that they are {}", spelling_("time-format", form->format),
                           spelling_("time-unit", read_as.option), read_as.name),
               times_.count};
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

void Doubts::see_label(std::string_view column, std::string_view label, std::string_view remedy) {
  if (!operations_) operations_ = std::make_unique<OperationDoubts>();
  watches_labels_ = operations_->see_label(column, label, remedy, now_);
}

void Doubts::suspect_operation(std::string_view column, std::string_view what, std::string_view remedy) {
  if (!operations_) operations_ = std::make_unique<OperationDoubts>();
  operations_->suspect(column, what, remedy, now_);
}

bool Doubts::suspect_again(std::string_view column) { return operations_ && operations_->again(column); }

void Doubts::clear_operation(std::string_view column) {
  if (operations_) operations_->clear(column);
}

std::optional<Doubts::Doubt> Doubts::about_operations() const {
  return operations_ && !told("operation_unread") ? operations_->doubt() : std::nullopt;
}

std::vector<Doubts::Doubt> Doubts::fresh(Timestamp window) {
  std::vector<Doubt> doubts(told_.begin() + static_cast<std::ptrdiff_t>(given_), told_.end());
  given_ = told_.size();
  if (std::optional<Doubt> labels = operations_given_ ? std::nullopt : about_operations()) {
    operations_given_ = true;
    doubts.push_back(std::move(*labels));
  }
  if (std::optional<Doubt> hashes = hashes_given_ ? std::nullopt : about_hashes()) {
    hashes_given_ = true;
    doubts.push_back(std::move(*hashes));
  }
  constexpr std::uint64_t enough = 100;  // edges
  if (std::optional<Doubt> absent = attributes_.given || attributes_.records < enough ? std::nullopt : about_attributes()) {
    attributes_.given = true;
    doubts.push_back(std::move(*absent));
  }
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
  doubts.insert(doubts.end(), suspected_.begin(), suspected_.end());
  if (std::optional<Doubt> times = about_times(window)) doubts.push_back(std::move(*times));
  if (std::optional<Doubt> empty = about_empty_times(window)) doubts.push_back(std::move(*empty));
  if (std::optional<Doubt> labels = about_operations()) doubts.push_back(std::move(*labels));
  if (std::optional<Doubt> hashes = about_hashes()) doubts.push_back(std::move(*hashes));
  if (std::optional<Doubt> absent = about_attributes()) doubts.push_back(std::move(*absent));
  if (std::optional<Doubt> signs = about_signs()) doubts.push_back(std::move(*signs));
  if (std::optional<Doubt> total = about_total()) doubts.push_back(std::move(*total));
  if (std::optional<Doubt> sizes = sizes_ ? sizes_->doubt() : std::nullopt) doubts.push_back(std::move(*sizes));
  const bool numbers = label_numbers_ && !told("number_as_label");
  if (std::optional<Doubt> label = numbers ? label_numbers_->doubt(spelling_) : std::nullopt)
    doubts.push_back(std::move(*label));
  std::ranges::stable_sort(doubts, {}, [](const Doubt& doubt) { return doubt.at.number; });
  return doubts;
}

}  // namespace deltamatch::ingest
