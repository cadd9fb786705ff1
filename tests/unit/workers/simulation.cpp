#include "unit/workers/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "deltamatch/error.hpp"
#include "unit/workers/checks.hpp"

namespace deltamatch::ingest::workers {
namespace {

class World {
 public:
  World(const Setting& setting, std::uint64_t seed)
      : setting_(setting),
        random_(seed),
        layout_{.slots = setting.slots, .alert_partitions = setting.alert_partitions},
        broker_(layout_.partitions(), setting.slots + 1),
        checks_(layout_, broker_) {
    for (std::size_t w = 0; w < setting.workers; ++w) processes_.push_back(start(w));
  }

  Outcome run() {
    try {
      for (; outcome_.steps < setting_.steps; ++outcome_.steps) step();
      finish();
    } catch (const Violation& violation) {
      outcome_.fault = violation.what;
    } catch (const Error& error) {
      outcome_.fault = error.what();
    }
    outcome_.cuts = checks_.cuts();
    outcome_.trace.assign(trace_.begin(), trace_.end());
    return outcome_;
  }

 private:
  /// A step of a protocol that is being carried out.
  struct Work {
    Step step;
    std::size_t stage = 0;
    std::size_t end = 0, state_end = 0;  // where reading is to go
    std::vector<Alert> alerts;           // that are left to write
    bool tried = false;
  };

  struct Process {
    std::string name;
    WorkerProtocol protocol;
    std::optional<LeaderProtocol> leader;
    std::optional<LeaderStep> leader_work;
    std::size_t leader_stage = 0, leader_end = 0;
    Broker::Epoch leader_epoch = 0;
    std::optional<Graph> engine;
    bool diverges = false;                                               // with the next cut that it reads
    std::map<std::pair<std::uint64_t, Slot>, std::vector<Alert>> parts;  // matched, by batch and slot
    std::vector<Work> works;
    std::size_t cuts_at = 0;
    std::vector<std::size_t> progress_at, state_at;
    std::vector<Broker::Epoch> epoch;
    std::vector<std::set<std::uint64_t>> bindings;  // what ALERT ONCE knows, by slot
  };

  std::size_t draw(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_); }
  bool chance(unsigned in_a_thousand) { return draw(1000) < in_a_thousand; }
  void note(std::string what) {
    trace_.push_back(std::move(what));
    if (trace_.size() > 60) trace_.pop_front();
  }

  std::unique_ptr<Process> start(std::size_t w) {
    auto process = std::make_unique<Process>(Process{.name = fmt::format("w{}", w),
                                                     .protocol = WorkerProtocol(fmt::format("w{}", w), setting_.slots),
                                                     .leader = {},
                                                     .leader_work = {},
                                                     .engine = {},
                                                     .parts = {},
                                                     .works = {},
                                                     .progress_at = std::vector<std::size_t>(setting_.slots),
                                                     .state_at = std::vector<std::size_t>(setting_.slots),
                                                     .epoch = std::vector<Broker::Epoch>(setting_.slots),
                                                     .bindings = std::vector<std::set<std::uint64_t>>(setting_.slots)});
    if (snapshots_.size() <= w) snapshots_.push_back({Graph{}});
    return process;
  }

  void restart_process(std::size_t w, std::string_view why) {
    note(fmt::format("w{}: {}", w, why));
    processes_[w] = start(w);
  }

  // ---- one step ----

  void step() {
    if (faulty_ && chance(setting_.faults)) {
      fault();
    } else if (draw(4) == 0) {
      broker_.finish(draw(64));
    } else {
      (void)work(draw(processes_.size()), draw(kinds_of_work));
    }
    checks_.look_at_alerts();
  }

  /// Without faults, everything must end, even if a worker is gone for good.
  void finish() {
    faulty_ = false;
    gone_ = draw(3) == 0 ? std::optional(draw(processes_.size())) : std::nullopt;
    if (gone_) restart_process(*gone_, "gone for good");
    constexpr std::size_t most = 20'000;
    std::size_t idle = 0;
    for (std::size_t round = 0; idle < 20; ++round) {
      bool moved = false;
      if (std::ranges::none_of(processes_, [](const auto& process) { return process->leader.has_value(); })) {
        elect(gone_ ? (*gone_ + 1) % processes_.size() : draw(processes_.size()));
        moved = true;
      }
      while (broker_.finish(0)) moved = true;
      for (std::size_t w = 0; w < processes_.size(); ++w) {
        if (gone_ == w) continue;
        for (std::size_t kind = 0; kind < kinds_of_work; ++kind) {
          if (work(w, kind)) moved = true;
          ++outcome_.steps;
        }
      }
      checks_.look_at_alerts();
      // What nobody works at is of the dead.
      for (std::size_t id = 0; id <= layout_.leader_id() && !moved; ++id) moved = broker_.time_out(id);
      idle = moved ? 0 : idle + 1;  // a round may draw slots that have nothing to read
      if (round == most) violate("the workers go on for ever");
    }
    checks_.at_the_end(setting_.records);
    for (std::size_t w = 0; w < processes_.size(); ++w) {
      if (gone_ != w && processes_[w]->protocol.at() != checks_.cuts()) violate(fmt::format("w{} does not follow the cuts", w));
    }
  }

  void fault() {
    const std::size_t w = draw(processes_.size());
    switch (draw(8)) {
      case 0:
        restart_process(w, "crashes");
        break;
      case 1:
      case 2: {
        const std::size_t id = draw(setting_.slots + 1);
        if (broker_.time_out(id)) note(fmt::format("the brokers end the transaction of id {}", id));
        break;
      }
      case 3:
        elect(w);
        break;
      case 4:
        processes_[w]->diverges = true;
        break;
      default:
        gone_ = chance(500) ? std::optional(w) : std::nullopt;
        break;
    }
  }

  /// The group can be wrong: who led before may still believe that it leads.
  void elect(std::size_t w) {
    Process& process = *processes_[w];
    if (process.leader) {
      if (draw(4) > 0 || !faulty_) return;
      note(fmt::format("w{}: leads no longer", w));
      process.leader.reset();
      process.leader_work.reset();
      process.protocol.lead(false);
      forget_engine_of_restart(process);
      return;
    }
    ++outcome_.elections;
    note(fmt::format("w{}: elected", w));
    process.leader.emplace();
    process.protocol.lead(true);
  }

  static constexpr std::size_t kinds_of_work = 7;

  /// Whether anything was done.
  bool work(std::size_t w, std::size_t kind) {
    Process& process = *processes_[w];
    switch (kind) {
      case 0:
        return read_next_cut(process);
      case 1:
        return read_next_progress(process);
      case 2:
        return ask(w);
      case 3:
        return !process.works.empty() && advance(w, draw(process.works.size()));
      case 4:
        return apply(process);
      case 5:
        return lead(w);
      default:
        return save(w);
    }
  }

  // ---- a worker ----

  static void take_cut(Process& process, const Payload& record) {
    process.protocol.cut(*record.cut);
    if (process.leader) process.leader->cut(*record.cut);
  }

  bool read_next_cut(Process& process) {
    const auto reads_cuts = [](const Work& work) {
      return work.step.kind == Step::Kind::read_all || work.step.kind == Step::Kind::restart;
    };
    if (std::ranges::any_of(process.works, reads_cuts)) return false;
    const Payload* record = broker_.read(Layout::cuts, process.cuts_at);
    if (record == nullptr) return false;
    take_cut(process, *record);
    forget_engine_of_restart(process);
    return true;
  }

  bool read_next_progress(Process& process) {
    const std::size_t first = draw(setting_.slots);
    for (std::size_t i = 0; i < setting_.slots; ++i) {
      const auto slot = static_cast<Slot>((first + i) % setting_.slots);
      const Payload* record = broker_.read(layout_.progress(slot), process.progress_at[slot]);
      if (record == nullptr) continue;
      process.protocol.progress(slot, record->number);
      return true;
    }
    return false;
  }

  bool ask(std::size_t w) {
    Process& process = *processes_[w];
    const std::optional<Step> step = process.protocol.next();
    forget_engine_of_restart(process);
    if (!step) return false;
    if (step->kind == Step::Kind::exit) {
      ++outcome_.digests;
      restart_process(w, step->why);
      return true;
    }
    Work work{.step = *step, .alerts = {}};
    if (step->kind == Step::Kind::publish) {
      const auto part = process.parts.find({step->batch, step->slot});
      if (part == process.parts.end()) {
        violate(
            fmt::format("{} publishes slot {} of batch {}, which it has not matched", process.name, step->slot, step->batch));
      }
      work.alerts = published_of(part->second, process.bindings[step->slot]);
    }
    process.works.push_back(std::move(work));
    return true;
  }

  /// Once the protocol wants a restart, the graph is of no use.
  static void forget_engine_of_restart(Process& process) {
    if (process.protocol.at()) return;
    process.engine.reset();
    process.parts.clear();
  }

  bool advance(std::size_t w, std::size_t which) {
    Process& process = *processes_[w];
    Work& work = process.works[which];
    using Kind = Step::Kind;
    bool done = false;
    switch (work.step.kind) {
      case Kind::read_all:
        done = read_all(process, work);
        break;
      case Kind::restart:
        done = load(w, work);
        break;
      case Kind::read_cuts:
        done = read_cuts(process, work);
        break;
      case Kind::initialise:
        done = initialise(process, work);
        break;
      case Kind::read_slot:
        done = read_slot(process, work);
        break;
      case Kind::publish:
        done = publish(process, work);
        break;
      case Kind::exit:
        break;
    }
    const bool moved = done || work.tried;
    work.tried = false;
    if (done) process.works.erase(process.works.begin() + static_cast<std::ptrdiff_t>(which));
    return moved;
  }

  /// Reads one record before `end`. Returns whether the end is reached.
  template <class Take>
  bool read_up_to(std::size_t partition, std::size_t& position, std::size_t end, Work& work, Take take) {
    if (position >= end) return true;
    const std::size_t before = position;
    if (const Payload* record = broker_.read(partition, position)) take(*record);
    work.tried = work.tried || position != before;
    return position >= end;
  }

  /// The end is that of the first call.
  bool read_cuts_to_end(Process& process, Work& work) {
    if (work.stage == 0) {
      work.end = broker_.end(Layout::cuts);
      work.stage = 1;
    }
    return read_up_to(Layout::cuts, process.cuts_at, work.end, work, [&](const Payload& record) { take_cut(process, record); });
  }

  bool read_all(Process& process, Work& work) {
    if (!read_cuts_to_end(process, work)) return false;
    while (work.stage <= setting_.slots) {
      const auto slot = static_cast<Slot>(work.stage - 1);
      if (work.state_end == 0) work.state_end = broker_.end(layout_.progress(slot)) + 1;
      if (!read_up_to(layout_.progress(slot), process.progress_at[slot], work.state_end - 1, work,
                      [&](const Payload& record) { process.protocol.progress(slot, record.number); })) {
        return false;
      }
      work.state_end = 0;
      ++work.stage;
    }
    process.protocol.all_read();
    return true;
  }

  bool load(std::size_t w, Work& work) {
    Process& process = *processes_[w];
    // To the end first, then all of it again for the book.
    if (!read_cuts_to_end(process, work)) return false;
    const Graph* best = nullptr;
    for (const auto& saved : snapshots_) {  // its own, or one of another worker that is shared
      if (&saved != &snapshots_[w] && draw(2) == 0) continue;
      for (const Graph& graph : saved) {
        if (graph.batch <= work.step.batch && (best == nullptr || graph.batch > best->batch)) best = &graph;
      }
    }
    if (best == nullptr) violate(fmt::format("w{} has no snapshot of batch {} or before it", w, work.step.batch));
    CutBook book;
    std::size_t position = 0;
    while (position < process.cuts_at) {
      const Payload* record = broker_.read(Layout::cuts, position);
      if (record == nullptr) break;
      if (record->cut->batch() > best->batch || record->cut->batch() == process.protocol.cuts().newest())
        book.add(*record->cut);
    }
    ++outcome_.restarts;
    process.engine = *best;
    note(fmt::format("w{}: begins with batch {}", w, best->batch));
    process.protocol.restarted(best->batch, std::move(book));
    return true;
  }

  bool read_cuts(Process& process, Work& work) {
    if (!read_cuts_to_end(process, work)) return false;
    process.protocol.cuts_read(work.step.slot);
    forget_engine_of_restart(process);
    return true;
  }

  bool initialise(Process& process, Work& work) {
    const std::optional<Broker::Epoch> epoch = broker_.initialise(work.step.slot);
    if (!epoch) return false;
    note(fmt::format("{}: initialises slot {}", process.name, work.step.slot));
    process.epoch[work.step.slot] = *epoch;
    process.protocol.initialised(work.step.slot);
    return true;
  }

  bool read_slot(Process& process, Work& work) {
    const Slot slot = work.step.slot;
    if (work.stage == 0) {
      work.end = broker_.end(layout_.progress(slot));
      work.state_end = broker_.end(layout_.state(slot));
      process.bindings[slot].clear();
      process.state_at[slot] = 0;
      work.stage = 1;
    }
    if (!read_up_to(layout_.progress(slot), process.progress_at[slot], work.end, work,
                    [&](const Payload& record) { process.protocol.progress(slot, record.number); })) {
      return false;
    }
    if (!read_up_to(layout_.state(slot), process.state_at[slot], work.state_end, work,
                    [&](const Payload& record) { process.bindings[slot].insert(record.number); })) {
      return false;
    }
    process.protocol.slot_read(slot);
    return true;
  }

  bool publish(Process& process, Work& work) {
    const Slot slot = work.step.slot;
    const auto append = [&](std::size_t partition, Payload payload) {
      work.tried = true;
      return broker_.append(slot, process.epoch[slot], partition, std::move(payload));
    };
    const auto lose = [&] {
      ++outcome_.fenced;
      note(fmt::format("{}: fenced in slot {}", process.name, slot));
      process.protocol.fenced(slot);
      return true;
    };
    if (broker_.busy(slot)) return false;
    if (!work.alerts.empty()) {
      const Alert alert = work.alerts.front();
      work.alerts.erase(work.alerts.begin());
      if (!append(layout_.alerts(alert.match), {.number = work.step.batch, .slot = slot, .alert = alert})) return lose();
      if (alert.binding && !append(layout_.state(slot), {.number = *alert.binding, .slot = slot})) return lose();
      return false;
    }
    if (work.stage == 0) {
      if (!append(layout_.progress(slot), {.number = work.step.batch, .slot = slot})) return lose();
      work.stage = 1;
      return false;
    }
    if (faulty_ && chance(60) && broker_.time_out(slot)) {
      ++outcome_.lost_answers;
      note(fmt::format("{}: slot {} of batch {} is aborted, without an answer", process.name, slot, work.step.batch));
      process.protocol.uncertain(slot);
      return true;
    }
    const bool current = broker_.current(slot, process.epoch[slot]);
    if (current) checks_.before_part(slot, work.step.batch);
    if (!broker_.commit(slot, process.epoch[slot])) return lose();
    note(fmt::format("{}: commits slot {} of batch {}", process.name, slot, work.step.batch));
    if (faulty_ && chance(100)) {
      ++outcome_.lost_answers;
      note("  the answer is lost");
      process.protocol.uncertain(slot);
    } else {
      process.protocol.published(slot, work.step.batch);
    }
    return true;
  }

  bool apply(Process& process) {
    if (!process.engine) return false;
    const std::optional<Apply> next = process.protocol.next_batch();
    if (!next) return false;
    if (std::exchange(process.diverges, false)) {
      note(fmt::format("{}: its graph of batch {} diverges", process.name, next->batch));
      process.engine->diverged = true;
    }
    take(process, process.protocol.cuts().at(next->batch), next->slots);
    process.protocol.applied(*next, process.engine->digest());
    forget_engine_of_restart(process);
    return true;
  }

  void take(Process& process, const Cut& cut, const std::vector<Slot>& slots) const {
    const std::uint64_t begin = process.engine->end;
    process.engine->take(cut.mark);
    for (const Slot slot : slots) {
      std::vector<Alert> part = part_of(begin, process.engine->end, slot, setting_.slots);
      if (process.engine->diverged) part.push_back({.match = 999, .sign = '+', .binding = {}});
      process.parts[{cut.batch(), slot}] = std::move(part);
    }
  }

  bool save(std::size_t w) {
    const Process& process = *processes_[w];
    std::vector<Graph>& saved = snapshots_[w];
    // Only of what is confirmed: a leader's graph may be ahead of the cuts.
    if (!process.engine || process.protocol.cuts().empty() || process.engine->batch > process.protocol.cuts().newest())
      return false;
    if (process.engine->diverged || saved.back().batch >= process.engine->batch) return false;
    saved.push_back(*process.engine);
    while (saved.size() > 1 && saved[1].batch <= process.protocol.least_progress()) saved.erase(saved.begin());
    return true;
  }

  // ---- a leader ----

  bool lead(std::size_t w) {
    Process& process = *processes_[w];
    if (!process.leader) return false;
    LeaderProtocol& leader = *process.leader;
    if (!process.leader_work) {
      if (leader.ready()) return propose(process);
      process.leader_work = leader.next();
      process.leader_stage = 0;
      if (!process.leader_work) return false;
      if (process.leader_work->kind == LeaderStep::Kind::exit) restart_process(w, "no longer leads");
      return true;
    }
    switch (process.leader_work->kind) {
      case LeaderStep::Kind::initialise: {
        const std::optional<Broker::Epoch> epoch = broker_.initialise(layout_.leader_id());
        if (!epoch) return false;
        note(fmt::format("{}: initialises the id of the leader", process.name));
        process.leader_epoch = *epoch;
        process.leader_work.reset();
        leader.initialised();
        return true;
      }
      case LeaderStep::Kind::read_cuts: {
        if (process.leader_stage == 0) {
          process.leader_end = broker_.end(Layout::cuts);
          process.leader_stage = 1;
        }
        std::optional<Cut> last;
        std::size_t position = 0;
        while (position < process.leader_end) {
          const Payload* record = broker_.read(Layout::cuts, position);
          if (record == nullptr) break;
          last = record->cut;
        }
        if (position < process.leader_end) return false;
        process.leader_work.reset();
        leader.cuts_read(last);
        return true;
      }
      case LeaderStep::Kind::commit:
        return commit_cut(process);
      case LeaderStep::Kind::exit:
        return false;
    }
    return false;
  }

  bool propose(Process& process) {
    const std::optional<Cut>& last = process.leader->last();
    const std::uint64_t batch = last ? last->batch() + 1 : 1;
    const std::uint64_t begin = last ? static_cast<std::uint64_t>(last->mark.ends.at(input_partition)) : 0;
    // Its own worker must have taken all cuts. Before the first cut there is nothing to read, and a new graph.
    if (!last && !process.engine) process.engine = Graph{};
    if (!process.engine || process.engine->batch + 1 != batch || (last && !process.protocol.at())) return false;
    if (last && process.protocol.cuts().newest() != last->batch()) return false;  // its own cut is yet to be read
    std::vector<Member> members;
    for (std::size_t w = 0; w < processes_.size(); ++w) {
      if (gone_ == w) continue;
      members.push_back({.worker = fmt::format("w{}", w), .wanted = {}, .keeps_up = chance(800)});
    }
    if (chance(300)) {
      for (Slot slot = 0; slot < setting_.slots; ++slot) members[draw(members.size())].wanted.push_back(slot);
    }
    std::vector<std::uint64_t> progress;
    for (Slot slot = 0; slot < setting_.slots; ++slot) progress.push_back(process.protocol.progress_of(slot));
    const CutBook& cuts = process.protocol.cuts();
    if (begin == setting_.records && !needs_take_over(cuts, progress, members)) return false;
    Cut cut{.mark = {}, .first = last ? last->first : 1, .places = next_places(last ? cuts : CutBook{}, progress, members)};
    for (const Place& place : cut.places) {
      if (last && place.change == Change::move) ++outcome_.moves;
      if (place.change == Change::take_over) ++outcome_.take_overs;
    }
    const std::uint64_t end =
        begin + (begin == setting_.records ? 0 : 1 + draw(std::min<std::uint64_t>(3, setting_.records - begin)));
    cut.mark.batch = batch;
    if (draw(2) == 0) cut.mark.watermark = static_cast<Timestamp>(draw(1000));  // two leaders may differ in no more than this
    cut.mark.ends[input_partition] = static_cast<std::int64_t>(end);
    std::vector<Slot> matched;
    for (Slot slot = 0; slot < setting_.slots; ++slot) {
      if (cut.places[slot].worker == process.name) matched.push_back(slot);
    }
    take(process, cut, matched);
    cut.mark.digest = process.engine->digest();
    if (last) {
      process.protocol.applied_ahead(cut, matched);
    } else {
      process.parts.clear();  // the first cut is read like any other
      process.engine.reset();
    }
    process.leader->propose(cut);
    return true;
  }

  bool commit_cut(Process& process) {
    const Cut& cut = *process.leader_work->cut;
    const auto answer = [&](auto how) {
      process.leader_work.reset();
      (process.leader.value().*how)();
      return true;
    };
    if (broker_.busy(layout_.leader_id())) return false;
    if (process.leader_stage == 0) {
      process.leader_stage = 1;
      if (!broker_.append(layout_.leader_id(), process.leader_epoch, Layout::cuts, {.cut = cut}))
        return answer(&LeaderProtocol::fenced);
      return true;
    }
    if (faulty_ && chance(60) && broker_.time_out(layout_.leader_id())) {
      ++outcome_.lost_answers;
      note(fmt::format("{}: cut {} is aborted, without an answer", process.name, cut.batch()));
      return answer(&LeaderProtocol::uncertain);
    }
    if (broker_.current(layout_.leader_id(), process.leader_epoch)) checks_.before_cut(cut);
    if (!broker_.commit(layout_.leader_id(), process.leader_epoch)) return answer(&LeaderProtocol::fenced);
    checks_.after_cut(cut);
    note(fmt::format("{}: commits cut {} up to record {}: {}", process.name, cut.batch(), cut.mark.ends.at(input_partition),
                     places_text(cut)));
    if (faulty_ && chance(100)) {
      ++outcome_.lost_answers;
      note("  the answer is lost");
      return answer(&LeaderProtocol::uncertain);
    }
    return answer(&LeaderProtocol::committed);
  }

  static std::string places_text(const Cut& cut) {
    std::string text;
    for (const Place& place : cut.places) {
      text += place.worker + (place.change == Change::move ? "< " : place.change == Change::take_over ? "! " : " ");
    }
    return text;
  }

  Setting setting_;
  std::mt19937_64 random_;
  Layout layout_;
  Broker broker_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::vector<Graph>> snapshots_;  // by worker; they outlive its processes
  bool faulty_ = true;
  std::optional<std::size_t> gone_;  // the worker that the group believes to be gone

  Checks checks_;
  std::deque<std::string> trace_;
  Outcome outcome_;
};

}  // namespace

Outcome simulate(const Setting& setting, std::uint64_t seed) { return World(setting, seed).run(); }

}  // namespace deltamatch::ingest::workers
