// What must hold of all that simulated workers commit. Every check throws Violation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ingest/service/workers/slot_map.hpp"
#include "unit/workers/broker.hpp"
#include "unit/workers/input_model.hpp"

namespace deltamatch::ingest::workers {

struct Violation {
  std::string what;
};
[[noreturn]] void violate(std::string what);

/// Which partition holds what, and which transactional id is whose. The id of a slot is its number.
struct Layout {
  std::uint32_t slots = 0;
  std::size_t alert_partitions = 0;
  static constexpr std::size_t cuts = 0;
  [[nodiscard]] std::size_t progress(Slot slot) const { return 1 + slot; }
  [[nodiscard]] std::size_t state(Slot slot) const { return 1 + slots + slot; }
  [[nodiscard]] std::size_t alerts(std::uint64_t match) const { return 1 + 2 * slots + match % alert_partitions; }
  [[nodiscard]] std::size_t partitions() const { return 1 + 2 * slots + alert_partitions; }
  [[nodiscard]] std::size_t leader_id() const { return slots; }
};

class Checks {
 public:
  Checks(const Layout& layout, const Broker& broker);

  /// A leader is about to commit this cut: the next one, and its graph is that of all cuts.
  void before_cut(const Cut& cut) const;
  void after_cut(const Cut& cut);
  /// A worker is about to commit this part: the next one of its slot, after all parts of the batch before, with the right
  /// alerts.
  void before_part(Slot slot, std::uint64_t batch);
  /// What a reader of the alerts sees: no alert twice, and no end before its beginning.
  void look_at_alerts();
  /// All of the input is cut, published and visible.
  void at_the_end(std::uint64_t records) const;

  [[nodiscard]] std::uint64_t cuts() const noexcept { return marks_.size(); }

 private:
  [[nodiscard]] std::uint64_t end() const;  // of what is cut

  Layout layout_;
  const Broker* broker_;
  std::vector<CommitPoint> marks_;                                      // of the cuts
  std::vector<std::uint64_t> published_;                                // by slot
  std::map<std::pair<std::uint64_t, Slot>, std::vector<Alert>> parts_;  // by batch and slot
  std::vector<std::set<std::uint64_t>> bindings_;                       // by slot
  std::map<std::pair<std::uint64_t, char>, int> expected_, visible_;    // how many there are of each alert
  std::vector<std::size_t> seen_;                                       // where the reader is, by alert partition
};

}  // namespace deltamatch::ingest::workers
