// Payments with keys and amounts: prints each ring in which every payment is smaller and later than the one before it. If a
// payment is recalled, its rings vanish.
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <variant>

#include "deltamatch/engine.hpp"
#include "deltamatch/misfit.hpp"

namespace {

using namespace deltamatch;

constexpr Timestamp hour = 3'600'000'000;  // microseconds

/// A key makes an edge, and each payment has an amount in cents.
Schema payments() {
  return {.model = EdgeModel::keyed,
          .edges = {{.name = "amount", .type = {.kind = AttributeType::Kind::decimal, .scale = 2}},
                    {.name = "channel", .type = {.kind = AttributeType::Kind::symbol}}}};
}

struct Payment {
  std::string_view key;
  std::string_view from;
  std::string_view to;
  AttributeValue amount;  // a decimal at its scale: 1250 is 12.50
  Timestamp time;
};

void pay(UpdateBatch& batch, const Payment& payment) {
  const std::array<AttributeValue, 2> values{payment.amount, "app"};  // one for each of Schema::edges, in its order
  const Properties properties{.key = payment.key, .attributes = values};
  batch.add({.source = payment.from,
             .target = payment.to,
             .label = "PAYS",
             .time = payment.time,
             .properties = &properties});  // add copies all that the update points to
}

void recall(UpdateBatch& batch, std::string_view key) {
  const Properties properties{.key = key};
  batch.add({.kind = UpdateKind::delete_edge, .by_key = true, .properties = &properties});
}

/// As many digits behind the point as the scale of `amount` says.
std::string amount_text(const AttributeValue& value) {
  const auto* cents = std::get_if<std::int64_t>(&value);
  if (cents == nullptr) return "?";  // NULL: the payment states no amount
  std::string text = std::to_string(*cents);
  if (text.size() < 3) text.insert(0, 3 - text.size(), '0');
  return text.insert(text.size() - 2, ".");
}

class Printer final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override { text_.clear(); }
  void write(const Match& match) override {
    text_ += match.added ? '+' : '-';
    for (const MatchedEdge& edge : match.edges) {
      text_ += " " + to_string(edge.source) + " -" + (edge.key ? to_string(*edge.key) : "") + " " +
               amount_text(edge.attributes[0]) + "->";
    }
    text_ += '\n';
  }
  void commit() override { std::fputs(text_.c_str(), stdout); }
  void abort() noexcept override { text_.clear(); }

 private:
  std::string text_;
};

/// Processes a batch, and says which records of it were left out.
void process(Engine& engine, const UpdateBatch& batch, MatchSink& sink) {
  const BatchResult result = engine.process(batch, OnReject::skip, &sink);
  for (const Reject& reject : result.rejects) {
    const auto misfit = find_misfit(engine.options().schema, batch.updates()[reject.index]);
    std::printf("update %zu: %s %s\n", reject.index, std::string(reject_name(reject.reason)).c_str(),
                misfit ? misfit->message.c_str() : "");
  }
}

}  // namespace

int main() {
  Engine engine({.schema = payments()});
  engine.add_query(
      parse_pattern("(a)-[t:PAYS WHERE t.time > prev(t).time AND t.amount < prev(t).amount]->{3,5}(a) WITHIN 24h", "ring"),
      {.list = true});
  Printer printer;
  UpdateBatch batch;
  pay(batch, {.key = "p1", .from = "ann", .to = "bob", .amount = std::int64_t{1250}, .time = 1 * hour});
  pay(batch, {.key = "p2", .from = "bob", .to = "cy", .amount = std::int64_t{1200}, .time = 2 * hour});
  pay(batch, {.key = "p3", .from = "bob", .to = "dan", .amount = 11.5, .time = 2 * hour});  // not an integer
  pay(batch, {.key = "p4", .from = "cy", .to = "ann", .amount = std::int64_t{1150}, .time = 3 * hour});
  process(engine, batch, printer);  // + ann -p1 12.50-> bob -p2 12.00-> cy -p4 11.50->

  batch.clear();
  recall(batch, "p2");
  process(engine, batch, printer);  // - ann -p1 12.50-> bob -p2 12.00-> cy -p4 11.50->
}
