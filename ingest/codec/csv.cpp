// CSV as in RFC 4180. Blanks around cells are left out, unless they are quoted. The columns get their meaning from a header, or
// from given positions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/csv_properties.hpp"
#include "ingest/codec/csv_split.hpp"
#include "ingest/codec/delimited.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/gephi_type.hpp"
#include "ingest/codec/header_words.hpp"
#include "ingest/codec/operation_words.hpp"
#include "ingest/codec/unread_operations.hpp"

namespace deltamatch::ingest {
namespace {

/// Whether a label column of a vertex list has a name that allows several labels in a cell, as in neo4j.
bool holds_several_labels(std::string_view column) noexcept {
  return same_letters(column, ":label") || same_letters(column, "labels") || same_letters(column, "_labels") ||
         same_letters(column, ":labels");
}

class CsvCodec final : public Codec {
 public:
  explicit CsvCodec(const CodecOptions& options)
      : columns_(options.columns),
        spec_(parse_columns(options)),
        properties_(options, spec_),
        maker_(make_field_maker(Format::csv, options)),
        spelling_(spelling_of(options)),
        doubts_(options.doubts),
        doubts_hashes_(doubts_ != nullptr && !options.ids),
        vertices_(options.vertices),
        may_begin_with_words_(!spec_.named() && !options.header),
        operations_(spelling_, options.columns),
        direction_told_(options.directed.has_value()),
        type_(options.columns, spelling_, options.directed, spec_.name(Role::label).has_value()) {
    separator_ = options.separator;
    if (separator_ != 0 && std::string_view(",;\t|").find(separator_) == std::string_view::npos) {
      throw Error(ErrorKind::usage, "separator", in_ticks({&separator_, 1}) + " cannot separate CSV fields",
                  "use , ; | or a tab");
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

  void surround(const MessageFrame* frame) override { maker_.surround(frame); }
  [[nodiscard]] char quoted_separator() const noexcept override { return separator_ != 0 ? separator_ : ','; }
  [[nodiscard]] std::optional<bool> directed() const noexcept override { return type_.says(); }
  void hold_to_direction(bool directed) override { type_.hold(directed); }

  Decoded decode(std::string_view record) override {
    if (record.find_first_not_of(" \t") == std::string_view::npos) return {};
    if (separator_ == 0) separator_ = csv_separator(record);
    const bool whole = split_csv(record, separator_, fields_, scratch_);
    if (awaits_header_) {
      const std::string fault = spec_.named() ? read_header(whole) : std::string();
      awaits_header_ = !fault.empty();
      if (!fault.empty()) return bad_header(record, fault);
      header_.assign(fields_.begin(), fields_.end());
      maker_.name_columns(header_);
      return {};
    }
    if (!whole)
      return maker_.refuse(RejectReason::malformed, "a quote or a line end is in a wrong place, or a quote is missing");
    if (fields_.size() != arity_) return maker_.refuse(RejectReason::wrong_arity, arity_text(fields_.size(), arity_));
    if (std::exchange(may_begin_with_words_, false) && is_header_of(layout_, fields_)) {
      return end_with(fmt::format("{} looks like a header, whose words would be read as ids", in_ticks(record)),
                      fmt::format("{}, {} reads it as a record", passing_over(), spelling_("header", "no")));
    }
    if (!header_.empty() && is_header_again()) return header_again(record);
    if (type_column_) {
      if (std::optional<Decoded> refused = read_type(fields_[*type_column_])) return *refused;
    }
    if (!operations_.empty()) operations_.see(fields_, *doubts_);
    if (direction_column_) [[unlikely]]
      watch_direction();
    Decoded decoded = maker_.make(layout_, fields_);
    if (maker_.lacks_id()) [[unlikely]]
      decoded = take_quoted_names(record);
    if (record[0] == '#' && doubts_hashes_ && !decoded.updates.empty() && !may_stand_for_none(fields_[0])) [[unlikely]]
      doubts_->begins_with_hash(record);
    if (watches_label_ && !decoded.updates.empty() && layout_.has(Role::label)) watch_label();
    return decoded;
  }

  [[nodiscard]] std::string advice(RejectReason reason, std::string_view record) const override {
    if (reason == RejectReason::wrong_arity) return advice_on_columns(record);
    if (reason == RejectReason::bad_id && may_be_vertex_of_apoc(record)) {
      return "if it is a vertex in an export of neo4j's APOC, keep the header and the edges, and convert the file: awk 'NR == "
             "1 || /^,/' "
             "FILE";
    }
    if (reason != RejectReason::missing_time) return {};
    const auto found = std::ranges::find_if(unread_, [&](std::size_t column) { return may_be_time(header_[column]); });
    if (layout_.has(Role::time) || found == unread_.end()) return {};
    return time_column_advice(spelling_, columns_, header_[*found]);
  }

 private:
  /// What to do if a record has other fields than the positions say.
  [[nodiscard]] std::string advice_on_columns(std::string_view record) const {
    if (spec_.named()) return {};
    std::vector<std::string_view> fields;
    std::string scratch;
    if (!split_csv(record, separator_, fields, scratch)) return {};
    return skipping_columns(spelling_, spec_, fields.size());
  }

  /// Whether a record is a vertex, in a table where the edges have columns of their own behind those of vertices.
  [[nodiscard]] bool may_be_vertex_of_apoc(std::string_view record) const {
    if (header_.empty() || header_[0] != "_id" || std::ranges::find(header_, "_start") == header_.end()) return false;
    return !record.starts_with(',');
  }

  void find_unread() {
    unread_.clear();
    operations_.clear();
    watches_label_ = false;
    for (std::size_t column = 0; column < fields_.size(); ++column) {
      bool read = type_column_ == column;
      for (std::size_t r = 0; r < spec_.roles(); ++r) {
        read = read || layout_.column(static_cast<Role>(r)) == static_cast<int>(column);
      }
      if (!read) unread_.push_back(column);
    }
    direction_column_.reset();
    for (const std::size_t column : unread_) {
      const bool is_called_so = std::ranges::any_of(std::array{"directed", "is_directed", "isDirected", "oneway", "one_way"},
                                                    [&](std::string_view name) { return same_letters(name, fields_[column]); });
      if (is_called_so && doubts_ != nullptr && !direction_told_ && !type_column_) direction_column_ = column;
    }
    const bool says = layout_.has(Role::op) || layout_.has(Role::deleted) || spec_.name(Role::op) || spec_.name(Role::deleted);
    if (says || doubts_ == nullptr) return;
    operations_.watch(unread_, fields_);
    watches_label_ = !spec_.name(Role::label);
  }

  /// A column `directed` that is false in all records.
  void watch_direction() {
    constexpr std::string_view code = "undirected_column";
    const std::string_view value = fields_[*direction_column_];
    if (usual_flag(value) != true) {  // `false` keeps an edge in a deletion flag
      doubts_->acquit(code);
      direction_column_.reset();
    } else if (!doubts_->suspected_again(code)) {
      const bool configured = spelling_.in_configuration;
      doubts_->suspect_at(
          doubts_->position(), code,
          fmt::format("{} is {} in all records, but edges are read as directed", in_ticks(header_[*direction_column_]),
                      in_ticks(value)),
          configured ? "directed: false reads them so" : "--undirected reads them so; --directed says that they are directed");
    }
  }

  void watch_label() {
    const auto column = static_cast<std::size_t>(layout_.column(Role::label));
    doubts_->guessed_label(header_[column], fields_[column], remedy_of_label(spelling_, columns_, header_[column]));
    watches_label_ = doubts_->watches_labels();
  }

  /// What to do if the first record, whose columns have their meaning by position, is a header.
  [[nodiscard]] std::string passing_over() const {
    if (!layout_.has(Role::vertex)) return fmt::format("{} passes over it", spelling_("header", "yes"));
    const auto name = [&](Role role) { return fields_[static_cast<std::size_t>(layout_.column(role))]; };
    return fmt::format("{} reads it so",
                       spell_columns(spelling_, fmt::format("vertex={},label={}", name(Role::vertex), name(Role::label))));
  }

  /// Whether the record is the header again, or another header with the same names for source and target.
  [[nodiscard]] bool is_header_again() const {
    if (fields_.size() != header_.size()) return false;  // columns by position need not be those of the header
    if (!layout_.has(Role::source)) return repeats_header();
    const auto source = static_cast<std::size_t>(layout_.column(Role::source));
    const auto target = static_cast<std::size_t>(layout_.column(Role::target));
    return (repeats(fields_[source], header_[source]) && repeats(fields_[target], header_[target])) ||
           (repeats(fields_[source], header_[target]) && repeats(fields_[target], header_[source]));
  }

  /// Whether the record is the header again. If the names of the ids are usual ones, the case of letters does not matter.
  [[nodiscard]] bool repeats_header() const {
    if (std::ranges::equal(fields_, header_)) return true;
    for (const Role role : {Role::source, Role::target, Role::vertex}) {
      if (!layout_.has(role)) continue;
      const auto column = static_cast<std::size_t>(layout_.column(role));
      if (!repeats(fields_[column], header_[column])) return false;
    }
    return std::ranges::equal(fields_, header_, same_letters);
  }

  /// Whether a field is a name of the header. The case of letters matters unless the name is a usual one: A and a may be two
  /// vertices.
  [[nodiscard]] static bool repeats(std::string_view field, std::string_view name) noexcept {
    if (field == name) return true;
    return field.size() > 1 && same_letters(field, name) && role_by_usual_name(name).has_value();
  }

  Decoded header_again(std::string_view record) {
    if (!repeats_header()) {
      return end_with(fmt::format("{} is a second header, which differs from the first", in_ticks(record)),
                      "split the file here");
    }
    if (doubts_ != nullptr) {
      doubts_->tell("header_repeated", fmt::format("the header {} is repeated, and is skipped", in_ticks(record)),
                    "leave it out; a file with this header cannot have an edge of these names");
    }
    return {};
  }

  /// Reads the record again. A quoted word for a missing id is a name.
  Decoded take_quoted_names(std::string_view record) {
    split_csv(record, separator_, fields_, scratch_, &quoted_);
    maker_.take_as_names(quoted_);
    const Decoded decoded = maker_.make(layout_, fields_);
    maker_.take_as_names({});
    return decoded;
  }

  /// Returns what is wrong with the header.
  std::string read_header(bool whole) {
    layout_ = Layout();
    type_column_.reset();
    remedy_.clear();
    arity_ = fields_.size();
    claimed_ = properties_.claimed(fields_);
    std::array<bool, role_count> twice{};
    for (std::size_t column = 0; whole && column < fields_.size(); ++column) {
      for (std::size_t r = 0; r < role_count; ++r) {
        const auto role = static_cast<Role>(r);
        if (!is_called(fields_[column], role)) continue;
        if (claimed_[column] != 0 && !spec_.name(role)) continue;  // an attribute of that name goes first
        twice[r] = layout_.has(role);
        layout_.set(role, column);
      }
    }
    // A column called `id` names vertices only beside a label, and only if there are no edges.
    const bool edges = layout_.has(Role::source) && layout_.has(Role::target);
    const bool half = layout_.has(Role::source) != layout_.has(Role::target);
    if ((edges || half || !layout_.has_labels()) && !spec_.name(Role::vertex)) layout_.unset(Role::vertex);
    for (const Role role : label_lists) {
      if (!layout_.has(Role::vertex)) layout_.unset(role);
    }
    if (edges) find_type_column(twice[static_cast<std::size_t>(Role::label)]);
    for (std::size_t r = 0; r < role_count; ++r) {
      const auto role = static_cast<Role>(r);
      if (twice[r] && layout_.has(role)) {
        twice_ = role;
        return fmt::format("has two columns for {}", role_name(role));
      }
      if (spec_.names[r] && !spec_.names[r]->empty() && !layout_.has(role)) {
        return fmt::format("has no column {} for {}", in_ticks(*spec_.names[r]), role_name(role));
      }
    }
    if (half && !layout_.has(Role::vertex)) {
      const Role lacking = layout_.has(Role::source) ? Role::target : Role::source;
      return fmt::format("has no column for {}", role_name(lacking));
    }
    if (!layout_.complete()) return "has no columns for source and target, nor for a vertex and its label";
    if (std::string fault = properties_.find(fields_, layout_); !fault.empty()) {
      remedy_ = properties_.remedy();
      return fault;
    }
    find_unread();
    if (may_be_events()) return std::string(events);
    maker_.list_labels(layout_.has(Role::vertex) && holds_several_labels(column_name(Role::label)),
                       same_letters(column_name(Role::source_label), "source_labels"),
                       same_letters(column_name(Role::target_label), "target_labels"));
    maker_.name_operations(column_name(Role::op), column_name(Role::deleted));
    return {};
  }

  static constexpr std::string_view events = "has an id and a label like a list of vertices, but may be a list of events";

  /// An id beside a type also begins lists of transfers or calls. Two of the other columns then say between whom.
  [[nodiscard]] bool may_be_events() const {
    if (vertices_ || !layout_.has(Role::vertex) || spec_.name(Role::vertex) || unread_.size() < 2) return false;
    if (!layout_.has(Role::label)) return false;  // only vertices have lists of labels
    return same_letters(fields_[static_cast<std::size_t>(layout_.column(Role::vertex))], "id");
  }

  [[nodiscard]] bool is_called(std::string_view field, Role role) const {
    const auto& name = spec_.name(role);
    if (name) return !name->empty() && (field == *name || field == without_blanks(*name));
    return spec_.usual(role) && role_by_usual_name(field) == role && !is_named(field);
  }

  /// Whether `columns` names the field for a role. Then no usual name holds for it.
  [[nodiscard]] bool is_named(std::string_view field) const {
    return std::ranges::any_of(all_roles(), [&](Role role) {
      const auto& name = spec_.name(role);
      return name && !name->empty() && (field == *name || field == without_blanks(*name));
    });
  }

  [[nodiscard]] std::string column_name(Role role) const {
    return layout_.has(role) ? std::string(fields_[static_cast<std::size_t>(layout_.column(role))]) : std::string();
  }

  /// Finds a column Type that no option claims. It is the label, or the direction of edges as in Gephi's tables; the first
  /// record decides. Beside a column Label it can only be the direction.
  void find_type_column(bool& labels_twice) {
    std::vector<std::size_t> labels;
    std::optional<std::size_t> type;
    for (std::size_t column = 0; column < fields_.size(); ++column) {
      if (claimed_[column] != 0) continue;
      if (same_letters(fields_[column], "type")) {
        if (type) return;
        type = column;
      } else if (is_called(fields_[column], Role::label)) {
        labels.push_back(column);
      }
    }
    if (!type) return;
    for (std::size_t r = 0; r < role_count; ++r) {
      const auto role = static_cast<Role>(r);
      if (spec_.names[r] && layout_.column(role) == static_cast<int>(*type)) return;
    }
    type_column_ = type;
    type_.may_be_label(!spec_.name(Role::label) && labels.empty());
    if (labels.empty()) return;
    type_.name_columns(fields_[*type], fields_[labels.back()]);
    labels_twice = labels.size() > 1;
    layout_.set(Role::label, labels.back());
  }

  /// Returns a refusal if the record's Type does not fit.
  std::optional<Decoded> read_type(std::string_view cell) {
    std::optional<GephiType::Refusal> refusal = type_.read(cell);
    if (type_.is_direction() && type_.may_be_label()) layout_.unset(Role::label);
    if (!refusal) return std::nullopt;
    if (refusal->remedy.empty()) return maker_.refuse(RejectReason::malformed, std::move(refusal->message));
    return end_with(std::move(refusal->message), std::move(refusal->remedy));
  }

  Decoded end_with(std::string message, std::string remedy) {
    Decoded decoded = maker_.refuse(RejectReason::malformed, std::move(message));
    remedy_ = std::move(remedy);
    decoded.remedy = remedy_;
    return decoded;
  }

  Decoded bad_header(std::string_view record, std::string_view fault) {
    constexpr std::size_t longest = 400;  // enough to show all names
    const std::string vertices = fmt::format("vertex={},label={}", column_name(Role::vertex), column_name(Role::label));
    const std::string edges = spell_columns(spelling_, completed());
    const bool known = columns_of_ends(fields_).has_value() || !columns_.empty();
    std::string remedy = !remedy_.empty()  ? std::exchange(remedy_, {})
                         : fault == events ? fmt::format("give {} if the records are edges, {} if they are vertices", edges,
                                                         spell_columns(spelling_, vertices))
                         : twice_          ? one_of_two(*twice_)
                         : known           ? fmt::format("give {}", edges)
                                           : fmt::format("give {}, or if there is no header {}", edges,
                                                         spelling_("columns", columns_by_position(fields_)));
    if (!is_utf8(record)) remedy = "convert the file to UTF-8, e.g. iconv -f cp1252 -t utf-8 FILE > utf8.csv";
    return end_with(fmt::format("the CSV header {} {}", in_ticks(record, longest), fault), remedy);
  }

  /// The option `columns` as given. Ends of edges that it leaves out, and names that the header lacks, are likely columns
  /// there.
  [[nodiscard]] std::string completed() const {
    std::string columns = columns_;
    for (const Role role : all_roles()) {
      const bool given = spec_.name(role) && !spec_.name(role)->empty();
      const bool needed = (role == Role::source || role == Role::target) && !spec_.name(Role::vertex);
      if (given ? layout_.has(role) : !needed) continue;
      std::string name = layout_.has(role) ? column_name(role) : likely_column(role_name(role), fields_);
      if (name.empty()) name = "NAME";
      columns = with_column(columns, fmt::format("{}={}", role_name(role), name));
    }
    if (columns_of_ends(fields_)) {
      columns += label_of_other_programs();
      const std::string time = layout_.has(Role::time) || spec_.name(Role::time) ? "" : likely_column("time", fields_);
      if (!time.empty()) columns = with_column(columns, fmt::format("time={}", time));
    }
    return properties_.complete(std::move(columns), fields_);
  }

  /// The entry for the column of labels that neo4j, its APOC or Neptune writes. Empty if a column has a usual name.
  [[nodiscard]] std::string label_of_other_programs() const {
    constexpr auto names = std::to_array<std::string_view>({":TYPE", "~label", "_type"});
    if (std::ranges::any_of(fields_, [&](std::string_view field) { return is_called(field, Role::label); })) return {};
    for (const std::string_view field : fields_) {
      if (std::ranges::any_of(names, [&](std::string_view name) { return same_letters(name, field); }))
        return fmt::format(",label={}", field);
    }
    return {};
  }

  /// What to do if two columns have a role. If their names differ, `columns` can name one. Else they have positions alone.
  [[nodiscard]] std::string one_of_two(Role role) const {
    std::vector<std::string_view> names;
    std::string positions;
    std::array<bool, role_count> taken{};
    for (const std::string_view field : fields_) {
      std::string_view entry = "-";
      for (std::size_t r = 0; r < role_count && field.size() != 0; ++r) {
        if (!is_called(field, static_cast<Role>(r)) || std::exchange(taken[r], true)) continue;
        entry = role_name(static_cast<Role>(r));
      }
      positions.append(positions.empty() ? "" : ",").append(entry);
      if (is_called(field, role)) names.push_back(field);
    }
    if (std::ranges::any_of(names, [&](std::string_view name) { return name != names[0]; })) {
      const auto option = [&](std::string_view name) {
        return spell_columns(spelling_, with_column(columns_, fmt::format("{}={}", role_name(role), name)));
      };
      return fmt::format("give {} or {}", option(names[0]), option(names[1]));
    }
    return fmt::format("give {} {}, which read the first of them by its position", spelling_("header", "yes"),
                       spelling_("columns", positions));
  }

  std::string columns_;
  ColumnSpec spec_;
  CsvProperties properties_;
  std::vector<char> claimed_;  // by column: whether an attribute has its name
  UpdateMaker maker_;
  OptionSpelling spelling_;
  Doubts* doubts_;
  bool doubts_hashes_;  // nobody has stated what ids are
  bool vertices_;
  bool may_begin_with_words_;  // the first record is still to be checked for a header
  Layout layout_;
  std::string remedy_;
  std::vector<std::string> header_;
  std::vector<std::size_t> unread_;
  std::optional<std::size_t> direction_column_;  // that may say that edges have no direction
  UnreadOperations operations_;
  bool direction_told_;         // an option says how edges are meant
  bool watches_label_ = false;  // the label column got its meaning by a usual name
  std::vector<char> quoted_;
  char separator_ = 0;
  bool awaits_header_ = false;
  std::size_t arity_ = 0;
  std::vector<std::string_view> fields_;
  std::string scratch_;

  std::optional<Role> twice_;               // a role that two columns of the header have
  std::optional<std::size_t> type_column_;  // that is, or may be, Gephi's
  GephiType type_;
};

}  // namespace

std::unique_ptr<Codec> make_csv_codec(const CodecOptions& options) { return std::make_unique<CsvCodec>(options); }

}  // namespace deltamatch::ingest
