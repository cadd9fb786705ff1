#include "ingest/stream.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "deltamatch/error.hpp"
#include "deltamatch/misfit.hpp"
#include "ingest/batch/read_ahead.hpp"
#include "ingest/codec/beginning.hpp"
#include "ingest/codec/binary_schema.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/csv_advice.hpp"
#include "ingest/codec/formats.hpp"
#include "ingest/codec/mtx.hpp"
#include "ingest/codec/schema_text.hpp"
#include "ingest/codec/time_guess.hpp"
#include "ingest/source/byte_buffer.hpp"
#include "ingest/source/line_source.hpp"

namespace deltamatch::ingest {
namespace {

// How the files of deltamatch that are no streams begin, what they are, and where they can be given.
struct WholeFile {
  std::string_view magic;
  std::string_view noun;
  std::string_view role;
};
constexpr WholeFile whole_files[] = {{"\x8f"
                                      "DMGRF",
                                      "graph file", "the start graph"},
                                     {"\x8f"
                                      "DMSNP",
                                      "snapshot", "the snapshot to start from"}};

/// The formats of text files, "snap, csv or jsonl", except one.
std::string names_of_texts(std::optional<Format> except = std::nullopt) {
  std::vector<std::string_view> names;
  for (const FormatTraits& traits : formats()) {
    if (traits.is_text() && traits.format != except) names.push_back(traits.name);
  }
  const std::string_view last = names.back();
  names.pop_back();
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

Input look_at(std::unique_ptr<ByteSource> source) {
  ByteBuffer bytes(unpacked(std::move(source)));
  std::optional<Schema> schema = stated_schema(bytes);
  return {std::move(bytes), std::move(schema)};
}

OnUnreadable on_unreadable(OnError policy) noexcept {
  if (policy == OnError::fail) return OnUnreadable::stop;
  return policy == OnError::skip ? OnUnreadable::count : OnUnreadable::list;
}

class FileStream final : public UpdateStream {
 public:
  FileStream(ByteBuffer bytes, const ReadOptions& options) : FileStream(bytes.name(), options) {
    for (const FormatTraits& traits : formats()) {
      if (!format_ && !traits.magic.empty() && bytes.begins_with(traits.magic)) format_ = traits.format;
    }
    if (format_ && !traits_of(*format_).is_text())
      open_bytes(std::move(bytes), traits_of(*format_));
    else
      open_text(std::move(bytes));
    begin();
  }

  FileStream(std::string name, std::unique_ptr<RecordSource> source, const MakeCodec& make_codec, const ReadOptions& options)
      : FileStream(std::move(name), options) {
    format_.reset();
    codec_ = make_codec(options_.codec);
    source_ = std::move(source);
    begin();
  }

  Arrival next_within(PositionedBatch& batch, std::chrono::milliseconds timeout) override {
    while (!closed_) {
      const Arrival arrival = reader_ ? reader_->queue().next_within(batch, timeout) : fill(batch);
      if (arrival == Arrival::nothing) return arrival;
      if (arrival == Arrival::ended) break;
      if (!batch.updates.empty() || options_.cuts) return arrival;
      settle(batch, {});  // the engine gets nothing from it
    }
    batch.clear();
    if (options_.on_error == OnError::fail && !batcher_->stopped()) {
      if (const std::string flaw = codec_->flaw(); !flaw.empty())
        throw Error(name_, flaw, fmt::format("correct the header or the file{}", else_skip()));
    }
    return Arrival::ended;
  }

  const UpdateBatch* upcoming(const std::stop_token& stop) override {
    const PositionedBatch* batch = reader_ ? reader_->queue().upcoming(stop) : nullptr;
    return batch == nullptr ? nullptr : &batch->updates;
  }

  void stop() override {
    batcher_->stop();
    source_->cancel();
  }

  void wake() override {
    if (reader_) reader_->queue().wake();
  }

  void settle(const PositionedBatch& batch, std::span<const Reject> rejects) override {
    for (std::size_t r = 0; r < reject_reason_count; ++r) counters_.by_reason[r] += batch.refused()[r];
    for (const Reject& reject : rejects) ++counters_.by_reason[static_cast<std::size_t>(reject.reason)];
    count_records(batch, rejects);
    if (options_.on_error == OnError::skip) return;
    auto reject = rejects.begin();
    for (const Refusal& refusal : batch.refusals()) {
      for (; reject != rejects.end() && reject->index < refusal.index; ++reject) report(batch, *reject);
      report({name_, refusal.position, refusal.reason, refusal.message, refusal.bytes, refusal.length});
    }
    for (; reject != rejects.end(); ++reject) report(batch, *reject);
    if (letters_) letters_->commit();
  }

  [[nodiscard]] OnReject on_reject() const noexcept override {
    return options_.on_error == OnError::fail ? OnReject::stop : OnReject::skip;
  }
  [[nodiscard]] const RefusalCounters& refused() const noexcept override { return counters_; }
  [[nodiscard]] std::uint64_t records() const noexcept override { return records_; }
  [[nodiscard]] const std::vector<FirstRefusal>& first_refusals() const noexcept override { return first_refusals_; }
  std::vector<Warning> warnings() override {
    closed_ = true;
    reader_.reset();  // its thread writes the doubts
    std::vector<Warning> warnings;
    for (Doubts::Doubt& doubt : doubts_.all(options_.window)) {
      warnings.push_back({std::move(doubt.code), doubt.at.number == 0 ? name_ : source_->where(doubt.at), std::move(doubt.what),
                          std::move(doubt.remedy), doubt.count});
    }
    return warnings;
  }
  [[nodiscard]] const Doubts& doubts() const noexcept override { return doubts_; }
  [[nodiscard]] std::string advice_on_times() const override {
    if (!format_ || traits_of(*format_).columns == ColumnForm::fixed)
      return "give the edges with their times, for instance as csv, or leave times out of the queries";
    const ColumnSpec spec = parse_columns(options_.codec);
    if (spec.name(Role::time) == std::string()) return {};
    if (std::string advice = advice_on_unread_times(); !advice.empty()) return advice;
    const OptionSpelling& spelling = options_.spelling;
    if (!spec.named() || !traits_of(*format_).has_names())
      return fmt::format("name the column that holds it, as in {}", spelling("columns", "source,target,time"));
    return fmt::format("{} says which column or field holds it, {} says that none does", spelling("columns", "time=NAME"),
                       spelling("columns", "time="));
  }
  [[nodiscard]] std::string advice_on_unread_times() const override {
    if (!format_ || parse_columns(options_.codec).name(Role::time) == std::string()) return {};
    return codec_->advice(RejectReason::missing_time, {});
  }
  [[nodiscard]] std::string where(Position position) const override { return source_->where(position); }
  [[nodiscard]] Progress progress() const noexcept override { return source_->progress(); }
  [[nodiscard]] std::optional<Format> format() const noexcept override { return format_; }
  [[nodiscard]] bool directed() const noexcept override { return directed_; }
  [[nodiscard]] bool says_undirected() const noexcept override {
    return !directed_ && !(format_ && traits_of(*format_).assumes_undirected);
  }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }

 private:
  FileStream(std::string name, const ReadOptions& options)
      : options_(options), name_(std::move(name)), format_(options.format), doubts_(options.spelling) {
    options_.codec.doubts = &doubts_;
    if (options.on_error != OnError::dead_letter) return;
    if (!options.letters && options.dead_letters.empty())
      throw Error(ErrorKind::usage, name_, "dead letters need a file", "name one with dead-letters");
    letters_ = options.letters ? options.letters : make_dead_letter_file(options.dead_letters);
    if (!options.letters) letters_->commit();  // so a file that cannot be made is reported now
  }

  /// Begins to read, once source and codec are there.
  void begin() {
    watch_ids();
    batcher_.emplace(*source_, *codec_, doubts_, options_.limits, on_unreadable(options_.on_error), options_.cuts,
                     options_.max_ahead);
    if (options_.read_ahead != 0) reader_.emplace(*batcher_, *source_, options_.read_ahead);
  }

  Arrival fill(PositionedBatch& batch) { return batcher_->fill(batch) ? Arrival::batch : Arrival::ended; }

  void count_records(const PositionedBatch& batch, std::span<const Reject> rejects) {
    records_ += batch.records();
    for (const std::uint64_t count : batch.refused()) records_ += count;
    const auto is_known = [&](RejectReason reason) {
      return std::ranges::find(first_refusals_, reason, &FirstRefusal::reason) != first_refusals_.end();
    };
    for (const Refusal& refusal : batch.first_refusals()) {
      if (!is_known(refusal.reason))
        first_refusals_.push_back({refusal.reason, source_->where(refusal.position), refusal.message});
    }
    for (const Reject& reject : rejects) {
      if (is_known(reject.reason)) continue;
      first_refusals_.push_back({reject.reason, source_->where(batch.position(reject.index)),
                                 message_about(batch.updates.updates()[reject.index], reject.reason)});
    }
  }

  /// Watches ids if nobody has stated what they are, and the format distinguishes numbers from texts.
  void watch_ids() {
    const bool both = options_.watch_ids || (format_ && traits_of(*format_).tells_kinds);
    const bool spellings = format_ && traits_of(*format_).has_names_as_ids;
    if (!options_.codec.ids && (both || spellings)) doubts_.watch_ids(spellings);
  }

  void open_bytes(ByteBuffer bytes, const FormatTraits& traits) {
    codec_ = make_codec(traits.format, options_.codec);
    source_ = traits.open_bytes(std::move(bytes), options_.codec, options_.max_record);
  }

  void open_text(ByteBuffer bytes) {
    auto lines = std::make_unique<LineSource>(std::move(bytes), options_.max_record);
    const std::string_view head = lines->head();
    refuse_archive(head, name_);
    refuse_wide_text(head, name_);
    refuse_lone_returns(head, name_);
    refuse_notation(head, name_, format_);
    if (!format_ && !head.empty()) format_ = recognise(head);
    const std::string_view banner = mtx_banner_of(head);
    if (format_ && format_ != Format::mtx && !banner.empty()) {
      throw Error(where_in(head, banner), fmt::format("a Matrix Market file, which is to be read as {}", format_name(*format_)),
                  fmt::format("leave {} out, or give {}", option("format"), options_.spelling("format", "mtx")));
    }
    if (format_ == Format::jsonl && options_.format && head.find_first_of("{[") == std::string_view::npos)
      advice_ = no_json(head);
    if (format_ == Format::jsonl && begins_with_row(head)) {
      row_advice_ = columns_of_rows(options_.spelling, options_.codec.columns, options_.codec.vertices) +
                    " reads an array of such values as a row, else ";
    }
    // An empty file has no format, so options cannot contradict it.
    const CodecOptions codec = format_ ? codec_options(head) : CodecOptions();
    codec_ = make_codec(format_.value_or(Format::snap), codec);
    if (format_) look_at_beginning(head, codec);
    lines->set_quoted_separator(codec_->quoted_separator());
    directed_ = means_directed(*lines, codec);
    codec_->hold_to_direction(directed_);
    if (format_ && traits_of(*format_).open_text != nullptr)
      source_ = traits_of(*format_).open_text(std::move(lines), codec, options_.max_record);
    else
      source_ = std::move(lines);
  }

  void look_at_beginning(std::string_view head, const CodecOptions& codec) {
    const bool named = parse_columns(codec).named();
    if (format_ == Format::csv && codec.header.value_or(named)) {
      CodecOptions any = codec;
      any.separator = options_.codec.separator;  // the separator of the first line need not be that of the header
      refuse_lines_above_header(head, name_, any);
      refuse_header_of_words(head, name_, codec, options_.conversion);
    }
    const bool plain = format_ == Format::snap || format_ == Format::tsv;
    const bool headless = format_ == Format::csv && !codec.header && !named;
    if (plain && !options_.codec.vertices) doubt_comments(head, codec.directed.has_value(), doubts_);
    if (plain) doubt_weights(head, codec, doubts_);
    if (plain || headless) doubt_first_record(head, *format_, codec, doubts_);
    if ((plain || headless) && !options_.codec.vertices) doubt_sizes(head, format_ == Format::snap, doubts_);
  }

  /// Whether a text begins with an array whose first element is a number or a text.
  [[nodiscard]] static bool begins_with_row(std::string_view head) noexcept {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = std::min(head.find_first_not_of(blanks), head.size());
    const std::size_t inner = head.find_first_not_of(blanks, first + 1);
    return head.substr(first).starts_with('[') && inner != std::string_view::npos &&
           std::string_view("\"-0123456789").find(head[inner]) != std::string_view::npos;
  }

  /// An option without its value, as the user writes it.
  [[nodiscard]] std::string option(std::string_view name) const {
    std::string text = options_.spelling(name, "");
    text.resize(text.find_last_not_of(": '=") + 1);  // without the empty value
    return text;
  }

  [[nodiscard]] std::string where_in(std::string_view head, std::string_view part) const {
    const std::string_view before = head.substr(0, static_cast<std::size_t>(part.data() - head.data()));
    return fmt::format("{}:{}", name_, 1 + std::ranges::count(before, '\n'));
  }

  /// Decides by the format, or by the beginning of the file.
  [[nodiscard]] bool means_directed(LineSource& lines, const CodecOptions& codec) const {
    if (!format_) return true;
    const FormatTraits& traits = traits_of(*format_);
    return traits.directed == nullptr ? !traits.assumes_undirected : traits.directed(lines, codec);
  }

  [[nodiscard]] Format recognise(std::string_view head) const {
    // Columns by position fit a file with single tabs only if there are as many fields. Empty fields then count.
    const bool vertices = options_.codec.vertices && options_.codec.columns.empty();
    const std::size_t columns = vertices ? 2 : parse_columns(options_.codec).positions.size();
    const bool texts = options_.codec.ids == IdKind::string;
    const std::optional<Format> format = detect_format(head, columns, texts);
    // Only CSV has a separator that can be set.
    const char separator = options_.codec.separator;
    const bool separates = separator != 0 && first_line(head).find(separator) != std::string_view::npos;
    if (separates && (!format || format == Format::snap || format == Format::tsv)) return Format::csv;
    if (format) return *format;
    for (const auto& [magic, noun, role] : whole_files) {
      if (!head.starts_with(magic)) continue;
      throw Error(name_, fmt::format("is a {}, not a stream of records", noun),
                  fmt::format("give it as {}: by its name, and not packed", role));
    }
    if (const std::string_view line = tsv_or_snap(head, columns, texts); !line.empty()) {
      throw Error(
          where_in(head, line),
          fmt::format("the fields of {} may lie between single tabs (tsv), or between tabs and blanks (snap)", in_ticks(line)),
          fmt::format("give {} or {}", options_.spelling("format", "tsv"), options_.spelling("format", "snap")));
    }
    throw Error(name_ + ":1", fmt::format("the format is not recognised; the data starts with {}", in_ticks(head)),
                fmt::format("{} says which of {} it is{}", option("format"), names_of_texts(),
                            advice_on_names(head, options_.spelling, options_.codec.vertices)));
  }

  /// What to do about data that should be JSON and has no object.
  [[nodiscard]] std::string no_json(std::string_view head) const {
    const std::optional<Format> format = detect_format(head);
    if (!format || *format == Format::jsonl)
      return fmt::format("if it is no JSON, {} says which of {} it is, else ", option("format"), names_of_texts(Format::jsonl));
    return fmt::format("{} reads the data, else ", options_.spelling("format", format_name(*format)));
  }

  /// The options, completed from the data.
  [[nodiscard]] CodecOptions codec_options(std::string_view head) const {
    CodecOptions codec = options_.codec;
    if (const auto complete = traits_of(*format_).complete) complete(codec, head);
    return codec;
  }

  /// What to do about a refused record, up to the words "correct the record".
  [[nodiscard]] std::string advice_about(const DeadLetter& letter) const {
    if (letter.reason == RejectReason::malformed) {
      const bool scalar = letter.record.find_first_of("[{") != 0;
      return scalar && !row_advice_.empty() ? row_advice_ : advice_;
    }
    std::string advice = codec_->advice(letter.reason, letter.record);
    if (advice.empty() && letter.reason == RejectReason::missing_time) return no_time();
    if (!advice.empty() || letter.reason != RejectReason::bad_time) return advice.empty() ? advice : advice + ", else ";
    constexpr std::size_t fewest_of_us = 15;
    constexpr std::size_t fewest_of_ns = 18;
    const std::size_t start = letter.message.find('`') + 1;  // npos + 1 = 0
    const std::size_t digits =
        letter.message.substr(start, letter.message.find('`', start) - start).find_first_not_of("0123456789");
    const std::size_t length = digits == std::string_view::npos ? letter.message.find('`', start) - start : 0;
    const std::string_view text = std::string_view(letter.message).substr(start, letter.message.find('`', start) - start);
    if (const std::string form = time_format_advice(options_.spelling, text); !form.empty()) return form + ", else ";
    const std::string in_us = options_.spelling("time-unit", "us");
    if (length >= fewest_of_ns) return fmt::format("if it is in nanoseconds divide it by 1000 and give {}, else ", in_us);
    if (length >= fewest_of_us) return fmt::format("if it is in microseconds give {}, else ", in_us);
    return fmt::format("say how times are written with {} or {}, else ", option("time-unit"), option("time-format"));
  }

  /// What to do about records without times, if edges are kept for a window or for WITHIN.
  [[nodiscard]] std::string no_time() const {
    std::string window = options_.spelling.common("window", "");
    window.resize(window.find_last_not_of(": '=") + 1);
    if (options_.window == 0) window = "WITHIN";
    return fmt::format("if no record has a time, leave {} out; if some field holds it, name it in {}, else ", window,
                       options_.spelling.as_keywords ? "time" : option("columns"));
  }

  /// Says what is wrong with an update that was refused after it had been read.
  [[nodiscard]] std::string message_about(const Update& update, RejectReason reason) const {
    if (reason == RejectReason::bad_value) {
      if (auto misfit = find_misfit(schema_of(options_.codec), update)) return std::move(misfit->message);
    }
    return rejection_message(update, reason);
  }

  /// How to pass over what is wrong. A configuration says it where the stream is a topic.
  [[nodiscard]] std::string else_skip() const {
    if (options_.spelling.in_configuration) return {};
    return ", or give " + options_.spelling.common("on-error", options_.spelling.as_keywords ? "skip" : "skip or dead-letter");
  }

  void report(const PositionedBatch& batch, const Reject& reject) {
    const std::string message = message_about(batch.updates.updates()[reject.index], reject.reason);
    const std::string_view record = batch.record(reject.index);
    // If lines of edges are read as labels, some vertex gets a second label.
    const bool edges = reject.reason == RejectReason::label_conflict && options_.codec.vertices;
    report({name_, batch.position(reject.index), reject.reason, message, record, record.size()},
           edges ? "a file of labels states each vertex once; if these are edges, give the file as a graph, else " : "");
  }

  void report(const DeadLetter& letter, std::string_view advice = "") {
    if (options_.on_error == OnError::fail) {
      throw RecordError(
          source_->where(letter.position), fmt::format("{}: {}", reject_name(letter.reason), letter.message),
          fmt::format("{}correct the record{}", advice.empty() ? advice_about(letter) : std::string(advice), else_skip()),
          letter.position, letter.reason);
    }
    letters_->write(letter);
  }

  ReadOptions options_;
  std::string name_;
  std::shared_ptr<DeadLetterSink> letters_;
  std::optional<Format> format_;
  bool directed_ = true;
  std::string advice_;      // about malformed records
  std::string row_advice_;  // about elements of an array that may be a row
  Doubts doubts_;
  std::unique_ptr<Codec> codec_;
  std::unique_ptr<RecordSource> source_;
  std::optional<Batcher> batcher_;
  RefusalCounters counters_;
  std::uint64_t records_ = 0;
  std::vector<FirstRefusal> first_refusals_;
  bool closed_ = false;
  std::optional<ReadAhead> reader_;  // must be last: its thread uses all members above
};

}  // namespace

Input open_input(const std::string& path) { return look_at(open_file(path)); }

Input memory_input(std::string_view bytes, const std::string& name) { return look_at(memory_bytes(bytes, name)); }

std::unique_ptr<UpdateStream> open_stream(Input input, const ReadOptions& options) {
  return std::make_unique<FileStream>(std::move(input.bytes), options);
}

std::unique_ptr<UpdateStream> open_stream(const std::string& path, const ReadOptions& options) {
  return open_stream(open_input(path), options);
}

std::unique_ptr<UpdateStream> open_memory(std::string_view bytes, const std::string& name, const ReadOptions& options) {
  return open_stream(memory_input(bytes, name), options);
}

std::unique_ptr<UpdateStream> open_records(std::string name, std::unique_ptr<RecordSource> source, const MakeCodec& make_codec,
                                           const ReadOptions& options) {
  return std::make_unique<FileStream>(std::move(name), std::move(source), make_codec, options);
}

}  // namespace deltamatch::ingest
