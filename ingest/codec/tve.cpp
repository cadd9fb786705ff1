// t/v/e graphs and update streams:
//   t N M                     optional; not about the updates. In a whole graph it must be true, and occurs once.
//                             `t 0 N` is another spelling, in which 0 is the graph's number
//   t # N [* SUPPORT]         gSpan's: graph N of several begins; `t # -1` ends the file. A file has one graph
//   v ID LABEL [DEGREE]       -v ID       the degree is an integer and is not used
//   e U V [LABEL]             -e U V [LABEL]
//
// With the option negative_ids, `e -(U+1) -(V+1)` deletes the edge U V. Without it negative ids are refused, because such
// deletions would be read as insertions. `+v` and `+e` are read as v and e. Lines that start with # or % are comments.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/codec/declared_sizes.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::size_t most_fields = 5;

/// Splits a record into fields between blanks. Returns their number, at most most_fields + 1.
std::size_t split(std::string_view record, std::array<std::string_view, most_fields + 1>& fields) noexcept {
  std::size_t count = 0;
  for (std::size_t at = record.find_first_not_of(" \t"); at < record.size() && count < fields.size(); ++count) {
    const std::size_t end = std::min(record.find_first_of(" \t", at), record.size());
    fields[count] = record.substr(at, end - at);
    at = record.find_first_not_of(" \t", end);
  }
  return count;
}

class TveCodec final : public Codec {
 public:
  explicit TveCodec(const CodecOptions& options)
      : ids_(options.ids.value_or(IdKind::integer)),
        negative_deletes_(options.negative_ids),
        edge_label_(options.edge_label),
        whole_(options.whole) {
    if (!options.columns.empty())
      throw Error(ErrorKind::usage, "columns", "t/v/e files have fixed columns", "leave the option out");
    if (!options.op_values.empty()) {
      throw Error(ErrorKind::usage, "op-values", "t/v/e records delete by -e and -v, and have no other operations",
                  "leave the option out");
    }
    if (negative_deletes_ && ids_ != IdKind::integer) {
      throw Error(ErrorKind::usage, "negative ids", "deletions by negative ids need integer ids",
                  "leave one of the options out");
    }
  }

  Decoded decode(std::string_view record) override {
    std::array<std::string_view, most_fields + 1> fields;
    const std::size_t count = split(record, fields);
    if (count == 0 || fields[0][0] == '#' || fields[0][0] == '%') return {};
    std::string_view verb = fields[0];
    bool inserts = true;
    if (verb.size() == 2 && (verb[0] == '-' || verb[0] == '+')) {
      inserts = verb[0] == '+';
      verb.remove_prefix(1);
    }
    if (verb == "e") return ended_ ? behind_end() : edge(fields, count, inserts);
    if (verb == "v") return ended_ ? behind_end() : vertex(fields, count, inserts);
    if (fields[0] == "t") return count > 1 && fields[1] == "#" ? graph(fields, count) : header(fields, count);
    return refuse(RejectReason::malformed, fmt::format("{} is not one of t, v, e, -v and -e", in_ticks(fields[0])));
  }

  [[nodiscard]] std::string flaw() const override { return sizes_.flaw(); }

 private:
  using Fields = std::array<std::string_view, most_fields + 1>;

  Decoded header(const Fields& fields, std::size_t count) {
    if (count != 3) return refuse(RejectReason::wrong_arity, fmt::format("{} fields, but a header has 3: t N M", count));
    std::int64_t first = 0;
    std::int64_t second = 0;
    std::string fault = read_size(fields[1], first);
    if (fault.empty()) fault = read_size(fields[2], second);
    if (!fault.empty()) return refuse(RejectReason::malformed, std::move(fault));
    if (!whole_ && !begun_) return {};
    if (sizes_.told() || begun_) return refuse(RejectReason::malformed, "there is a second header, but a file holds one graph");
    if (first == 0) {
      sizes_.tell(second, std::nullopt);
    } else {
      sizes_.tell(first, second);
    }
    return {};
  }

  /// gSpan's header. Another graph may use the same ids again, so a second graph is never read into the first.
  Decoded graph(const Fields& fields, std::size_t count) {
    std::int64_t number = 0;
    std::int64_t support = 0;
    const bool numbered = count > 2 && parse_integer(fields[2], number) == NumberFault::none && number >= -1;
    const bool rest = count == 3 || (count == 4 && parse_integer(fields[3], support) == NumberFault::none) ||
                      (count == 5 && fields[3] == "*" && parse_integer(fields[4], support) == NumberFault::none);
    if (!numbered || !rest) return refuse(RejectReason::malformed, "a header of this kind is written t # NUMBER");
    if (number == -1) {
      ended_ = true;
      return {};
    }
    if (ended_ || begun_ || sizes_.any()) {
      Decoded decoded = refuse(RejectReason::malformed,
                               fmt::format("a second graph begins here (t # {}), and a file holds one graph", number));
      decoded.remedy = "split the file at its lines `t # N`; of the first graph, awk '$1==\"t\"{n++} n<2' makes a file";
      return decoded;
    }
    begun_ = true;
    return {};
  }

  Decoded behind_end() { return refuse(RejectReason::malformed, "a record follows t # -1, which ends the file"); }

  Decoded edge(const Fields& fields, std::size_t count, bool inserts) {
    sizes_.count_edge();
    if (count < 3 || count > 4)
      return refuse(RejectReason::wrong_arity, fmt::format("{} fields, but an edge has 3 or 4", count));
    if (!take_id("source", fields[1], update_.source) || !take_id("target", fields[2], update_.target)) {
      return {{}, RejectReason::bad_id, message_, {}};
    }
    if (!update_.source.is_text() && (update_.source.number() < 0 || update_.target.number() < 0)) {
      if (!negative_deletes_)
        return refuse(RejectReason::bad_id,
                      "an id is negative (of a stream, --negative-ids reads `e -(u+1) -(v+1)` as a deletion)");
      if (!inserts || update_.source.number() >= 0 || update_.target.number() >= 0) {
        return refuse(RejectReason::bad_id, "only one id is negative, or the edge is deleted in two ways");
      }
      inserts = false;
      update_.source = Id(-(update_.source.number() + 1));
      update_.target = Id(-(update_.target.number() + 1));
    }
    for (const Id& end : {update_.source, update_.target}) {
      if (!sizes_.holds(end)) [[unlikely]]
        return refuse(RejectReason::bad_id, sizes_.out_of_range(end));
    }
    update_.kind = inserts ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update_.label = count == 4 ? fields[3] : std::string_view(edge_label_);
    update_.source_label.reset();
    return {{&update_, 1}, std::nullopt, {}, {}};
  }

  Decoded vertex(const Fields& fields, std::size_t count, bool inserts) {
    sizes_.count_vertex();
    if (count < 2 || count > 4)
      return refuse(RejectReason::wrong_arity, fmt::format("{} fields, but a vertex has 2 to 4", count));
    if (!take_id("vertex", fields[1], update_.source)) return {{}, RejectReason::bad_id, message_, {}};
    if (!update_.source.is_text() && update_.source.number() < 0)
      return refuse(RejectReason::bad_id, "the vertex id is negative");
    if (!sizes_.holds(update_.source)) return refuse(RejectReason::bad_id, sizes_.out_of_range(update_.source));
    std::int64_t degree = 0;
    if (count > 3 && parse_integer(fields[3], degree) == NumberFault::not_a_number) {
      return refuse(RejectReason::malformed,
                    fmt::format("the degree {} is not a number; a label holds no blanks, so write `{}_{}` or the like",
                                in_ticks(fields[3]), fields[2], fields[3]));
    }
    update_.kind = inserts ? UpdateKind::insert_vertex : UpdateKind::delete_vertex;
    update_.label = {};
    update_.source_label = count > 2 ? std::optional(fields[2]) : std::nullopt;
    return {{&update_, 1}, std::nullopt, {}, {}};
  }

  bool take_id(std::string_view what, std::string_view field, Id& id) {
    const IdFault fault = parse_id(field, ids_, id);
    if (fault == IdFault::none) [[likely]]
      return true;
    message_ = fmt::format("{} {} {}", what, in_ticks(field), fault_text(fault));
    return false;
  }

  Decoded refuse(RejectReason reason, std::string message) {
    message_ = std::move(message);
    return {{}, reason, message_, {}};
  }

  IdKind ids_;
  bool negative_deletes_;
  std::string edge_label_;
  bool whole_;
  bool begun_ = false;  // by t # N
  bool ended_ = false;  // by t # -1
  DeclaredSizes sizes_{0};
  Update update_;
  std::string message_;
};

/// Whether a line is a record.
bool is_tve(std::string_view line) noexcept {
  const std::size_t first = line.find_first_not_of(" \t");
  const std::string_view rest = line.substr(first);
  const std::size_t end = rest.find_first_of(" \t");
  if (end == std::string_view::npos) return false;
  const std::string_view verb = rest.substr(0, end);
  constexpr std::array<std::string_view, 7> verbs = {"t", "v", "e", "-v", "-e", "+v", "+e"};
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) return false;
  const std::size_t operand = rest.find_first_not_of(" \t", end);  // an integer follows in each such line, or # in `t # N`
  return operand != std::string_view::npos && (std::isdigit(static_cast<unsigned char>(rest[operand])) != 0 ||
                                               rest[operand] == '-' || (verb == "t" && rest[operand] == '#'));
}

}  // namespace

std::unique_ptr<Codec> make_tve_codec(const CodecOptions& options) { return std::make_unique<TveCodec>(options); }

bool begins_tve(const TextHead& head) { return head.most(is_tve); }

std::string_view tve_message_fault(std::string_view message) noexcept {
  const std::size_t verb = message.find_first_not_of(" \t");
  const std::size_t number = message.find_first_not_of(" \t", verb + 1);
  const bool is_graph_header =
      message[verb] == 't' && number != std::string_view::npos && number > verb + 1 && message[number] == '#';
  return is_graph_header ? "t # N begins one of several graphs, but a message has one" : "";
}

}  // namespace deltamatch::ingest
