// The interface of a backend: who matches, and where the neighbour lists of the graph are stored.
//
// What is stable: Backend::name, BackendCapabilities, the statistics (deltamatch/statistics.hpp) and make_cpu_backend. Programs
// may rely on these. What a backend implements with types that are only declared here may change with every version. Those
// types are defined in src/match/backend.hpp, so a backend is a folder of this repository (CONTRIBUTING.md).
#pragma once

#include <memory>
#include <string_view>

namespace deltamatch {

class Workers;
namespace graph {
class SlabAllocator;
}
namespace match {
class DenseSetCounter;
class Matcher;
class MotifCounter;
}  // namespace match

/// What a backend can do. The engine asks for nothing else, and CPU cores do the rest. Every backend counts and lists changes
/// in all modes, whatever it leaves to CPU cores for that.
struct BackendCapabilities {
  bool own_memory = false;   ///< matchers keep copies of lists; the graph logs its changes for them
  bool frees_cores = false;  ///< CPU cores are idle while it matches, so the engine looks up the next batch meanwhile
  bool whole_graph = true;   ///< matchers take whole graphs; otherwise CPU cores match these
  bool filters = false;      ///< matchers can run the steps of filtering
  bool cliques = false;      ///< counts cliques and quasi-cliques for mining
  bool motifs = false;       ///< counts motifs for mining
  unsigned devices = 0;      ///< that share the work of a batch; 0: it has none
};

/// Stores neighbour lists and matches on them. Every engine that uses a backend owns it through shared_ptr. Only one engine at
/// a time may match.
class Backend {
 public:
  virtual ~Backend();
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// The name that programs ask for, print and put in the names of metrics: lower-case letters, such as "cpu".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual BackendCapabilities capabilities() const noexcept = 0;

  /// Allocates the memory for the lists of the data graph.
  [[nodiscard]] virtual graph::SlabAllocator& slabs() noexcept = 0;
  /// Makes a matcher. `workers` must outlive it.
  [[nodiscard]] virtual std::unique_ptr<match::Matcher> make_matcher(Workers& workers) = 0;
  /// Makes a counter for mining. Null without BackendCapabilities::cliques.
  [[nodiscard]] virtual std::unique_ptr<match::DenseSetCounter> make_dense_set_counter();
  /// Makes a counter for mining. Null without BackendCapabilities::motifs.
  [[nodiscard]] virtual std::unique_ptr<match::MotifCounter> make_motif_counter();

  /// For the backend's profilers: the engine begins a step of a batch, or ends the step begun last, in the same thread. Names
  /// are string literals.
  virtual void begin_step(const char* /*name*/) noexcept {}
  virtual void end_step() noexcept {}
};

/// The backend of CPU cores, "cpu". An engine without a backend uses one.
[[nodiscard]] std::shared_ptr<Backend> make_cpu_backend();

}  // namespace deltamatch
