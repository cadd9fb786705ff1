#include "ingest/service/alert/alert_feed.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "ingest/service/alert/alert_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

/// An alert beyond this is replaced by its stub.
constexpr std::size_t longest_alert = std::size_t{1} << 20;

std::string event(std::string_view name, std::string_view data) {
  std::string out = "event: ";
  out.append(name).append("\ndata: ").append(data).append("\n\n");
  return out;
}

}  // namespace

std::optional<FeedPlace> feed_place(std::string_view text) {
  FeedPlace place;
  const char* at = text.data();  // NOLINT(bugprone-suspicious-stringview-data-usage): `end` goes with it
  const char* const end = at + text.size();
  const auto batch = std::from_chars(at, end, place.batch);
  if (batch.ec != std::errc{} || batch.ptr == end || *batch.ptr != '.') return std::nullopt;
  at = batch.ptr + 1;
  const auto alert = std::from_chars(at, end, place.alert);
  if (alert.ec != std::errc{} || alert.ptr != end) return std::nullopt;
  return place;
}

/// Makes the blocks of one batch.
class AlertFeed::Writer {
 public:
  Writer(const Limits& limits, std::uint64_t batch, std::uint64_t before) : limits_(limits), batch_(batch), last_(before) {}

  void put(std::uint64_t number, std::string_view alert, const AlertHead& head) {
    FeedBlock& block = open();
    block.text += "id: ";
    append_number(block.text, batch_);
    block.text += '.';
    append_number(block.text, number);
    block.text += "\ndata: ";
    const std::size_t at = block.text.size();
    if (alert.size() > longest_alert) {
      append_alert_stub(block.text, alert);
    } else {
      block.text += alert;
    }
    block.text += "\n\n";
    const auto offset = static_cast<std::uint32_t>(head.query.data() - alert.data());
    close({.query = static_cast<std::uint32_t>(at) + offset,
           .query_bytes = static_cast<std::uint32_t>(head.query.size()),
           .added = head.added,
           .place = FeedPlace{batch_, number}},
          1);
  }

  /// Notes that alerts were left out, of this query or, if it is empty, of several.
  void leave_out(std::string_view query, std::uint64_t alerts) {
    if (alerts == 0) return;
    std::string data = R"({"v":1,"query":)";
    const std::size_t at = data.size();
    data.append(query.empty() ? "null" : query).append(R"(,"batch":)");
    append_number(data, batch_);
    data += R"(,"alerts":)";
    append_number(data, alerts);
    data += '}';
    FeedBlock& block = open();
    const std::string text = event("left-out", data);
    const std::size_t before = block.text.size() + text.find(data) + at;
    block.text += text;
    left_out_ += alerts;
    close({.query = static_cast<std::uint32_t>(before), .query_bytes = static_cast<std::uint32_t>(query.size())}, alerts);
  }

  [[nodiscard]] std::vector<std::shared_ptr<FeedBlock>>& blocks() noexcept { return blocks_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  FeedBlock& open() {
    if (blocks_.empty() || blocks_.back()->text.size() >= limits_.block) {
      blocks_.push_back(std::make_shared<FeedBlock>());
      blocks_.back()->before = last_;
    }
    return *blocks_.back();
  }
  void close(FeedBlock::Entry entry, std::uint64_t alerts) {
    FeedBlock& block = *blocks_.back();
    entry.end = static_cast<std::uint32_t>(block.text.size());
    entry.last = last_ += alerts;
    block.entries.push_back(entry);
  }

  const Limits& limits_;
  const std::uint64_t batch_;
  std::uint64_t last_;
  std::uint64_t left_out_ = 0;
  std::vector<std::shared_ptr<FeedBlock>> blocks_;
};

AlertFeed::AlertFeed(const Limits& limits) : limits_(limits) {}

void AlertFeed::begin_after(std::uint64_t batch) {
  const std::scoped_lock lock(mutex_);
  began_after_ = batch;
  statistics_.batch = batch;
}

std::uint64_t AlertFeed::listen(std::function<void()> tell) {
  const std::scoped_lock lock(telling_);
  listeners_.emplace(++listened_, std::move(tell));
  return listened_;
}

void AlertFeed::unlisten(std::uint64_t number) noexcept {
  const std::scoped_lock lock(telling_);
  listeners_.erase(number);
}

AlertFeed::Statistics AlertFeed::statistics() const {
  const std::scoped_lock lock(mutex_);
  return statistics_;
}

void AlertFeed::publish(std::uint64_t batch, const SeenAlerts& alerts) {
  Writer writer(limits_, batch, statistics().alerts);
  const AlertList& list = alerts.list;
  AlertCursor cursor = list.streamed() ? alerts.tail : AlertCursor{};
  if (list.streamed()) writer.leave_out({}, cursor.alerts);
  // Of a streamed list the last ones are read, of one in memory the last ones of each query.
  std::map<std::string, std::uint64_t, std::less<>> left;
  if (list.size() - cursor.alerts > limits_.per_query) {
    AlertCursor ahead = cursor;
    list.read(ahead, [&](std::string_view alert) {
      const std::string_view query = alert_head(alert).query;
      const auto found = left.find(query);
      ++(found == left.end() ? left.emplace(query, 0).first->second : found->second);
      return true;
    });
    for (auto at = left.begin(); at != left.end();) {
      at->second -= std::min<std::uint64_t>(at->second, limits_.per_query);
      writer.leave_out(at->first, at->second);
      at = at->second == 0 ? left.erase(at) : std::next(at);
    }
  }
  std::uint64_t number = cursor.alerts;
  list.read(cursor, [&](std::string_view alert) {
    const AlertHead head = alert_head(alert);
    const auto found = left.empty() ? left.end() : left.find(head.query);
    if (found != left.end() && found->second > 0) {
      --found->second;
    } else {
      writer.put(number, alert, head);
    }
    ++number;
    return true;
  });
  {
    const std::scoped_lock lock(mutex_);
    statistics_.batch = batch;
    statistics_.alerts += list.size();
    statistics_.left_out += writer.left_out();
    for (std::shared_ptr<FeedBlock>& block : writer.blocks()) {
      block->text.shrink_to_fit();
      block->entries.shrink_to_fit();
      statistics_.held += block->entries.size();
      statistics_.bytes += block->text.size();
      blocks_.push_back(std::move(block));
    }
    trim();
  }
  if (writer.blocks().empty()) return;
  const std::scoped_lock lock(telling_);
  const auto now = std::chrono::steady_clock::now();
  if (now - told_ < limits_.pace) return;
  told_ = now;
  for (const auto& [listener, tell] : listeners_) tell();
}

/// Drops the oldest blocks beyond the limits.
void AlertFeed::trim() {
  while (blocks_.size() > 1 && (statistics_.held > limits_.alerts || statistics_.bytes > limits_.bytes)) {
    const FeedBlock& oldest = *blocks_.front();
    statistics_.held -= oldest.entries.size();
    statistics_.bytes -= oldest.text.size();
    for (const FeedBlock::Entry& entry : oldest.entries) dropped_ = entry.place ? entry.place : dropped_;
    blocks_.pop_front();
  }
}

FeedReader::FeedReader(const AlertFeed& feed, FeedFilter filter, const std::optional<FeedPlace>& after, std::size_t last)
    : feed_(feed), filter_(std::move(filter)) {
  const std::scoped_lock lock(feed.mutex_);
  std::string_view missed = "0";
  const std::uint64_t end = feed.statistics_.alerts;
  const std::uint64_t begin = feed.blocks_.empty() ? end : feed.blocks_.front()->before;
  at_ = end - std::min<std::uint64_t>(end - begin, last);
  if (after) {
    at_ = begin;
    const bool has_been = after->batch <= feed.statistics_.batch;
    for (const std::shared_ptr<const FeedBlock>& block : feed.blocks_) {
      for (const FeedBlock::Entry& entry : block->entries) {
        if (has_been && entry.place && *entry.place <= *after) at_ = entry.last;
      }
    }
    // Nothing is known of what an earlier process published behind that alert, or of what the ring has dropped.
    if (!has_been || after->batch <= feed.began_after_ || (feed.dropped_ && *after < *feed.dropped_)) missed = "null";
  }
  std::string data = R"({"v":1,"batch":)";
  append_number(data, feed.statistics_.batch);
  data.append(R"(,"missed":)").append(missed).append("}");
  start_ = "retry: 2000\n" + event("start", data);
}

bool FeedReader::wants(const FeedBlock& block, const FeedBlock::Entry& entry) const {
  if (entry.added && !ingest::wants(filter_.signs, *entry.added)) return false;
  if (filter_.queries.empty() || entry.query_bytes == 0) return true;
  const std::string_view query = std::string_view(block.text).substr(entry.query, entry.query_bytes);
  return std::ranges::find(filter_.queries, query) != filter_.queries.end();
}

FeedReader::Portion FeedReader::next(std::size_t most, std::size_t most_pieces) {
  Portion portion;
  portion.head = std::exchange(start_, {});
  do {
    take_blocks(portion, most);
    portion.bytes = portion.head.size();
  } while (!portion.blocks.empty() && !fill(portion, most, most_pieces) && portion.empty());
  return portion;
}

/// Shares the next blocks, of about `most` bytes.
void FeedReader::take_blocks(Portion& portion, std::size_t most) {
  portion.blocks.clear();
  {
    const std::scoped_lock lock(feed_.mutex_);
    auto block =
        std::ranges::partition_point(feed_.blocks_, [&](const auto& each) { return each->entries.back().last <= at_; });
    for (std::size_t bytes = 0; block != feed_.blocks_.end() && bytes < most; ++block) {
      portion.blocks.push_back(*block);
      bytes += (*block)->text.size();
    }
  }
  if (portion.blocks.empty() || portion.blocks.front()->before <= at_) return;
  const std::uint64_t gap = portion.blocks.front()->before - at_;
  missed_ += gap;
  at_ += gap;
  std::string data = R"({"v":1,"alerts":)";
  append_number(data, gap);
  portion.head += event("missed", data + "}");
}

/// Adds the entries that the reader wants. Returns true if the portion is full.
bool FeedReader::fill(Portion& portion, std::size_t most, std::size_t most_pieces) {
  for (std::size_t used = 0; used < portion.blocks.size(); ++used) {
    const FeedBlock& block = *portion.blocks[used];
    std::uint32_t begin = 0;
    for (const FeedBlock::Entry& entry : block.entries) {
      const std::uint32_t from = std::exchange(begin, entry.end);
      if (entry.last <= at_) continue;
      if (wants(block, entry)) {
        const std::string_view text = std::string_view(block.text).substr(from, entry.end - from);
        std::vector<std::string_view>& pieces = portion.pieces;
        const bool joins = !pieces.empty() && pieces.back().data() + pieces.back().size() == text.data();
        if (portion.bytes >= most || (!joins && pieces.size() >= most_pieces)) {
          portion.blocks.resize(used + 1);
          return true;
        }
        if (joins) {
          pieces.back() = {pieces.back().data(), pieces.back().size() + text.size()};
        } else {
          pieces.push_back(text);
        }
        portion.bytes += text.size();
      }
      at_ = entry.last;
    }
  }
  return false;
}

}  // namespace deltamatch::ingest
