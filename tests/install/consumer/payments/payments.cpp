// Prints each new ring of payments in a CSV file, with its accounts, amounts and times. In a ring, three accounts pay each
// other within a day, and each payment is at most 10 % smaller than the one before it.
//
// usage: payments FILE
//
// The file has one payment a line, in order of time, as payments.csv beside this program. For a file of yours, change the four
// places that are marked.
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "deltamatch/engine.hpp"
#include "deltamatch/value_text.hpp"

namespace {

using namespace deltamatch;

constexpr std::size_t batch_size = 1000;  // payments

// CHANGE 1: the columns of a line.
enum Column : std::size_t { ts, sender, receiver, amount, channel, columns };

// CHANGE 2: what a payment has beside its accounts and its time. Each line is an edge of its own (EdgeModel::events).
Schema payments() {
  return {.model = EdgeModel::events,
          .edges = {{.name = "amount", .type = {.kind = AttributeType::Kind::decimal, .scale = 2}},
                    {.name = "channel", .type = {.kind = AttributeType::Kind::symbol}}}};
}

// CHANGE 3: what is looked for. prev(t) is the payment before t.
constexpr std::string_view pattern =
    "(a)-[t WHERE t.time > prev(t).time AND prev(t).amount >= t.amount >= 0.9 * prev(t).amount]->{3}(a) WITHIN 24h";

using Fields = std::array<std::string_view, columns>;

/// The fields of a line. They are not quoted. Nullopt: there are more or fewer.
std::optional<Fields> split(std::string_view line) {
  Fields fields;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t comma = line.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == columns)) return std::nullopt;
    fields[i] = line.substr(0, comma);
    line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  }
  return fields;
}

/// Adds the payment of a line. Returns false if it cannot be read.
bool add(UpdateBatch& batch, std::string_view line) {
  const std::optional<Fields> fields = split(line);
  if (!fields) return false;
  const std::optional<Timestamp> time = parse_time((*fields)[ts]);
  const std::optional<std::int64_t> cents = parse_decimal((*fields)[amount], 2);
  if (!time || !cents) return false;
  const std::array<AttributeValue, 2> values{*cents, (*fields)[channel]};  // as in the Schema
  const Properties properties{.attributes = values};
  batch.add({.source = (*fields)[sender], .target = (*fields)[receiver], .time = time, .properties = &properties});
  return true;
}

std::string cents_text(const AttributeValue& value) {
  const auto* cents = std::get_if<std::int64_t>(&value);
  return cents == nullptr ? "?" : decimal_text(*cents, 2);  // NULL: the payment states no amount
}

class Printer final : public MatchSink {
 public:
  void begin(std::uint64_t /*batch*/) override { text_.clear(); }
  void write(const Match& match) override {
    if (!match.added) return;
    text_ += match.query;
    // CHANGE 4: what is printed of a payment. `attributes` are those of the Schema, in its order.
    for (const MatchedEdge& edge : match.edges) {
      text_ += "  " + to_string(edge.source) + " -> " + to_string(edge.target) + " " + cents_text(edge.attributes[0]) + " at " +
               time_text(edge.time.value_or(0));
    }
    text_ += '\n';
  }
  void commit() override { std::fputs(text_.c_str(), stdout); }
  void abort() noexcept override { text_.clear(); }

 private:
  std::string text_;
};

/// Prints the new rings of a file. Returns how many payments were too late for some of theirs.
std::uint64_t print_rings(Engine& engine, std::istream& file) {
  Printer printer;
  UpdateBatch batch;
  std::uint64_t out_of_order = 0;
  const auto process = [&] {
    const BatchResult result = engine.process(batch, OnReject::skip, &printer);
    for (const Reject& reject : result.rejects)
      std::fprintf(stderr, "refused: %s\n", std::string(reject_name(reject.reason)).c_str());
    out_of_order += result.out_of_order;
    batch.clear();
  };
  std::string line;
  std::getline(file, line);  // the head
  for (std::uint64_t number = 2; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (!add(batch, line)) std::fprintf(stderr, "line %ju cannot be read: %s\n", std::uintmax_t{number}, line.c_str());
    if (batch.size() == batch_size) process();
  }
  process();
  return out_of_order;
}

}  // namespace

int main(int argc, char** argv) try {
  std::ifstream file(argc == 2 ? argv[1] : "");
  if (!file) throw Error(ErrorKind::usage, "payments", "there is no such file", "name a CSV file");
  Engine engine({.schema = payments()});
  engine.add_query(parse_pattern(pattern, "ring"), {.list = true});
  const std::uint64_t out_of_order = print_rings(engine, file);
  if (out_of_order > 0) {
    std::fprintf(stderr, "older than a payment before them: %ju; sort the file by time, or rings may be missing\n",
                 std::uintmax_t{out_of_order});
  }
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
