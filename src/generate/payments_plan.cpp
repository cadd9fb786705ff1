#include "generate/payments_plan.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <tuple>

#include "deltamatch/error.hpp"

namespace deltamatch::generate {
namespace {

constexpr Timestamp day = 86'400LL * 1'000'000;

struct Step {
  Flow flow;
  std::uint8_t source;  // index into the pattern's vertices
  std::uint8_t target;
};

// The shape of a pattern: its accounts, whether a cash machine follows them, and its payments in order of time. Accounts
// [first, last) are interchangeable. (`ring` marks a ring, whose rotations are equivalent.)
struct Shape {
  std::string_view name;
  std::uint8_t accounts;
  bool cash;
  bool ring;
  std::uint8_t alike_first;
  std::uint8_t alike_last;
  std::uint8_t open;  // this many of the first accounts receive background transfers
  std::vector<Step> steps;
};

const std::array<Shape, planted_kind_count>& shapes() {
  using enum Flow;
  static const std::array<Shape, planted_kind_count> table = {{
      {"ring3", 3, false, true, 0, 0, 3, {{transfer, 0, 1}, {transfer, 1, 2}, {transfer, 2, 0}}},
      {"ring4", 4, false, true, 0, 0, 4, {{transfer, 0, 1}, {transfer, 1, 2}, {transfer, 2, 3}, {transfer, 3, 0}}},
      {"ring5",
       5,
       false,
       true,
       0,
       0,
       5,
       {{transfer, 0, 1}, {transfer, 1, 2}, {transfer, 2, 3}, {transfer, 3, 4}, {transfer, 4, 0}}},
      {"scatter_gather",
       5,
       true,
       false,
       1,
       4,
       0,
       {{transfer, 0, 1},
        {transfer, 0, 2},
        {transfer, 0, 3},
        {transfer, 1, 4},
        {transfer, 2, 4},
        {transfer, 3, 4},
        {cash_out, 4, 5}}},
      {"fan_in",
       5,
       true,
       false,
       1,
       5,
       0,
       {{transfer, 1, 0}, {transfer, 2, 0}, {transfer, 3, 0}, {transfer, 4, 0}, {cash_out, 0, 5}}},
      {"chain", 4, true, false, 0, 0, 1, {{transfer, 0, 1}, {transfer, 1, 2}, {transfer, 2, 3}, {cash_out, 3, 4}}},
  }};
  return table;
}

std::uint64_t mules_needed(const PaymentsOptions& options) {
  std::uint64_t sum = 0;
  for (std::size_t kind = 0; kind < planted_kind_count; ++kind)
    sum += std::uint64_t{options.planted[kind]} * shapes()[kind].accounts;
  return sum;
}

// Shuffles the account numbers. Otherwise they would depend on activity, because activity falls with the place in the lists.
// Transfers go from lower to higher numbers.
Cast make_cast(const PaymentsOptions& options, Random& random) {
  std::vector<std::uint32_t> numbers(options.accounts);
  std::iota(numbers.begin(), numbers.end(), 0U);
  random.shuffle(std::span(numbers));
  const auto mules = numbers.begin() + static_cast<std::ptrdiff_t>(mules_needed(options));
  const auto spenders = mules + (numbers.end() - mules) / 2;
  return {{mules, spenders}, {spenders, numbers.end()}, {numbers.begin(), mules}, {}};
}

// Plants one pattern: its payments within planted_span, then perhaps repeats or a charge-back, which decide its end.
class Planter {
 public:
  Planter(const PaymentsOptions& options, Random& random, PaymentsPlan& plan)
      : options_(options), random_(random), plan_(plan), namer_(options), next_mule_(plan.cast.mules.begin()) {}

  void plant(PlantedKind kind) {
    const Shape& shape = shapes()[static_cast<std::size_t>(kind)];
    std::vector<Node> nodes;
    for (unsigned i = 0; i < shape.accounts; ++i) nodes.push_back({Party::account, *next_mule_++});
    if (shape.cash) nodes.push_back({Party::atm, static_cast<std::uint32_t>(random_.below(options_.atms))});
    for (unsigned i = 0; i < shape.open; ++i) plan_.cast.open_mules.push_back(nodes[i].number);

    PlantedPattern pattern;
    pattern.kind = kind;
    std::vector<Timestamp> last = insert_all(shape, nodes);
    pattern.closes = last.back();
    const double fate = static_cast<double>(random_.below(1U << 30)) / (1U << 30);
    if (fate < options_.recalled) {
      recall(shape, nodes, pattern);
    } else if (fate < options_.recalled + options_.repeated) {
      repeat(shape, nodes, pattern.closes, last);
    }
    if (pattern.end != PlantedEnd::recalled) {
      pattern.end = PlantedEnd::expired;
      pattern.vanishes = options_.window == 0 ? PaymentsPlan::max_time : *std::ranges::min_element(last) + options_.window;
    }
    make_least(shape, nodes);
    for (const Node& node : nodes) pattern.vertices.push_back(namer_.text(node));
    plan_.patterns.push_back(std::move(pattern));
  }

 private:
  void add(const Shape& shape, const std::vector<Node>& nodes, std::size_t step, Timestamp time, bool insert) {
    const auto& [flow, source, target] = shape.steps[step];
    plan_.records.push_back({time, insert, flow, nodes[source], nodes[target], 500'000 + random_.below(500'000)});
  }

  std::vector<Timestamp> insert_all(const Shape& shape, const std::vector<Node>& nodes) {
    const auto gap = static_cast<std::uint64_t>(options_.planted_span) / shape.steps.size();
    Timestamp time = options_.start + static_cast<Timestamp>(
                                          random_.below(static_cast<std::uint64_t>(options_.duration - options_.planted_span)));
    std::vector<Timestamp> times;
    for (std::size_t step = 0; step < shape.steps.size(); ++step) {
      time += 1 + static_cast<Timestamp>(random_.below(gap));
      add(shape, nodes, step, time, true);
      times.push_back(time);
    }
    return times;
  }

  // A time between 1/8 and 3/8 of the window after the closing: later than a batch's span and earlier than any expiry.
  Timestamp later(Timestamp closes) {
    const Timestamp life = options_.window == 0 ? day : options_.window;
    return closes + life / 8 + static_cast<Timestamp>(random_.below(static_cast<std::uint64_t>(life / 4)));
  }
  [[nodiscard]] bool within(Timestamp time) const { return time <= options_.start + options_.duration; }

  void recall(const Shape& shape, const std::vector<Node>& nodes, PlantedPattern& pattern) {
    const Timestamp time = later(pattern.closes);
    const std::size_t step = random_.below(shape.steps.size());
    if (!within(time)) return;
    add(shape, nodes, step, time, false);
    pattern.vanishes = time;
    pattern.end = PlantedEnd::recalled;
  }

  void repeat(const Shape& shape, const std::vector<Node>& nodes, Timestamp closes, std::vector<Timestamp>& last) {
    for (std::size_t step = 0; step < shape.steps.size(); ++step) {
      const Timestamp time = later(closes);
      if (random_.below(4) == 0 || !within(time)) continue;
      add(shape, nodes, step, time, true);
      last[step] = time;
    }
  }

  void make_least(const Shape& shape, std::vector<Node>& nodes) {
    const auto less = [this](const Node& a, const Node& b) { return namer_.less(a, b); };
    if (shape.ring) std::ranges::rotate(nodes, std::ranges::min_element(nodes, less));
    std::sort(nodes.begin() + shape.alike_first, nodes.begin() + shape.alike_last, less);
  }

  const PaymentsOptions& options_;
  Random& random_;
  PaymentsPlan& plan_;
  Namer namer_;
  std::vector<std::uint32_t>::const_iterator next_mule_;
};

}  // namespace

std::string_view planted_name(PlantedKind kind) noexcept { return shapes()[static_cast<std::size_t>(kind)].name; }

std::string_view label_of(Party party) noexcept {
  constexpr std::array<std::string_view, 3> names = {"Account", "Merchant", "Atm"};
  return names[static_cast<std::size_t>(party)];
}

std::string_view label_of(Flow flow) noexcept {
  constexpr std::array<std::string_view, 5> names = {"TRANSFER", "PAYMENT", "REFUND", "PAYOUT", "CASH_OUT"};
  return names[static_cast<std::size_t>(flow)];
}

Id Namer::operator()(const Node& node, int slot) {
  constexpr std::array<std::string_view, 3> prefixes = {"acct-", "shop-", "atm-"};
  if (options_.ids == IdStyle::number) {
    const std::uint64_t before = node.party == Party::account    ? 0
                                 : node.party == Party::merchant ? options_.accounts
                                                                 : std::uint64_t{options_.accounts} + options_.merchants;
    return static_cast<std::int64_t>(before + node.number);
  }
  const std::string_view prefix = prefixes[static_cast<std::size_t>(node.party)];
  char* const begin = text_[slot];
  char* const digits = std::ranges::copy(prefix, begin).out;
  const char* const end = std::to_chars(digits, begin + sizeof text_[0], node.number).ptr;
  return std::string_view(begin, static_cast<std::size_t>(end - begin));
}

std::string Namer::text(const Node& node) {
  const Id id = (*this)(node);
  return id.is_text() ? std::string(id.text()) : std::to_string(id.number());
}

void validate(const PaymentsOptions& options) {
  const auto require = [](bool holds, std::string_view what, std::string_view remedy) {
    if (!holds) throw Error(ErrorKind::usage, "generate payments", what, remedy);
  };
  const auto is_share = [](double share) { return share >= 0 && share <= 1; };
  constexpr Timestamp most = Timestamp{1} << 60;
  require(options.updates <= std::uint64_t{1} << 40, "there are too many updates", "give at most 2^40");
  require(options.accounts >= 16 && options.accounts <= 1U << 30, "the number of accounts is out of range", "give 16 to 2^30");
  require(options.merchants >= 1 && options.merchants <= 1U << 30, "the number of merchants is out of range", "give 1 to 2^30");
  require(options.atms >= 1 && options.atms <= 1U << 30, "the number of cash machines is out of range", "give 1 to 2^30");
  require(mules_needed(options) <= options.accounts / 2, "planted patterns take more than half of the accounts",
          "plant fewer or raise the accounts");
  require(options.exponent > 2 && options.exponent <= 10, "the exponent is out of range", "give more than 2, at most 10");
  require(is_share(options.charge_backs), "the share of charge-backs is out of range", "give a share from 0 to 1");
  require(is_share(options.recalled) && is_share(options.repeated) && options.recalled + options.repeated <= 1,
          "the shares of recalled and repeated patterns are out of range", "give shares from 0 to 1, at most 1 together");
  require(options.start >= 0 && options.start <= most, "the start is out of range",
          "give microseconds since 1970, at most 2^60");
  require(options.duration >= 1'000 && options.duration <= most / 1024, "the duration is out of range",
          "give 1 ms to 35 years");
  require(options.updates <= static_cast<std::uint64_t>(options.duration), "there are more updates than microseconds",
          "lengthen the duration");
  require(options.window == 0 || (options.window >= 1'000 && options.window <= most / 1024), "the window is out of range",
          "give 0 for none, or 1 ms to 35 years");
  require(options.planted_span >= 16 && options.planted_span < options.duration, "the span of planted patterns is out of range",
          "give 16 us or more, less than the duration");
  require(options.planted_span <= (options.window == 0 ? day : options.window) / 4,
          "the span of planted patterns exceeds a quarter of the window, or of a day if there is no window", "shorten it");
}

PaymentsPlan plan_payments(const PaymentsOptions& options, Random& random) {
  validate(options);
  PaymentsPlan plan;
  plan.cast = make_cast(options, random);
  Planter planter(options, random, plan);
  for (std::size_t kind = 0; kind < planted_kind_count; ++kind) {
    for (std::uint32_t i = 0; i < options.planted[kind]; ++i) planter.plant(static_cast<PlantedKind>(kind));
  }
  // The keys are total. Otherwise libraries would order ties differently, because the sort is unstable.
  std::ranges::sort(plan.records, {},
                    [](const PlantedRecord& r) { return std::tuple(r.time, r.source.number, r.target.number); });
  std::ranges::sort(plan.patterns, {}, [](const PlantedPattern& p) { return std::tie(p.closes, p.vertices); });
  if (options.updates < 2 * plan.records.size())
    throw Error(ErrorKind::usage, "generate payments", "planted patterns take more than half of the updates",
                "plant fewer or raise --records");
  return plan;
}

}  // namespace deltamatch::generate
