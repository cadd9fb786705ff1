// What motifs, cliques and quasi-cliques have in common.
// - They load a graph and take its simple view.
// - They run until the answer, a limit, a time-out or a signal.
// - They print a table, JSON or CSV, and write the subgraphs that are listed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.hpp"
#include "cli/options/common_options.hpp"
#include "cli/report/input_notes.hpp"
#include "cli/report/report.hpp"
#include "cli/terminal/json_writer.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/progress.hpp"
#include "deltamatch/mine.hpp"

namespace deltamatch::cli {

struct MiningOptions {
  GraphOptions graph;
  std::string only_on_cores;  ///< why devices cannot count this; empty: they can
  /// From this many pairs of later neighbours on, the CPU probably takes longer than a device. A device needs some tenths of a
  /// second before it counts anything. Nothing: never.
  std::optional<std::uint64_t> worth_a_device = std::uint64_t{1} << 22;
  Timestamp timeout = 0;
  std::optional<std::uint64_t> limit;
  bool list = false;  ///< --emit subgraphs
  std::string out;
  std::string out_format;
  bool json = false;
  bool csv = false;

  [[nodiscard]] bool counts_on_devices() const noexcept { return only_on_cores.empty() && !list; }
};

void add_mining_options(const Command& command, MiningOptions& options);

/// A row of the answer.
struct MiningRow {
  std::string name;  ///< the pattern's name, or the number of vertices or edges
  Count count = 0;
  std::optional<Pattern> pattern = {};  ///< motifs only: drawn beside the count
};

/// A fact beside the rows: a line of the table and a member of the JSON object.
struct MiningNote {
  std::string name;
  std::string value;
  bool is_number = false;
};

struct MiningAnswer {
  std::string rows_name;  ///< "motifs"
  std::string column;     ///< heading of the rows' names: "pattern"
  std::vector<MiningNote> notes = {};
  std::vector<MiningRow> rows = {};
  bool complete = true;
  double seconds = 0;
  std::optional<double> kernel_seconds = {};  ///< nothing: the CPU counted
};

/// Returns the result of `count`. If that exceeds 128 bits, throws an Error that names `what` in place of a query.
template <class Function>
auto counted(const std::string& what, const Function& count,
             std::string_view remedy = "count a size of which there are fewer") {
  try {
    return count();
  } catch (const CountOverflow& error) {
    throw Error(error.kind(), what, "more than 2^128-1", remedy);
  }
}

/// One run of a mining command.
class Mining {
 public:
  /// Opens and loads the inputs. Throws Error(usage) if options contradict each other, and whatever loading throws. Until it
  /// returns, an interrupt ends the program.
  explicit Mining(const MiningOptions& options);

  [[nodiscard]] const SimpleGraph& graph() const noexcept { return *graph_; }
  /// Threads, time-out, signals, progress, and where to count.
  [[nodiscard]] MineOptions run_options();
  /// With --emit subgraphs, call it before the first write(). It opens the file, which empties it. In CSV it writes a header:
  /// the note (empty name: none) and k vertices.
  void open_list(std::string_view note, std::uint64_t k);
  /// Writes a line: the note about this subgraph (empty name: none), then its vertices in this order.
  void write(const MiningNote& note, std::span<const SimpleGraph::Vertex> vertices);
  /// Prints the answer. Returns the exit code.
  int finish(const MiningAnswer& answer);

 private:
  void write_csv(const MiningNote& note, std::span<const SimpleGraph::Vertex> vertices);
  [[nodiscard]] std::string json(const MiningAnswer& answer) const;
  [[nodiscard]] std::string table(const MiningAnswer& answer) const;
  [[nodiscard]] std::string shortfall(const MiningAnswer& answer) const;
  [[nodiscard]] std::string_view cause() const;
  void mark_file();

  const MiningOptions& options_;
  std::shared_ptr<Backend> backend_;  // null: the CPU counts
  std::optional<SimpleGraph> graph_;
  Progress progress_;
  std::unique_ptr<TextFile> file_;  // null: nothing is listed
  bool file_is_csv_ = false;
  std::uint64_t listed_ = 0;
  std::size_t columns_ = 1;  // cells of a line of CSV
  InputNotes notes_;
  double load_ = 0;
  Unused unused_;  // counted over the records of the graph
};

}  // namespace deltamatch::cli
