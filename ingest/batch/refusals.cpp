#include "ingest/batch/refusals.hpp"

#include <numeric>
#include <optional>
#include <utility>

#include "ingest/codec/fields.hpp"
#include "ingest/sink/output_file.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

class DeadLetterFile final : public DeadLetterSink {
 public:
  explicit DeadLetterFile(std::string path) : path_(std::move(path)) {}

  void write(const DeadLetter& letter) override {
    append_dead_letter_fields(file().text(), letter);
    file().text() += "}\n";
    file().spill_if_large();
  }
  void commit() override { file().commit(); }

 private:
  OutputFile& file() {
    if (!file_) file_.emplace(path_);
    return *file_;
  }

  std::string path_;
  std::optional<OutputFile> file_;  // opening it empties it
};

}  // namespace

void append_dead_letter_fields(std::string& out, const DeadLetter& letter) {
  out += R"({"v":1,"reason":)";
  append_json_string(out, reject_name(letter.reason));
  out += R"(,"source":)";
  append_json_string(out, letter.source);
  out += R"(,"part":)";
  append_number(out, std::uint64_t{letter.position.part});
  out += R"(,"position":)";
  append_number(out, letter.position.number);
  out += R"(,"message":)";
  append_json_string(out, letter.message);
  out += R"(,"record":)";
  append_json_string(out, letter.record);
  out += R"(,"length":)";
  append_number(out, letter.length);
}

std::string_view on_error_name(OnError policy) noexcept {
  switch (policy) {
    case OnError::fail:
      return "fail";
    case OnError::skip:
      return "skip";
    case OnError::dead_letter:
      return "dead-letter";
  }
  return "unknown";
}

std::string_view refusal_remedy(RejectReason reason) noexcept {
  switch (reason) {
    case RejectReason::malformed:
      return "check the format (format)";
    case RejectReason::wrong_arity:
      return "say what the columns are (columns)";
    case RejectReason::bad_id:
      return "say what ids are (ids), and which columns hold them (columns)";
    case RejectReason::bad_time:
      return "say how times are written (time unit, time format), and which column holds them (columns)";
    case RejectReason::bad_operation:
      return "say which column holds the operation (columns)";
    case RejectReason::too_long:
      return "raise the limit (max record)";
    case RejectReason::label_conflict:
      return "state the labels of each vertex once, in a record of its own";
    case RejectReason::label_limit:
      return "say which columns hold labels (columns), since so many labels may be names, or raise the limit (max labels)";
    case RejectReason::missing_time:
      return "say which column holds the time (columns), or leave out the window, or WITHIN";
    case RejectReason::missing_key:
      return "say which column holds the key of an edge (columns), or choose another model of edges (edges)";
    case RejectReason::bad_value:
      return "declare the attribute with the type of its values (attributes)";
    default:
      return "correct the records";
  }
}

std::string rejection_message(const Update& update, RejectReason reason) {
  const auto text = [](const Id& id) { return in_ticks(id.is_text() ? std::string(id.text()) : std::to_string(id.number())); };
  const bool vertex = update.kind == UpdateKind::insert_vertex || update.kind == UpdateKind::delete_vertex;
  const std::string edge = update.by_key && update.key() ? "edge " + text(*update.key())
                                                         : "edge from " + text(update.source) + " to " + text(update.target);
  const std::string subject = vertex ? "vertex " + text(update.source) : edge;
  switch (reason) {
    case RejectReason::label_conflict:
      return subject + (vertex ? " has another label already" : " gives a vertex another label than it has");
    case RejectReason::missing_time:
      return subject + " has no time, which a window or WITHIN needs";
    case RejectReason::label_limit:
      return subject + " needs one more label than the limit allows";
    case RejectReason::missing_key:
      return subject + " has no key, which edges of this graph need";
    case RejectReason::bad_value:
      return subject + " has an attribute that does not fit its type";
    default:
      return subject + " was refused";
  }
}

std::uint64_t RefusalCounters::total() const noexcept {
  return std::accumulate(by_reason.begin(), by_reason.end(), std::uint64_t{0});
}

std::unique_ptr<DeadLetterSink> make_dead_letter_file(const std::string& path) {
  return std::make_unique<DeadLetterFile>(path);
}

}  // namespace deltamatch::ingest
