// Prints each ring of payments in a CSV file, with its accounts, amounts and times. In a ring, three accounts pay each other
// within a day. Each payment is as large as the one before it, or at most 10 % smaller.
//
// usage: payments FILE [--vanished]
//
// The file has a payment a line, in order of time, as payments.csv has. For a file of yours, change the places that are marked.
#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "deltamatch/engine.hpp"
#include "deltamatch/value_text.hpp"

namespace {

using namespace deltamatch;

constexpr std::size_t batch_size = 1000;  // payments

// CHANGE 1: the first line of the file, and its columns.
constexpr std::string_view head = "ts,sender,receiver,amount,channel";
enum Column : std::size_t { ts, sender, receiver, amount, channel, columns };

// CHANGE 2: what a payment has beside its accounts and its time. Each line is an edge of its own (EdgeModel::events).
Schema payments() {
  return {.model = EdgeModel::events,
          .edges = {{.name = "amount", .type = {.kind = AttributeType::Kind::decimal, .scale = 2}},
                    {.name = "channel", .type = {.kind = AttributeType::Kind::symbol}}}};
}

// CHANGE 3: what is looked for. prev(t) is the payment before t; the first payment has none, and is not asked about it. `>=`
// takes equal amounts, `>` only smaller ones. All accounts of a match differ, and payments to oneself are left out.
constexpr std::string_view pattern =
    "(a)-[t WHERE t.time > prev(t).time AND prev(t).amount >= t.amount >= 0.9 * prev(t).amount]->{3}(a) WITHIN 24h";

/// Adds the payment of a line, whose fields are not quoted. Returns false if it cannot be read.
bool add(UpdateBatch& batch, std::string_view line) {
  std::vector<std::string_view> fields;
  for (const auto field : std::views::split(line, ',')) fields.emplace_back(field.begin(), field.end());
  if (fields.size() != columns) return false;
  const std::optional<Timestamp> time = parse_time(fields[ts]);
  const std::optional<std::int64_t> cents = parse_decimal(fields[amount], 2);
  if (!time || !cents) return false;
  const std::array<AttributeValue, 2> values{*cents, fields[channel]};  // as in the Schema
  const Properties properties{.attributes = values};
  batch.add({.source = fields[sender], .target = fields[receiver], .time = time, .properties = &properties});
  return true;
}

class Printer final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override { text_.clear(); }
  void write(const Match& match) override {
    text_.append(match.added ? "+ " : "- ").append(match.query);
    // CHANGE 4: what is printed of a payment. `attributes` are those of the Schema, in its order.
    for (const MatchedEdge& edge : match.edges) {
      const auto* cents = std::get_if<std::int64_t>(&edge.attributes[0]);  // null if there is no amount
      text_ += "  " + to_string(edge.source) + " -> " + to_string(edge.target) + " " + (cents ? decimal_text(*cents, 2) : "?") +
               " at " + time_text(edge.time.value_or(0));
    }
    text_ += '\n';
  }
  void commit() override { std::cout << text_; }
  void abort() noexcept override { text_.clear(); }

 private:
  std::string text_;
};

/// Processes a batch and empties it. Under a window, the engine may cut it into several.
void process(Engine& engine, UpdateBatch& batch, Printer& printer) {
  const BatchOptions options{.on_reject = OnReject::skip, .sink = &printer, .record_by_record = true};
  for (bool more = true; more;) {
    const BatchResult result = engine.process(batch, options).value();
    for (const Reject& reject : result.rejects) std::cerr << "refused: " << reject_name(reject.reason) << '\n';
    if (const std::uint64_t late = std::max(result.out_of_order, result.ignored.late); late > 0)
      std::cerr << "older than a payment before them: " << late << "; sort the file by time, or rings may be missing\n";
    batch.drop_first(result.consumed);
    more = result.cut;
  }
  batch.clear();
}

bool read_line(std::istream& file, std::string& line) {
  if (!std::getline(file, line)) return false;
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  std::ifstream file(argc > 1 ? argv[1] : "");
  if (!file) throw Error(ErrorKind::usage, "payments", "there is no such file", "name a CSV file");
  std::string line;
  read_line(file, line);
  if (line != head) throw Error(argv[1], "its first line is `" + line + "`", "expected: `" + std::string(head) + "`");

  // CHANGE 5: whether to print also which rings vanish, once a payment is a day old. The pattern's WITHIN becomes a window.
  const bool vanished = argc > 2 && std::string_view(argv[2]) == "--vanished";
  Query ring = parse_pattern(pattern, "ring");
  EngineOptions options{.schema = payments()};
  if (vanished) options.window = std::exchange(ring.within, std::nullopt).value().microseconds;
  Engine engine(options);
  engine.add_query(ring, {.list = true});

  Printer printer;
  UpdateBatch batch;
  for (std::size_t number = 2; read_line(file, line); ++number) {
    if (!add(batch, line)) std::cerr << "line " << number << " cannot be read: " << line << '\n';
    if (batch.size() == batch_size) process(engine, batch, printer);
  }
  process(engine, batch, printer);
} catch (const Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
