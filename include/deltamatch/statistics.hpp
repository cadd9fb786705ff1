// Sizes of the graph and its labels, and what a backend did.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace deltamatch {

struct GraphStatistics {
  std::uint64_t vertices = 0;  ///< in the dictionary
  std::uint64_t edges = 0;
  std::uint64_t bytes = 0;            ///< of adjacency, dictionary and labels, and of the window's records if there is a window
  std::uint64_t adjacency_bytes = 0;  ///< lists, rows and free blocks
  std::uint64_t dictionary_bytes = 0;
  std::uint64_t vertex_labels = 0;  ///< distinct labels, without the empty one
  std::uint64_t edge_labels = 0;    ///< distinct labels, without the empty one
  std::uint64_t label_bytes = 0;    ///< of both tables
};

/// The memory that the edges of one label use.
struct EdgeLabelStatistics {
  std::string label{};
  std::uint64_t edges = 0;
  std::uint64_t bytes = 0;  ///< of their neighbour lists; memory per vertex and spare room belong to no label
};

/// A figure that a backend reports.
struct BackendMetric {
  enum class Kind : std::uint8_t {
    counter,  ///< since the engine was made; it never decreases
    gauge,    ///< of the present
  };
  std::string name{};  ///< words of lower-case letters and digits, joined by underscores; unique within the backend
  std::variant<std::uint64_t, double> value{};
  Kind kind = Kind::counter;
  std::string help = {};  ///< one sentence for pages of metrics
};

/// Names that several backends may use, always with these meanings. A backend with memory of its own reports the first five.
namespace backend_metrics {
inline constexpr std::string_view hits = "hits";      ///< look-ups of lists in the backend's memory
inline constexpr std::string_view misses = "misses";  ///< look-ups of lists that were read from host memory
inline constexpr std::string_view copied_bytes = "copied_bytes";
inline constexpr std::string_view cached_lists = "cached_lists";      ///< a gauge
inline constexpr std::string_view cached_bytes = "cached_bytes";      ///< a gauge
inline constexpr std::string_view kernel_seconds = "kernel_seconds";  ///< run time of kernels; of several devices the longest
inline constexpr std::string_view coverage = "coverage";              ///< a gauge: how well the cache is chosen, if measured
}  // namespace backend_metrics

/// What a backend did since the engine was made.
struct BackendStatistics {
  std::string backend{};                 ///< Backend::name
  std::vector<BackendMetric> metrics{};  ///< each name once
  std::string notice{};                  ///< what the backend did differently than planned, and why; empty if nothing

  /// Null if there is none of that name.
  [[nodiscard]] const BackendMetric* find(std::string_view name) const noexcept;
  /// The value of a metric that is a whole number; 0 if there is none.
  [[nodiscard]] std::uint64_t count(std::string_view name) const noexcept;
  /// The value of a metric; 0 if there is none.
  [[nodiscard]] double real(std::string_view name) const noexcept;
};

}  // namespace deltamatch
