// Two codecs. PlainCodec (snap, tsv) takes the meaning of its columns from their number, which the first record fixes; CsvCodec
// (csv, jlg) takes it from a header. With positions given both are the same but for the splitting.
#include "ingest/codec/delimited.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/told_sizes.hpp"
#include "ingest/doubts.hpp"

namespace deltamatch::ingest {
namespace {

UpdateMaker maker(Format format, const CodecOptions& options) {
  const bool numeric = format == Format::snap || format == Format::jlg;
  return {options.ids.value_or(numeric ? IdKind::integer : IdKind::automatic),
          TimeReader(options.time_unit.value_or(TimeUnit::seconds), options.time_format,
                     options.time_unit ? nullptr : options.doubts),
          options.edge_label};
}

std::string arity_text(std::size_t found, std::size_t expected) {
  return fmt::format("{} fields where there are {}", found, expected);
}

/// snap (runs of blanks, comments) and tsv (single tabs, no comments). A leading + or - field states the operation.
class PlainCodec final : public Codec {
 public:
  PlainCodec(Format format, const CodecOptions& options)
      : tabs_(format == Format::tsv), doubts_(options.doubts), maker_(maker(format, options)) {
    const ColumnSpec spec = parse_columns(options.columns);
    if (!options.columns.empty() && spec.named()) {
      throw Error(ErrorKind::usage, "columns", fmt::format("{} files have no names for columns", format_name(format)),
                  "give positions, e.g. source,target,label,time");
    }
    if (!spec.named()) set_layout(spec.positions);
  }

  Decoded decode(std::string_view record) override {
    split(record);
    std::span<const std::string_view> fields = fields_;
    if (fields.empty()) return {};
    std::optional<bool> sign;
    if (!layout_.has(Role::op) && fields[0].size() == 1 && (arity_ == 0 || fields.size() == arity_ + 1)) {
      sign = parse_operation(fields[0]);
      if (sign) fields = fields.subspan(1);
    }
    if (arity_ != 0) {
      // A lone sign is no id: the record was cut short.
      const bool cut_short = !layout_.has(Role::op) && !sign && !fields.empty() && (fields[0] == "+" || fields[0] == "-");
      if (fields.size() != arity_ || cut_short) return wrong_arity(fields);
      return maker_.make(layout_, fields, sign);
    }
    if (!guess_layout(fields.size())) return refuse_first(fields.size());
    const std::size_t arity = std::exchange(arity_, 0);
    Decoded decoded = maker_.make(layout_, fields, sign);
    if (!decoded.refused) arity_ = arity;  // only a record that can be read fixes the columns
    return decoded;
  }

 private:
  using Roles = std::vector<std::optional<Role>>;

  void set_layout(const Roles& roles) {
    layout_ = Layout(roles);
    arity_ = roles.size();
  }

  bool guess_layout(std::size_t count) {
    layout_ = Layout();
    if (count == 2) set_layout({Role::source, Role::target});
    if (count == 3 && !tabs_) set_layout({Role::source, Role::target, Role::time});
    if (count == 4) set_layout({Role::source, Role::target, Role::label, Role::time});
    if (doubts_ != nullptr && layout_.has(Role::time))
      doubts_->guessed_time_column(static_cast<std::size_t>(layout_.column(Role::time)) + 1);
    return arity_ != 0;
  }

  Decoded refuse_first(std::size_t count) {
    return maker_.refuse(RejectReason::wrong_arity,
                         fmt::format("{} fields; {} unless columns are named", count,
                                     tabs_ ? "[+|-] source target, or [+|-] source target label time"
                                           : "source target, source target time, or source target label time"));
  }

  Decoded wrong_arity(std::span<const std::string_view> fields) {
    // A sign that is neither + nor - is worth its own reason.
    if (fields.size() == arity_ + 1 && tabs_ && fields[0].size() <= 1) {
      return maker_.refuse(RejectReason::bad_operation, fmt::format("op {} is neither + nor -", in_ticks(fields[0])));
    }
    if (fields.size() == arity_) return maker_.refuse(RejectReason::wrong_arity, "a sign where the first id belongs");
    return maker_.refuse(RejectReason::wrong_arity, arity_text(fields.size(), arity_));
  }

  void split(std::string_view record) {
    fields_.clear();
    const char* at = record.data();
    const char* const end = at + record.size();
    if (tabs_) {
      if (record.find_first_not_of(" \t") == std::string_view::npos) return;
      for (const char* start = at;; start = ++at) {
        while (at != end && *at != '\t') ++at;  // fields are short: faster than memchr
        fields_.emplace_back(start, static_cast<std::size_t>(at - start));
        if (at == end) return;
      }
    }
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    for (;;) {
      while (at != end && blank(*at)) ++at;
      if (at == end || (fields_.empty() && (*at == '#' || *at == '%'))) return;
      const char* const start = at;
      while (at != end && !blank(*at)) ++at;
      fields_.emplace_back(start, static_cast<std::size_t>(at - start));
    }
  }

  bool tabs_;
  Doubts* doubts_;
  UpdateMaker maker_;
  Layout layout_;
  std::size_t arity_ = 0;  // 0: not known yet
  std::vector<std::string_view> fields_;
};

/// Splits a CSV record. Quoted fields with doubled quotes are copied to `scratch`. False: a quote or a line end where none may
/// be, or no quote at the end.
bool split_csv(std::string_view record, char separator, std::vector<std::string_view>& fields, std::string& scratch) {
  fields.clear();
  scratch.clear();
  scratch.reserve(record.size());  // it must not move once views point into it
  const bool lines = record.find('\n') != std::string_view::npos;
  std::size_t at = 0;
  for (;;) {
    if (at < record.size() && record[at] == '"') {
      const std::size_t start = ++at;
      const std::size_t copied = scratch.size();
      bool doubled = false;
      std::size_t from = start;
      for (;;) {
        at = record.find('"', at);
        if (at == std::string_view::npos) return false;
        if (at + 1 == record.size() || record[at + 1] != '"') break;
        scratch.append(record, from, at + 1 - from);
        doubled = true;
        from = at += 2;
      }
      if (doubled) scratch.append(record, from, at - from);
      fields.push_back(doubled ? std::string_view(scratch).substr(copied) : record.substr(start, at - start));
      ++at;
      if (at < record.size() && record[at] != separator) return false;
    } else {
      const std::size_t end = std::min(record.find(separator, at), record.size());
      const std::string_view field = record.substr(at, end - at);
      if (field.find('"') != std::string_view::npos || (lines && field.find('\n') != std::string_view::npos)) return false;
      fields.push_back(field);
      at = end;
    }
    if (at >= record.size()) return true;
    ++at;
  }
}

class CsvCodec final : public Codec {
 public:
  explicit CsvCodec(const CodecOptions& options) : spec_(parse_columns(options.columns)), maker_(maker(Format::csv, options)) {
    separator_ = options.separator;
    if (separator_ != 0 && separator_ != ',' && separator_ != ';' && separator_ != '\t') {
      throw Error(ErrorKind::usage, "separator", in_ticks({&separator_, 1}) + " separates no CSV fields", "use , ; or a tab");
    }
    if (!spec_.named()) {
      layout_ = Layout(spec_.positions);
      arity_ = spec_.positions.size();
    }
    awaits_header_ = options.header.value_or(spec_.named());
    if (!awaits_header_ && spec_.named()) {
      throw Error(ErrorKind::usage, "columns", "a CSV file without a header needs its columns",
                  "give e.g. source,target,label,time");
    }
  }

  [[nodiscard]] char quoted_separator() const noexcept override { return separator_ != 0 ? separator_ : ','; }

  Decoded decode(std::string_view record) override {
    if (record.find_first_not_of(" \t") == std::string_view::npos) return {};
    if (separator_ == 0) separator_ = csv_separator(record);
    const bool whole = split_csv(record, separator_, fields_, scratch_);
    if (awaits_header_) {
      const std::string fault = spec_.named() ? read_header(whole) : std::string();
      awaits_header_ = !fault.empty();
      return fault.empty() ? Decoded() : bad_header(record, fault);
    }
    if (!whole) return maker_.refuse(RejectReason::malformed, "a quote or a line end is misplaced, or a quote is missing");
    if (fields_.size() != arity_) return maker_.refuse(RejectReason::wrong_arity, arity_text(fields_.size(), arity_));
    return maker_.make(layout_, fields_);
  }

 private:
  /// Returns what is wrong with the header.
  std::string read_header(bool whole) {
    layout_ = Layout();
    arity_ = fields_.size();
    std::array<bool, role_count> twice{};
    for (std::size_t column = 0; whole && column < fields_.size(); ++column) {
      for (std::size_t r = 0; r < role_count; ++r) {
        const auto role = static_cast<Role>(r);
        const auto& name = spec_.names[r];
        if (name ? name->empty() || *name != fields_[column] : role_by_usual_name(fields_[column]) != role) continue;
        twice[r] = layout_.has(role);
        layout_.set(role, column);
      }
    }
    // A column that happens to be called `id` says something about vertices only beside a label, and not where there are edges.
    const bool edges = layout_.has(Role::source) && layout_.has(Role::target);
    if ((edges || !layout_.has(Role::label)) && !spec_.names[static_cast<std::size_t>(Role::vertex)])
      layout_.unset(Role::vertex);
    for (std::size_t r = 0; r < role_count; ++r) {
      const auto role = static_cast<Role>(r);
      if (twice[r] && layout_.has(role)) return fmt::format("has two columns for {}", role_name(role));
      if (spec_.names[r] && !spec_.names[r]->empty() && !layout_.has(role)) {
        return fmt::format("has no column {} for {}", in_ticks(*spec_.names[r]), role_name(role));
      }
    }
    return layout_.complete() ? "" : "names neither source and target nor a vertex and its label";
  }

  Decoded bad_header(std::string_view record, std::string_view fault) {
    Decoded decoded = maker_.refuse(RejectReason::malformed, fmt::format("the CSV header {} {}", in_ticks(record), fault));
    decoded.remedy = "set columns to source=NAME,target=NAME, or by position where there is no header: source,target";
    return decoded;
  }

  ColumnSpec spec_;
  UpdateMaker maker_;
  Layout layout_;
  char separator_ = 0;
  bool awaits_header_ = false;
  std::size_t arity_ = 0;
  std::vector<std::string_view> fields_;
  std::string scratch_;
};

/// A header `V,E,u|d,name`, then `u,v`.
class JlgCodec final : public Codec {
 public:
  explicit JlgCodec(const CodecOptions& options) : maker_(maker(Format::jlg, options)), whole_(options.whole) {
    if (!options.columns.empty())
      throw Error(ErrorKind::usage, "columns", "jlg files have fixed columns", "leave the option out");
  }

  Decoded decode(std::string_view record) override {
    if (record.find_first_not_of(" \t") == std::string_view::npos) return {};
    fields_.clear();
    for (std::size_t at = 0; at <= record.size() && fields_.size() <= most_fields;) {
      const std::size_t end = std::min(record.find(',', at), record.size());
      fields_.push_back(record.substr(at, end - at));
      at = end + 1;
    }
    if (std::exchange(awaits_header_, false) && fields_.size() >= 3) return header();
    sizes_.count_edge();
    if (fields_.size() != 2) return maker_.refuse(RejectReason::wrong_arity, arity_text(fields_.size(), 2));
    const Decoded decoded = maker_.make(layout_, fields_);
    for (const Update& update : decoded.updates) {
      for (const Id& end : {update.source, update.target}) {
        if (!sizes_.holds(end)) return maker_.refuse(RejectReason::bad_id, sizes_.out_of_range(end));
      }
    }
    return decoded;
  }
  [[nodiscard]] std::string flaw() const override { return sizes_.flaw(); }

 private:
  static constexpr std::size_t most_fields = 4;

  Decoded header() {
    std::int64_t vertices = 0;
    std::int64_t edges = 0;
    std::string fault = read_size(fields_[0], vertices);
    if (fault.empty()) fault = read_size(fields_[1], edges);
    if (fault.empty() && fields_[2] != "u" && fields_[2] != "d")
      fault = fmt::format("the header's {} is neither u nor d", in_ticks(fields_[2]));
    if (!fault.empty()) return maker_.refuse(RejectReason::malformed, fault);
    if (whole_) sizes_.tell(vertices, edges);
    return {};
  }

  UpdateMaker maker_;
  bool whole_;
  ToldSizes sizes_{1};
  Layout layout_{{Role::source, Role::target}};
  bool awaits_header_ = true;
  std::vector<std::string_view> fields_;
};

}  // namespace

char csv_separator(std::string_view record) noexcept {
  char best = ',';
  for (const char c : {';', '\t'}) {
    if (std::count(record.begin(), record.end(), c) > std::count(record.begin(), record.end(), best)) best = c;
  }
  return best;
}

std::unique_ptr<Codec> make_delimited_codec(Format format, const CodecOptions& options) {
  if (format == Format::csv) return std::make_unique<CsvCodec>(options);
  if (format == Format::jlg) return std::make_unique<JlgCodec>(options);
  return std::make_unique<PlainCodec>(format, options);
}

}  // namespace deltamatch::ingest
