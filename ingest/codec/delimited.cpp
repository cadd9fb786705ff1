// Codecs of snap, tsv and jlg. PlainCodec (snap, tsv) gives its columns a meaning by their number, which the first record
// fixes. JlgCodec has fixed columns.
#include "ingest/codec/delimited.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/declared_sizes.hpp"
#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {
namespace {

bool is_integer(std::string_view field) noexcept {
  std::int64_t number = 0;
  return parse_integer(field, number) == NumberFault::none;
}

/// A number of seconds from 1990 until 2100.
std::optional<std::int64_t> time_in_seconds(std::string_view field) noexcept {
  constexpr std::int64_t since = 631'152'000;
  constexpr std::int64_t until = 4'102'444'800;
  std::int64_t number = 0;
  if (parse_integer(field, number) != NumberFault::none || number < since || number >= until) return std::nullopt;
  return number;
}

/// snap (runs of blanks, comments) and tsv (single tabs, no comments). A leading field + or - is the operation.
class PlainCodec final : public Codec {
 public:
  PlainCodec(Format format, const CodecOptions& options)
      : tabs_(format == Format::tsv),
        doubts_(options.doubts),
        spelling_(spelling_of(options)),
        spec_(parse_columns(options)),
        guesses_(options.columns.empty()),
        doubts_hashes_(!options.ids),
        may_begin_with_words_(!options.header),
        watches_first_(options.doubts != nullptr && options.columns.empty()),
        maker_(make_field_maker(format, options)) {
    if (!options.columns.empty() && spec_.named()) {
      throw Error(ErrorKind::usage, "columns", fmt::format("columns of {} files have no names", format_name(format)),
                  "give positions, e.g. source,target,label,time");
    }
    if (!spec_.named()) set_layout(spec_.positions);
    if (spec_.named()) need_no_more(format, options);
  }

  Decoded decode(std::string_view record) override {
    split(record, fields_);
    std::span<const std::string_view> fields = fields_;
    if (fields.empty()) return {};
    std::optional<bool> sign;
    if (!layout_.has(Role::op) && fields[0].size() == 1 && (arity_ == 0 || fields.size() == arity_ + 1)) {
      sign = parse_sign(fields[0]);
      if (sign) fields = fields.subspan(1);
    }
    if (arity_ != 0) {
      // A lone sign is no id: the record was cut short.
      const bool cut_short = !layout_.has(Role::op) && !sign && !fields.empty() && (fields[0] == "+" || fields[0] == "-");
      if (fields.size() != arity_ || cut_short) return wrong_arity(fields);
      if (std::exchange(may_begin_with_words_, false) && is_header_of(layout_, fields)) return header(record);
      return make(record, fields, sign);
    }
    if (!guess_layout(fields.size())) return refuse_first(fields.size());
    if (std::exchange(may_begin_with_words_, false) && is_header_of(layout_, fields)) return header(record);
    const std::size_t arity = std::exchange(arity_, 0);
    const Decoded decoded = make(record, fields, sign);
    if (!decoded.refused) arity_ = arity;  // only a readable record fixes the columns
    return decoded;
  }

  void surround(const MessageFrame* frame) override { maker_.surround(frame); }

  /// Advice about a column that is read as times and holds words, and about a first record that alone has its number of fields.
  [[nodiscard]] std::string advice(RejectReason reason, std::string_view record) const override {
    std::vector<std::string_view> fields;
    split(record, fields);
    if (reason == RejectReason::wrong_arity && guesses_ && !tabs_ && only_first_)
      return "leave out the first record if it states the sizes of the graph";
    if (reason == RejectReason::bad_time || reason == RejectReason::wrong_arity) {
      if (!tabs_ && has_date_and_clock(fields))
        return R"(convert the file: sed -E 's/([0-9]+[-\/.][0-9]+[-\/.][0-9]+)[[:blank:]]+([0-9]+:)/\1T\2/' FILE)";
    }
    if (tabs_ && (record.starts_with('#') || record.starts_with('%')))
      return "if it is a comment, which tsv does not have, convert the file: grep -v '^[#%]' FILE";
    if (reason == RejectReason::wrong_arity && arity_ == 0 && spec_.named() && fields.size() > 4 &&
        time_in_seconds(fields[0]) && is_integer(fields[1]) && is_integer(fields[2]))
      return spelling_("columns", "time,source,target" + first_two(fields.size() - 1).substr(first_two(2).size())) +
             " reads the first column as the time";
    if (reason == RejectReason::wrong_arity) return skipping_columns(spelling_, spec_, fields.size());
    if (reason != RejectReason::bad_time || !guesses_ || tabs_) return {};
    const bool with_sign = !fields.empty() && parse_sign(fields[0]);
    if (fields.back() == "{}")
      return spelling_("columns", fields.size() == 3 ? "source,target,-" : "source,target,-,-") +
             " leaves the empty data of edges out";
    if (fields.size() != (with_sign ? 4U : 3U) || fields.back().find_first_of("0123456789") != std::string_view::npos)
      return {};
    const bool operation = Operations().read(fields.back()).has_value();
    return fmt::format("{} reads the words as {}", spelling_("columns", operation ? "source,target,op" : "source,target,label"),
                       operation ? "operations" : "labels");
  }

 private:
  using Roles = std::vector<std::optional<Role>>;

  /// Throws if columns without names have no room for what was declared.
  static void need_no_more(Format format, const CodecOptions& options) {
    const bool keyed = options.edges == EdgeModel::keyed;
    if (!keyed && options.attributes.empty()) return;
    const std::string more = keyed ? "edge" : options.attributes[0].attribute.name;
    throw Error(
        ErrorKind::usage, "columns",
        fmt::format("columns of {} files have no names, so none is known to be {}", format_name(format),
                    keyed ? "the key of an edge" : "the attribute " + more),
        fmt::format("give all columns by position, e.g. source,target,time,{}; attributes that are not there are NULL", more));
  }

  /// Whether a field is a date, and the next one a time of the day. The blank between them separates fields.
  static bool has_date_and_clock(std::span<const std::string_view> fields) noexcept {
    const auto has = [](std::string_view field, std::string_view marks, std::ptrdiff_t least) {
      const auto is_mark = [&](char c) { return marks.find(c) != std::string_view::npos; };
      return field.find_first_of("0123456789") == 0 && std::ranges::count_if(field, is_mark) >= least;
    };
    for (std::size_t at = 0; at + 1 < fields.size(); ++at) {
      if (has(fields[at], "-/.", 2) && has(fields[at + 1], ":", 1)) return true;
    }
    return false;
  }

  void set_layout(const Roles& roles) {
    layout_ = Layout(roles);
    arity_ = roles.size();
  }

  Decoded make(std::string_view record, std::span<const std::string_view> fields, std::optional<bool> sign) {
    const Decoded decoded = maker_.make(layout_, fields, sign);
    if (decoded.refused) return decoded;
    only_first_ = arity_ == 0;
    if (doubts_ == nullptr) return decoded;
    if (tabs_ && record[0] == '#' && doubts_hashes_ && !may_stand_for_none(fields[0])) doubts_->begins_with_hash(record);
    if (doubts_hashes_ && layout_.has(Role::source) && has_sign(fields, Role::source)) [[unlikely]]
      doubts_->signed_source(fields[static_cast<std::size_t>(layout_.column(Role::source))], has_sign(fields, Role::target));
    if (watches_first_) [[unlikely]]
      watch_first(fields);
    if (guesses_ && layout_.has(Role::label) && doubts_->watches_third_column())
      doubts_->label_of_third_column(fields[static_cast<std::size_t>(layout_.column(Role::label))]);
    return decoded;
  }

  /// Lists of contacts begin with a time: `1385982020 454 640`. The first columns then ascend from 1990 on, and no other column
  /// has such numbers.
  void watch_first(std::span<const std::string_view> fields) {
    const std::optional<std::int64_t> first = fields.size() > 2 ? time_in_seconds(fields[0]) : std::nullopt;
    const bool others =
        std::ranges::any_of(fields.subspan(1), [](std::string_view field) { return time_in_seconds(field).has_value(); });
    if (!first || others || *first < last_first_ || !is_integer(fields[1]) || !is_integer(fields[2])) {
      watches_first_ = false;
      doubts_->acquit("time_as_id");
      return;
    }
    constexpr std::uint64_t enough = 3;
    const bool ascends = ascends_ || (firsts_ != 0 && *first > last_first_);
    if (firsts_++ == 0) {
      first_at_ = doubts_->position();
      first_text_ = fields[0];
    }
    last_first_ = *first;
    if (firsts_ < enough || !ascends || std::exchange(ascends_, ascends)) return;
    std::string rest;
    for (std::size_t column = 3; column < fields.size(); ++column) rest += ",-";
    doubts_->suspect_at(
        first_at_, "time_as_id",
        fmt::format("the first column is read as the source, but its numbers such as {} ascend as times do",
                    in_ticks(first_text_)),
        fmt::format("{} reads it as the time, {} says that it is the source", spelling_("columns", "time,source,target" + rest),
                    spelling_("columns", fields.size() == 3 ? "source,target,time" : "source,target,label,time")));
  }

  [[nodiscard]] bool has_sign(std::span<const std::string_view> fields, Role role) const noexcept {
    const std::string_view field = fields[static_cast<std::size_t>(layout_.column(role))];
    return field.starts_with('+') || field.starts_with('-');
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
                         fmt::format("{} fields, but a record is {} unless columns are named", count,
                                     tabs_ ? "[+|-] source target, or [+|-] source target label time"
                                           : "source target, source target time, or source target label time"));
  }

  Decoded header(std::string_view record) {
    Decoded decoded = maker_.refuse(RejectReason::malformed,
                                    fmt::format("{} looks like a header, whose words would be read as ids", in_ticks(record)));
    decoded.remedy = "remove the line";
    return decoded;
  }

  Decoded wrong_arity(std::span<const std::string_view> fields) {
    // A sign that is neither + nor - gets a reason of its own.
    if (fields.size() == arity_ + 1 && tabs_ && fields[0].size() <= 1) {
      return maker_.refuse(RejectReason::bad_operation, fmt::format("op {} is neither + nor -", in_ticks(fields[0])));
    }
    if (fields.size() == arity_) return maker_.refuse(RejectReason::wrong_arity, "a sign is in the place of the first id");
    return maker_.refuse(RejectReason::wrong_arity, arity_text(fields.size(), arity_));
  }

  void split(std::string_view record, std::vector<std::string_view>& fields) const {
    fields.clear();
    const char* at = record.data();
    const char* const end = at + record.size();
    if (tabs_) {
      if (record.find_first_not_of(" \t") == std::string_view::npos) return;
      for (const char* start = at;; start = ++at) {
        while (at != end && *at != '\t') ++at;  // fields are short: faster than memchr
        fields.push_back(without_blanks({start, static_cast<std::size_t>(at - start)}));
        if (at == end) return;
      }
    }
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    for (;;) {
      while (at != end && blank(*at)) ++at;
      if (at == end || (fields.empty() && (*at == '#' || *at == '%'))) return;
      const char* const start = at;
      while (at != end && !blank(*at)) ++at;
      fields.emplace_back(start, static_cast<std::size_t>(at - start));
    }
  }

  bool tabs_;
  Doubts* doubts_;
  OptionSpelling spelling_;
  ColumnSpec spec_;
  bool guesses_;               // nobody has named the columns
  bool doubts_hashes_;         // nobody has stated what ids are
  bool may_begin_with_words_;  // the first record
  bool only_first_ = false;    // no other record has been read
  bool watches_first_;         // the first column may still be times
  std::int64_t last_first_ = 0;
  std::uint64_t firsts_ = 0;  // records whose first column may be a time
  bool ascends_ = false;      // three of them ascend
  Position first_at_;
  std::string first_text_;
  UpdateMaker maker_;
  Layout layout_;
  std::size_t arity_ = 0;  // 0: not known yet
  std::vector<std::string_view> fields_;
};

/// A header `V,E,u|d,name`, then `u,v`.
class JlgCodec final : public Codec {
 public:
  explicit JlgCodec(const CodecOptions& options) : maker_(make_field_maker(Format::jlg, options)), whole_(options.whole) {
    if (!options.columns.empty())
      throw Error(ErrorKind::usage, "columns", "jlg files have fixed columns", "leave the option out");
    if (!options.op_values.empty())
      throw Error(ErrorKind::usage, "op-values", "jlg files have no operations", "leave the option out");
  }

  Decoded decode(std::string_view record) override {
    if (record.find_first_not_of(" \t") == std::string_view::npos) return {};
    fields_.clear();
    for (std::size_t at = 0; at <= record.size() && fields_.size() <= most_fields;) {
      const std::size_t end = std::min(record.find(',', at), record.size());
      fields_.push_back(without_blanks(record.substr(at, end - at)));
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
      fault = fmt::format("the {} in the header is neither u nor d", in_ticks(fields_[2]));
    if (!fault.empty()) return maker_.refuse(RejectReason::malformed, fault);
    if (whole_) sizes_.tell(vertices, edges);
    return {};
  }

  UpdateMaker maker_;
  bool whole_;
  DeclaredSizes sizes_{1};
  Layout layout_{{Role::source, Role::target}};
  bool awaits_header_ = true;
  std::vector<std::string_view> fields_;
};

/// Whether a line is a header of jlg. Its numbers may be negative, so that such a header is refused by name.
bool is_jlg_header(std::string_view line) noexcept {
  const auto number = [&line] {
    if (line.starts_with('-')) line.remove_prefix(1);
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    const bool found = digits != 0 && digits < line.size() && line[digits] == ',';
    line.remove_prefix(found ? digits + 1 : 0);
    return found;
  };
  const bool vertices = number();
  const bool edges = vertices && number();
  return edges && (line == "u" || line == "d" || line.starts_with("u,") || line.starts_with("d,"));
}

}  // namespace

UpdateMaker make_field_maker(Format format, const CodecOptions& options) {
  const bool numeric = format == Format::snap || format == Format::jlg;
  UpdateMaker maker(options.ids.value_or(numeric ? IdKind::integer : IdKind::automatic),
                    TimeReader(options.time_unit.value_or(TimeUnit::seconds), options.time_format,
                               options.time_unit ? nullptr : options.doubts),
                    options.edge_label, Operations(options.op_values, spelling_of(options), options.columns), options.doubts,
                    spelling_of(options), format == Format::csv);
  if (!options.ids && !numeric) maker.doubt_names();
  maker.read_properties(options);
  return maker;
}

std::string arity_text(std::size_t found, std::size_t expected) {
  return fmt::format("{} {} instead of {}", found, found == 1 ? "field" : "fields", expected);
}

std::unique_ptr<Codec> make_delimited_codec(Format format, const CodecOptions& options) {
  if (format == Format::jlg) return std::make_unique<JlgCodec>(options);
  return std::make_unique<PlainCodec>(format, options);
}

bool begins_jlg(const TextHead& head) { return !head.lines.empty() && is_jlg_header(head.lines[0]); }

bool jlg_is_directed(LineSource& lines, const CodecOptions& /*options*/) {
  std::string_view header = first_line(lines.head());
  for (int comma = 0; comma < 2; ++comma) header.remove_prefix(std::min(header.find(','), header.size() - 1) + 1);
  return !header.starts_with("u,") && header != "u";
}

}  // namespace deltamatch::ingest
