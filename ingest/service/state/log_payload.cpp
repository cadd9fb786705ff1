// The contents of the log's entries.
//
//   batch      1, text(mark as JSON), text(updates), text(alerts)
//   updates    watermark? (else in the mark), number of updates, the updates
//   update     flags, then as the flags say: label, source, target, source label, target label, time
//   alerts     number of sinks; for each: text(name), number of alerts; for each: text(id), text(alert)
//   delivered  2, text(sink), batch, text(position)
//   piece      3, batch, text(sink), number of alerts; for each: text(alert)
//   batch      4, as 1, and text(streamed), whose alerts are in the pieces since the previous batch
//   streamed   number of sinks; for each: text(name), 1 for a sink in Kafka and else 0, number of alerts
//
// A label is its number in the order of first use in the batch. At its first use, the text follows the number.
#include <string_view>
#include <unordered_map>
#include <vector>

#include "deltamatch/error.hpp"
#include "ingest/service/state/byte_text.hpp"
#include "ingest/service/state/log_format.hpp"

namespace deltamatch::ingest::log_format {
namespace {

// Flags of an update. The lowest two bits are its kind.
constexpr std::uint8_t kind_bits = 0x03;
constexpr std::uint8_t source_is_text = 0x04;
constexpr std::uint8_t target_is_text = 0x08;
constexpr std::uint8_t has_label = 0x10;
constexpr std::uint8_t has_source_label = 0x20;
constexpr std::uint8_t has_target_label = 0x40;
constexpr std::uint8_t has_time = 0x80;

constexpr bool of_edge(UpdateKind kind) { return kind == UpdateKind::insert_edge || kind == UpdateKind::delete_edge; }

/// Modulo 2^64, so no two times are too far apart.
std::int64_t difference(Timestamp from, Timestamp to) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from));
}
Timestamp advance(Timestamp from, std::int64_t by) {
  return static_cast<Timestamp>(static_cast<std::uint64_t>(from) + static_cast<std::uint64_t>(by));
}

class UpdateWriter {
 public:
  explicit UpdateWriter(std::string& out) : out_(&out) {}

  void put(const Update& update) {
    const bool edge = of_edge(update.kind);
    auto flags = static_cast<std::uint8_t>(update.kind);
    if (update.source.is_text()) flags |= source_is_text;
    if (edge && update.target.is_text()) flags |= target_is_text;
    if (edge && !update.label.empty()) flags |= has_label;
    if (update.source_label) flags |= has_source_label;
    if (edge && update.target_label) flags |= has_target_label;
    if (update.time) flags |= has_time;
    out_->push_back(static_cast<char>(flags));
    if ((flags & has_label) != 0) put_label(update.label);
    put_id(update.source);
    if (edge) put_id(update.target);
    if ((flags & has_source_label) != 0) put_label(*update.source_label);
    if ((flags & has_target_label) != 0) put_label(*update.target_label);
    if ((flags & has_time) != 0) {
      put_signed(*out_, difference(last_time_, *update.time));
      last_time_ = *update.time;
    }
  }

 private:
  void put_id(const Id& id) {
    if (id.is_text()) {
      put_text(*out_, id.text());
    } else {
      put_signed(*out_, id.number());
    }
  }

  void put_label(std::string_view label) {
    const auto [place, fresh] = labels_.try_emplace(label, labels_.size());
    put_number(*out_, place->second);
    if (fresh) put_text(*out_, label);
  }

  std::string* out_;
  std::unordered_map<std::string_view, std::size_t> labels_;
  Timestamp last_time_ = 0;
};

class UpdateReader {
 public:
  explicit UpdateReader(ByteReader& in) : in_(&in) {}

  Update get() {
    const std::uint8_t flags = in_->byte();
    Update update;
    update.kind = static_cast<UpdateKind>(flags & kind_bits);
    const bool edge = of_edge(update.kind);
    if (!edge && (flags & (target_is_text | has_label | has_target_label)) != 0) in_->fail();
    if ((flags & has_label) != 0) update.label = label();
    update.source = id((flags & source_is_text) != 0);
    if (edge) update.target = id((flags & target_is_text) != 0);
    if ((flags & has_source_label) != 0) update.source_label = label();
    if ((flags & has_target_label) != 0) update.target_label = label();
    if ((flags & has_time) != 0) update.time = last_time_ = advance(last_time_, in_->signed_number());
    return update;
  }

 private:
  Id id(bool text) { return text ? Id(in_->text()) : Id(in_->signed_number()); }

  std::string_view label() {
    const std::uint64_t number = in_->number();
    if (number == labels_.size() && in_->sound()) labels_.push_back(in_->text());
    if (number < labels_.size()) return labels_[number];
    in_->fail();
    return {};
  }

  ByteReader* in_;
  std::vector<std::string_view> labels_;
  Timestamp last_time_ = 0;
};

bool read_updates(std::string_view bytes, UpdateBatch& updates) {
  ByteReader in(bytes);
  const std::uint8_t watermark = in.byte();
  if (watermark > 1) return false;
  if (watermark == 1) updates.set_watermark(in.signed_number());
  UpdateReader reader(in);
  for (std::uint64_t left = in.number(); left > 0 && in.sound(); --left) {
    const Update update = reader.get();
    if (in.sound()) updates.add(update);
  }
  return in.finished();
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
               std::span<const SinkAlerts> alerts, std::span<const StreamedAlerts> streamed) {
  out.push_back(static_cast<char>(streamed.empty() ? Kind::batch : Kind::streamed_batch));
  put_text(out, to_json(mark));
  std::string part;
  part.push_back(watermark ? 1 : 0);
  if (watermark) put_signed(part, *watermark);
  put_number(part, updates.size());
  UpdateWriter writer(part);
  for (const Update& update : updates) writer.put(update);
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

bool read_batch(std::string_view payload, LogReader::Wanted wanted, LoggedBatch& batch) {
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
  if (batch.mark.batch >= wanted.updates_from && !read_updates(updates, batch.updates)) return false;
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
