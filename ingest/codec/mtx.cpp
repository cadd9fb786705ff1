// Matrix Market files:
//   %%MatrixMarket matrix coordinate pattern|integer|real general|symmetric|skew-symmetric
//   % comments
//   ROWS COLUMNS ENTRIES
//   ROW COLUMN [VALUE]
//
// An entry is an edge from its row to its column, whatever its value. If the matrix is symmetric, the edge is undirected. Rows
// and columns are numbered from 1 and are the same vertices, so the matrix is square.
#include "ingest/codec/mtx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/declared_sizes.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {
namespace {

constexpr std::string_view magic = "%%matrixmarket";

bool is_banner(std::string_view line) noexcept {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return same_letters(line.substr(0, magic.size()), magic);
}

/// Splits a line into fields between blanks. Returns at most one field more than `most`.
void split(std::string_view line, std::size_t most, std::vector<std::string_view>& fields) {
  fields.clear();
  for (std::size_t at = line.find_first_not_of(" \t"); at < line.size() && fields.size() <= most;) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(" \t", end);
  }
}

/// Whether a text is a number as C or Fortran writes it; it need not be finite.
bool is_value(std::string_view text, MtxBanner::Field field) noexcept {
  std::int64_t integer = 0;
  if (field == MtxBanner::Field::integer) return parse_integer(text, integer) != NumberFault::not_a_number;
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (same_letters(text, "nan") || same_letters(text, "inf") || same_letters(text, "infinity")) return true;
  const auto digits = [&text] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  std::size_t count = digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    count += digits();
  }
  if (count == 0) return false;
  if (text.empty()) return true;
  if (std::string_view("eEdD").find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return digits() != 0 && text.empty();
}

class MtxCodec final : public Codec {
 public:
  explicit MtxCodec(const CodecOptions& options)
      : ids_(options.ids.value_or(IdKind::integer)),
        edge_label_(options.edge_label),
        banner_remedy_(
            "write it as `coordinate`, `pattern`, `integer` or `real`, and `general`, `symmetric` or `skew-symmetric`; "
            "if it is an edge list, give " +
            spelling_of(options)("format", "snap")) {
    const auto refuse_if = [](bool given, std::string_view option, std::string_view what) {
      if (given) throw Error(ErrorKind::usage, option, fmt::format("Matrix Market files {}", what), "leave the option out");
    };
    refuse_if(!options.columns.empty(), "columns", "have fixed columns");
    refuse_if(!options.op_values.empty(), "op-values", "have no operations");
    refuse_if(options.vertices, "vertices", "hold edges, no labels of vertices");
  }

  Decoded decode(std::string_view record) override {
    const std::size_t first = record.find_first_not_of(" \t");
    seen_ = true;
    if (!began_) {  // comments of other programs may stand above the banner
      const bool says = first != std::string_view::npos && record[first] != '%' && record[first] != '#';
      if (!says && !is_banner(record)) return {};
      began_ = true;
      return banner(record.substr(first));
    }
    if (first == std::string_view::npos || record[first] == '%') return {};
    split(record, most_fields, fields_);
    return sized_ ? entry() : size();
  }

  [[nodiscard]] std::string flaw() const override {
    if (seen_ && !began_) return "there is no banner, %%MatrixMarket matrix coordinate FIELD SYMMETRY";
    if (began_ && !sized_) return "there is no line of sizes, ROWS COLUMNS ENTRIES, after the banner";
    if (read_ == entries_) return {};
    return fmt::format("the line of sizes says {} entries, but {} follow", entries_, read_);
  }
  [[nodiscard]] std::optional<bool> directed() const noexcept override {
    return began_ ? std::optional(!banner_.symmetric) : std::nullopt;
  }

 private:
  static constexpr std::size_t most_fields = 3;

  Decoded end_with(std::string message, std::string_view remedy) {
    message_ = std::move(message);
    return {{}, RejectReason::malformed, message_, remedy};
  }
  Decoded refuse(RejectReason reason, std::string message) {
    message_ = std::move(message);
    return {{}, reason, message_, {}};
  }

  Decoded banner(std::string_view line) {
    std::string fault = read_mtx_banner(line, banner_);
    if (fault.empty()) return {};
    return end_with(std::move(fault), banner_remedy_);
  }

  Decoded size() {
    constexpr std::string_view remedy = "write ROWS COLUMNS ENTRIES, three integers";
    std::array<std::int64_t, 3> sizes{};
    std::string fault =
        fields_.size() == 3 ? std::string() : fmt::format("{} fields, but the line of sizes has 3", fields_.size());
    for (std::size_t i = 0; fault.empty() && i < sizes.size(); ++i) fault = read_size(fields_[i], sizes[i]);
    if (!fault.empty()) return end_with(std::move(fault), remedy);
    if (sizes[0] != sizes[1]) {
      return end_with(
          fmt::format("a matrix has {} rows and {} columns, so they cannot be the same vertices", sizes[0], sizes[1]),
          "write it as an edge list with different ids for rows and columns");
    }
    size_ = sizes[0];
    entries_ = sizes[2];
    sized_ = true;
    return {};
  }

  Decoded entry() {
    if (++read_ > entries_) {
      return end_with(fmt::format("the line of sizes says {} entries, and this is one more", entries_),
                      "correct the line of sizes or the file");
    }
    const std::size_t expected = banner_.field == MtxBanner::Field::pattern ? 2 : 3;
    if (fields_.size() != expected) return refuse(RejectReason::wrong_arity, arity_text(fields_.size(), expected));
    for (std::size_t i = 0; i < 2; ++i) {
      std::int64_t number = 0;
      if (parse_integer(fields_[i], number) != NumberFault::none || number < 1 || number > size_) {
        return refuse(RejectReason::bad_id, fmt::format("{} {} is not one of 1 to {}, as the line of sizes says",
                                                        i == 0 ? "row" : "column", in_ticks(fields_[i]), size_));
      }
      Id& id = i == 0 ? update_.source : update_.target;
      if (parse_id(fields_[i], ids_, id) != IdFault::none) return refuse(RejectReason::bad_id, "it is not an id");
    }
    if (expected == 3 && !is_value(fields_[2], banner_.field)) {
      return refuse(RejectReason::malformed, fmt::format("value {} is not {} number", in_ticks(fields_[2]),
                                                         banner_.field == MtxBanner::Field::real ? "a real" : "an integer"));
    }
    update_.label = edge_label_;
    return {{&update_, 1}, std::nullopt, {}, {}};
  }

  IdKind ids_;
  std::string edge_label_;
  std::string banner_remedy_;
  MtxBanner banner_;
  bool seen_ = false;
  bool began_ = false;
  bool sized_ = false;
  std::int64_t size_ = 0;
  std::int64_t entries_ = 0;
  std::int64_t read_ = 0;
  std::vector<std::string_view> fields_;
  Update update_;
  std::string message_;
};

}  // namespace

std::string_view mtx_banner_of(std::string_view head) noexcept {
  while (!head.empty()) {
    std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (is_banner(line)) return line;
    if (!line.empty() && line[0] != '%' && line[0] != '#') break;
  }
  return {};
}

std::string read_mtx_banner(std::string_view line, MtxBanner& banner) {
  constexpr std::size_t field_count = 5;
  std::vector<std::string_view> fields;
  split(line, field_count, fields);
  if (fields.empty() || !same_letters(fields[0], magic)) {
    return fmt::format("{} is not the banner of a Matrix Market file, %%MatrixMarket matrix coordinate FIELD SYMMETRY",
                       in_ticks(line));
  }
  if (fields.size() != field_count) return fmt::format("the banner {} has {} fields, not 5", in_ticks(line), fields.size());
  const auto not_read = [&](std::string_view what, std::string_view field) {
    return fmt::format("the {} {} of the banner is not supported", what, in_ticks(field));
  };
  if (!same_letters(fields[1], "matrix")) return not_read("object", fields[1]);
  if (!same_letters(fields[2], "coordinate")) return not_read("format", fields[2]);
  if (same_letters(fields[3], "pattern")) {
    banner.field = MtxBanner::Field::pattern;
  } else if (same_letters(fields[3], "integer")) {
    banner.field = MtxBanner::Field::integer;
  } else if (same_letters(fields[3], "real") || same_letters(fields[3], "double")) {
    banner.field = MtxBanner::Field::real;
  } else {
    return not_read("field", fields[3]);
  }
  banner.symmetric = same_letters(fields[4], "symmetric") || same_letters(fields[4], "skew-symmetric");
  if (!banner.symmetric && !same_letters(fields[4], "general")) return not_read("symmetry", fields[4]);
  return {};
}

std::unique_ptr<Codec> make_mtx_codec(const CodecOptions& options) { return std::make_unique<MtxCodec>(options); }

bool begins_mtx(const TextHead& head) { return !mtx_banner_of(head.bytes).empty(); }

bool mtx_is_directed(LineSource& lines, const CodecOptions& /*options*/) {
  MtxBanner banner;
  return !read_mtx_banner(mtx_banner_of(lines.head()), banner).empty() || !banner.symmetric;
}

}  // namespace deltamatch::ingest
