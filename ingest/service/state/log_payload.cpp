// The contents of the log's entries.
//
//   batch      1, text(mark as JSON), text(updates), text(alerts)
//   updates    flags, watermark? (else in the mark), steps?, number of updates, the updates in the packed form
//              (encoding/updates.hpp)
//   flags      1 if there is a watermark, plus 2 if there are steps
//   steps      their number; for each: the first update and the time, as differences to the step before
//   alerts     number of sinks; for each: text(name), number of alerts; for each: text(id), text(alert)
//   delivered  2, text(sink), batch, text(position)
//   piece      3, batch, text(sink), number of alerts; for each: text(alert)
//   batch      4, as 1, and text(streamed), whose alerts are in the pieces since the previous batch
//   streamed   number of sinks; for each: text(name), 1 for a sink in Kafka and else 0, number of alerts
//
// Labels of updates have numbers in the order of first use in the batch. At the first use, the text follows the number.
#include <string_view>
#include <vector>

#include "deltamatch/error.hpp"
#include "encoding/numbers.hpp"
#include "encoding/updates.hpp"
#include "ingest/service/state/log_format.hpp"
#include "ingest/service/state/older_updates.hpp"

namespace deltamatch::ingest::log_format {
namespace {

using encoding::ByteReader;
using encoding::put_number;
using encoding::put_signed;
using encoding::put_text;
using Form = encoding::PackedForm<encoding::TextsByFirstUse>;

bool read_steps(ByteReader& in, UpdateBatch& updates) {
  std::vector<WatermarkStep> steps;
  WatermarkStep at{0, 0};
  for (std::uint64_t left = in.number(); left > 0 && in.sound(); --left) {
    at.first += in.number();
    at.time = static_cast<Timestamp>(static_cast<std::uint64_t>(at.time) + static_cast<std::uint64_t>(in.signed_number()));
    steps.push_back(at);
  }
  updates.set_steps(std::move(steps));
  return in.sound();
}

void put_steps(std::string& out, std::span<const WatermarkStep> steps) {
  put_number(out, steps.size());
  WatermarkStep before{0, 0};
  for (const WatermarkStep& step : steps) {
    put_number(out, step.first - before.first);
    // The difference may wrap round, and the sum then wraps back.
    put_signed(out, static_cast<Timestamp>(static_cast<std::uint64_t>(step.time) - static_cast<std::uint64_t>(before.time)));
    before = step;
  }
}

bool read_updates(std::string_view bytes, const Origin& origin, UpdateBatch& updates) {
  ByteReader in(bytes);
  const std::uint8_t parts = in.byte();
  if (parts > 3) return false;
  if ((parts & 1) != 0) updates.set_watermark(in.signed_number());
  if ((parts & 2) != 0 && !read_steps(in, updates)) return false;
  const std::uint64_t count = in.number();
  const auto add = [&](const Update& update) { updates.add(update); };
  if (origin.version < packed_updates) return read_older_updates(in, count, add) && in.finished();
  Form form;
  const encoding::PackedOutcome outcome = take_packed(in, form, count, add);
  if (outcome.fault == encoding::PackedFault::unreadable) {
    throw Error(origin.where, "a logged update cannot be read: " + outcome.reason,
                "go on with the release that wrote it, or a newer one");
  }
  return outcome.fault == encoding::PackedFault::none && in.finished();
}

bool read_alerts(std::string_view bytes, std::vector<SinkAlerts>& sinks) {
  ByteReader in(bytes);
  for (std::uint64_t left = in.number(); left > 0 && in.sound(); --left) {
    SinkAlerts& sink = sinks.emplace_back();
    sink.sink = in.text();
    for (std::uint64_t alerts = in.number(); alerts > 0 && in.sound(); --alerts) {
      LoggedAlert& alert = sink.alerts.emplace_back();
      alert.id = in.text();
      alert.text = in.text();
    }
  }
  return in.finished();
}

bool read_streamed(std::string_view bytes, std::vector<StreamedAlerts>& sinks) {
  ByteReader in(bytes);
  for (std::uint64_t left = in.number(); left > 0 && in.sound(); --left) {
    StreamedAlerts& sink = sinks.emplace_back();
    sink.sink = in.text();
    const std::uint8_t in_transaction = in.byte();
    if (in_transaction > 1) in.fail();
    sink.in_transaction = in_transaction == 1;
    sink.alerts = in.number();
  }
  return in.finished();
}

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

}  // namespace

void put_batch(std::string& out, const CommitPoint& mark, std::span<const Update> updates, std::optional<Timestamp> watermark,
               std::span<const SinkAlerts> alerts, std::span<const StreamedAlerts> streamed,
               std::optional<std::span<const WatermarkStep>> steps) {
  out.push_back(static_cast<char>(streamed.empty() ? Kind::batch : Kind::streamed_batch));
  put_text(out, to_json(mark));
  std::string part;
  part.push_back(static_cast<char>((watermark ? 1 : 0) + (steps ? 2 : 0)));
  if (watermark) put_signed(part, *watermark);
  if (steps) put_steps(part, *steps);
  put_number(part, updates.size());
  encoding::ByteWriter writer(part);
  Form form;
  put_packed(writer, form, updates);
  put_text(out, part);
  part.clear();
  put_number(part, alerts.size());
  for (const SinkAlerts& sink : alerts) {
    put_text(part, sink.sink);
    put_number(part, sink.alerts.size());
    for (const LoggedAlert& alert : sink.alerts) {
      put_text(part, alert.id);
      put_text(part, alert.text);
    }
  }
  put_text(out, part);
  if (streamed.empty()) return;
  part.clear();
  put_number(part, streamed.size());
  for (const StreamedAlerts& sink : streamed) {
    put_text(part, sink.sink);
    part.push_back(sink.in_transaction ? 1 : 0);
    put_number(part, sink.alerts);
  }
  put_text(out, part);
}

void PieceWriter::add(std::string_view alert) {
  put_text(texts_, alert);
  ++alerts_;
  if (texts_.size() >= piece_bytes) flush();
}

void PieceWriter::flush() {
  if (alerts_ == 0) return;
  payload_.assign(1, static_cast<char>(Kind::piece));
  put_number(payload_, batch_);
  put_text(payload_, sink_);
  put_number(payload_, alerts_);
  payload_ += texts_;
  write_(payload_);
  texts_.clear();
  alerts_ = 0;
}

void put_delivered(std::string& out, const Delivered& delivered) {
  out.push_back(static_cast<char>(Kind::delivered));
  put_text(out, delivered.sink);
  put_number(out, delivered.batch);
  put_text(out, delivered.position);
}

std::optional<Kind> kind_of(std::string_view payload) {
  const auto kind = payload.empty() ? Kind{} : static_cast<Kind>(payload.front());
  if (kind < Kind::batch || kind > Kind::streamed_batch) return std::nullopt;
  return kind;
}

bool read_batch(std::string_view payload, const Origin& origin, LogReader::Wanted wanted, LoggedBatch& batch) {
  batch.updates.clear();
  batch.alerts.clear();
  batch.streamed.clear();
  ByteReader in(payload);
  const auto kind = static_cast<Kind>(in.byte());
  const std::string_view mark = in.text();
  const std::string_view updates = in.text();
  const std::string_view alerts = in.text();
  const std::string_view streamed = kind == Kind::streamed_batch ? in.text() : std::string_view();
  if (!in.finished()) return false;
  try {
    batch.mark = parse_mark(mark, "log");
  } catch (const Error&) {
    return false;
  }
  if (batch.mark.batch >= wanted.updates_from && !read_updates(updates, origin, batch.updates)) return false;
  if (!batch.updates.sets_watermark()) batch.updates.set_watermark(batch.mark.watermark);
  if (batch.mark.batch < wanted.alerts_from) return true;
  return read_alerts(alerts, batch.alerts) && (streamed.empty() || read_streamed(streamed, batch.streamed));
}

bool read_piece(std::string_view payload, LoggedPiece& piece) {
  ByteReader in(payload);
  in.byte();
  piece.batch = in.number();
  piece.sink = in.text();
  piece.alerts.clear();
  for (std::uint64_t left = in.number(); left > 0 && in.sound(); --left) piece.alerts.push_back(in.text());
  return in.finished();
}

bool read_delivered(std::string_view payload, Delivered& delivered) {
  ByteReader in(payload);
  in.byte();
  delivered.sink = in.text();
  delivered.batch = in.number();
  delivered.position = in.text();
  return in.finished();
}

}  // namespace deltamatch::ingest::log_format
