#include "ingest/service/alert/router.hpp"

#include <algorithm>
#include <set>

#include "deltamatch/error.hpp"
#include "ingest/service/alert/alert_text.hpp"
#include "ingest/sink/match_text.hpp"

namespace deltamatch::ingest {

AlertRouter::AlertRouter(std::span<const SinkOptions> sinks, Clock now, AlertMemory memory, const Schema& schema)
    : sinks_(sinks.begin(), sinks.end()),
      now_(std::move(now)),
      forms_{MatchForm{schema, TimeForm::microseconds}, MatchForm{schema, TimeForm::iso}},
      memory_(std::move(memory)),
      sizes_before_(sinks.size()) {
  static_cast<void>(take());
}

void AlertRouter::show(std::uint64_t tail) {
  shows_ = true;
  tail_ = std::max<std::uint64_t>(tail, 1);
  sizes_before_.resize(sinks_.size() + 1);
  static_cast<void>(take());
}

std::size_t AlertRouter::sink_index(const ServiceQuery& query, std::string_view sink) const {
  const auto found = std::ranges::find(sinks_, sink, &SinkOptions::name);
  if (found == sinks_.end())
    throw Error(ErrorKind::configuration, query.where, "there is no sink '" + std::string(sink) + "'",
                "name a sink that existed at the start");
  return static_cast<std::size_t>(found - sinks_.begin());
}

void AlertRouter::set_queries(std::span<const ServiceQuery> queries) {
  Routes routes;
  std::set<Key> standing;
  for (const ServiceQuery& query : queries) {
    auto& route = routes[query.query.name];
    for (const std::string& sink : query.sinks) {
      const Key key{query.query.name, sink_index(query, sink)};
      if (standing.insert(key).second) route.push_back(&*limiters_.try_emplace(key).first);
    }
  }
  routes_ = std::move(routes);
  route_ = nullptr;
  // A removed query keeps its limiter until its suppressed alerts are reported.
  std::erase_if(limiters_, [&](const auto& limiter) {
    return !standing.contains(limiter.first) && limiter.second.state.suppressed == limiter.second.state.told;
  });
}

void AlertRouter::begin(std::uint64_t batch) {
  ++turn_;
  before_.clear();
  text_before_ = text_->size();
  for (std::size_t sink = 0; sink < lists_.size(); ++sink) sizes_before_[sink] = lists_[sink].size();
  if (spool_) spool_before_ = spool_->end();
  spooled_before_ = spooled_;
  places_before_ = places_;
  time_ = now_();
  report_suppressed(batch);
}

void AlertRouter::note(Limiters::value_type& limiter) {
  if (limiter.second.noted == turn_) return;
  before_.push_back({&limiter, limiter.second.state});
  limiter.second.noted = turn_;
}

bool AlertRouter::is_due(const Limiters::value_type& limiter, std::chrono::steady_clock::time_point now) const {
  const LimiterState& state = limiter.second.state;
  return state.suppressed != state.told && (closed_ || now - state.since >= sinks_[limiter.first.second].rate_interval);
}

bool AlertRouter::due() const {
  const auto now = now_();
  return std::ranges::any_of(limiters_, [&](const auto& limiter) { return is_due(limiter, now); });
}

bool AlertRouter::close_intervals() {
  closed_ = true;
  return due();
}

void AlertRouter::report_suppressed(std::uint64_t batch) {
  for (auto& limiter : limiters_) {
    const auto& [query, sink] = limiter.first;
    LimiterState& state = limiter.second.state;
    if (!is_due(limiter, time_)) continue;
    note(limiter);
    const std::size_t at = text_->size();
    append_suppressed(*text_, forms_[0].version(), query, batch, state.suppressed - state.told);
    receivers_.assign(1, static_cast<std::uint32_t>(sink));
    put(at);
    state.told = state.suppressed;
  }
}

bool AlertRouter::allows(Limiters::value_type& limiter) {
  const SinkOptions& sink = sinks_[limiter.first.second];
  if (sink.rate_limit == 0) return true;
  note(limiter);
  LimiterState& state = limiter.second.state;
  if (!state.open || time_ - state.since >= sink.rate_interval) {
    state.open = true;
    state.since = time_;
    state.sent = 0;
  }
  if (state.sent < sink.rate_limit) {
    ++state.sent;
    return true;
  }
  ++state.suppressed;
  return false;
}

void AlertRouter::write(const Match& match) {
  if (route_ == nullptr || route_->first != match.query) {
    const auto found = routes_.find(match.query);
    if (found == routes_.end()) return;
    route_ = &*found;
  }
  wanting_.clear();
  for (Limiters::value_type* limiter : route_->second) {
    const std::size_t sink = limiter->first.second;
    if (!wants(sinks_[sink].signs, match.added)) continue;
    const bool is_limited = match.added || sinks_[sink].limits_vanished();
    if (!is_limited || allows(*limiter)) wanting_.push_back(static_cast<std::uint32_t>(sink));
  }
  bool shown = !shows_;
  for (const MatchForm& form : forms_) shown = put_alert(match, form, !shown) || shown;
}

/// Hands the match in this form to those that want it so, and with them to those who look on. Returns whether there are any.
bool AlertRouter::put_alert(const Match& match, const MatchForm& form, bool show) {
  receivers_.clear();
  for (const std::uint32_t sink : wanting_) {
    if (sinks_[sink].times == form.times) receivers_.push_back(sink);
  }
  if (receivers_.empty()) return false;
  if (show) receivers_.push_back(static_cast<std::uint32_t>(sinks_.size()));
  const std::size_t at = text_->size();
  append_match_json(*text_, match, form);
  put(at);
  return true;
}

/// Hands the alert at [from, end) of the text to receivers_.
void AlertRouter::put(std::size_t from) {
  if (spool_) {
    if (shows_ && receivers_.back() == sinks_.size()) note_place(spool_->end());
    for (const std::uint32_t sink : receivers_) ++spooled_[sink];
    spool_->add(receivers_, *text_);  // the text holds only this alert
    text_->clear();
    return;
  }
  for (const std::uint32_t sink : receivers_) lists_[sink].refer(from, text_->size() - from);
  if (text_->size() > memory_.bytes) spill();
}

/// Notes where the next alert of those who look on lies in the spool.
void AlertRouter::note_place(std::uint64_t place) {
  const std::uint64_t number = spooled_.back();
  if (number % tail_ != 0) return;
  places_[0] = places_[1];
  places_[1] = {number, place};
}

/// Moves all alerts to a file.
void AlertRouter::spill() {
  auto spool = std::make_shared<AlertSpool>(memory_.folder);
  spooled_.assign(lists_.size(), 0);
  places_ = {};
  std::vector<std::size_t> next(lists_.size(), 0);
  std::vector<std::uint32_t> receivers;
  const auto begin_of = [&](std::size_t sink) {
    return next[sink] < lists_[sink].size() ? lists_[sink][next[sink]].data() : nullptr;
  };
  for (;;) {
    // The alerts are contiguous, so the first remaining one has the lowest address.
    const char* first = nullptr;
    for (std::size_t sink = 0; sink < lists_.size(); ++sink) {
      const char* const begin = begin_of(sink);
      if (begin != nullptr && (first == nullptr || begin < first)) first = begin;
    }
    if (first == nullptr) break;
    if (static_cast<std::size_t>(first - text_->data()) == text_before_) {
      spool_before_ = spool->end();
      spooled_before_ = spooled_;
      places_before_ = places_;
    }
    receivers.clear();
    std::string_view alert;
    for (std::size_t sink = 0; sink < lists_.size(); ++sink) {
      if (begin_of(sink) != first) continue;
      if (sink == sinks_.size()) note_place(spool->end());
      alert = lists_[sink][next[sink]++];
      receivers.push_back(static_cast<std::uint32_t>(sink));
      ++spooled_[sink];
    }
    spool->add(receivers, alert);
  }
  for (AlertList& list : lists_) list = AlertList(text_);
  text_->clear();
  text_->shrink_to_fit();
  spool_ = std::move(spool);
}

void AlertRouter::end(const ListingEnd& end) {
  const auto found = routes_.find(end.query);
  if (end.shortfall == Shortfall::none || found == routes_.end()) return;
  const std::size_t at = text_->size();
  append_partial(*text_, forms_[0].version(), end);
  receivers_.clear();
  for (const Limiters::value_type* limiter : found->second)
    receivers_.push_back(static_cast<std::uint32_t>(limiter->first.second));
  if (receivers_.empty()) return text_->resize(at);
  if (shows_) receivers_.push_back(static_cast<std::uint32_t>(sinks_.size()));
  put(at);
}

void AlertRouter::commit() {
  for (const Before& before : before_) {
    const std::uint64_t more = before.limiter->second.state.suppressed - before.state.suppressed;
    if (more != 0) suppressed_[before.limiter->first] += more;
  }
}

void AlertRouter::abort() noexcept {
  for (const Before& before : before_) before.limiter->second.state = before.state;
  if (spool_) {
    spool_->cut(spool_before_);
    spooled_ = spooled_before_;
    places_ = places_before_;
    text_->clear();
    return;
  }
  for (std::size_t sink = 0; sink < lists_.size(); ++sink) lists_[sink].cut(sizes_before_[sink]);
  text_->resize(text_before_);
}

std::vector<AlertList> AlertRouter::take() {
  std::vector<AlertList> taken;
  if (spool_) {
    spool_->finish();
    const std::shared_ptr<const AlertSpool> spool = std::exchange(spool_, nullptr);
    for (std::uint32_t sink = 0; sink < spooled_.size(); ++sink) {
      taken.push_back(spooled_[sink] == 0 ? AlertList() : AlertList(spooled_alerts(spool, sink), spooled_[sink]));
    }
  } else {
    auto text = std::make_shared<std::string>();
    std::vector<AlertList> fresh(sinks_.size() + (shows_ ? 1 : 0), AlertList(text));
    text_ = std::move(text);
    taken = std::exchange(lists_, std::move(fresh));
  }
  if (taken.size() > sinks_.size()) {
    seen_ = {std::move(taken.back()), places_[0]};
    taken.pop_back();
  }
  places_ = {};
  return taken;
}

std::vector<Suppressed> AlertRouter::take_suppressed() {
  std::vector<Suppressed> taken;
  taken.reserve(suppressed_.size());
  for (const auto& [key, count] : suppressed_) taken.push_back({key.first, sinks_[key.second].name, count});
  suppressed_.clear();
  return taken;
}

}  // namespace deltamatch::ingest
