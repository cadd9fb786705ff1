#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/parallel.hpp"
#include "deltamatch/error.hpp"
#include "match/backend.hpp"
#include "mine/motif_formulas.hpp"
#include "mine/set_store.hpp"
#include "mine/visitors.hpp"

namespace deltamatch {
namespace {

using namespace mine;

void check_size(unsigned k) {
  if (k >= 2 && k <= max_k) return;
  throw Error(ErrorKind::usage, "k", std::to_string(k) + " is not a possible number of vertices of patterns",
              "choose 2 to " + std::to_string(max_k));
}

MotifMethod method_of(unsigned k, const MotifOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& remedy) {
    throw Error(ErrorKind::usage, "method", what, remedy);
  };
  MotifMethod method = options.method;
  if (method == MotifMethod::automatic) {
    if (options.growing) return MotifMethod::extend;
    if (options.run.backend && options.run.backend->capabilities().motifs ? k == device_formula_k : k <= max_formula_k)
      return MotifMethod::formulas;
    method = MotifMethod::pairs;
  }
  if (options.growing && method != MotifMethod::extend) {
    refuse("only the method extend can check a condition on growing parts", "choose extend, or leave the method out");
  }
  if (method == MotifMethod::formulas && k > max_formula_k) {
    refuse("formulas exist for at most " + std::to_string(max_formula_k) + " vertices", "choose pairs or extend");
  }
  return method == MotifMethod::pairs && k < 3 ? MotifMethod::extend : method;
}

template <class Visitor>
PatternCounts sum_of(const std::vector<Visitor>& visitors) {
  PatternCounts sum = visitors.front().counts;
  for (std::size_t i = 1; i < visitors.size(); ++i) {
    for (std::size_t pattern = 0; pattern < sum.size(); ++pattern) {
      sum[pattern] = checked_add(sum[pattern], visitors[i].counts[pattern]);
    }
  }
  return sum;
}

PatternCounts enumerate(const SimpleGraph& graph, const PatternTable& table, const ConditionTable& conditions,
                        MotifMethod method, Workers& workers, RunControl& control) {
  const OrderedGraph ordered(graph, degree_order(graph));
  if (method == MotifMethod::pairs) {
    const PairTable pairs(table);
    std::vector<PairVisitor> visitors(workers.size(), PairVisitor(table, pairs, conditions));
    walk_all(ordered, table, table.k() - 2, workers, control, visitors);
    return sum_of(visitors);
  }
  std::vector<ExtendVisitor> visitors(workers.size(), ExtendVisitor(table, conditions));
  walk_all(ordered, table, table.k() - 1, workers, control, visitors);
  return sum_of(visitors);
}

match::MotifTables tables_for_devices(const PatternTable& table, const ConditionTable& conditions, MotifMethod method) {
  const unsigned k = table.k();
  match::MotifTables tables{};
  tables.depth = method == MotifMethod::pairs ? k - 2 : k - 1;
  tables.patterns = static_cast<unsigned>(table.patterns(k).size());
  for (unsigned size = 1; size <= tables.depth; ++size) {
    tables.first_step[size] = static_cast<std::uint32_t>(tables.steps.size());
    table.append_steps(size, tables.steps);
    tables.first_pattern[size] = static_cast<std::uint32_t>(tables.admitted.size());
    for (std::size_t pattern = 0; pattern < table.patterns(size).size(); ++pattern) {
      tables.admitted.push_back(conditions.admits(size, static_cast<ClassId>(pattern)) ? 1 : 0);
    }
  }
  if (method == MotifMethod::pairs) tables.pairs = PairTable(table).classes();
  return tables;
}

/// Returns nullopt if the devices have too little memory.
std::optional<PatternCounts> count_on_devices(const SimpleGraph& graph, const PatternTable& table,
                                              const ConditionTable& conditions, MotifMethod method, RunControl& control,
                                              match::MotifCounter& devices) {
  const OrderedGraph ordered(graph, degree_order(graph));
  return devices.count(ordered.neighbour_lists(), tables_for_devices(table, conditions, method), [&](double share) {
    control.set_share(share);
    return !control.check(0);
  });
}

/// Works at subgraphs of k - 1 vertices, and passes on the subgraph with each candidate.
class ListVisitor {
 public:
  ListVisitor(const OrderedGraph& graph, const PatternTable& table, const ConditionTable& conditions,
              const SubgraphOptions& options, SetStore& store)
      : graph_(&graph), table_(&table), conditions_(&conditions), options_(&options), store_(&store) {}

  [[nodiscard]] bool admit(const Traversal& t, VertexId v, const PatternTable::State& state, Key key) {
    return conditions_->admits(t.size() + 1, state.pattern) && (!options_->extend || options_->extend(part(t, v, key)));
  }

  std::uint64_t visit(const Traversal& t, const PatternTable::State& state, Key key, std::uint32_t first) {
    const unsigned k = t.size() + 1;
    for (std::uint32_t i = first; i < t.stack_size(); ++i) {
      const VertexId v = t.at(i);
      const std::uint32_t mask = t.mask(v);
      if (!conditions_->admits(k, table_->next_class(t.size(), state.pattern, state.places.moved(mask)))) continue;
      const Subgraph found = part(t, v, grown(key, t.size(), mask));
      if (options_->keep && !options_->keep(found)) continue;
      store_->add(gathered_, found.vertices, found.key);
    }
    return t.stack_size() - first;
  }

  void finish() { store_->flush(gathered_); }

 private:
  Subgraph part(const Traversal& t, VertexId v, Key key) {
    for (unsigned i = 0; i < t.size(); ++i) part_[i] = graph_->original(t.taken(i));
    part_[t.size()] = graph_->original(v);
    return {.vertices = {part_.data(), t.size() + 1}, .key = key};
  }

  const OrderedGraph* graph_;
  const PatternTable* table_;
  const ConditionTable* conditions_;
  const SubgraphOptions* options_;
  SetStore* store_;
  std::array<VertexId, max_k> part_{};
  Found gathered_;
};

}  // namespace

MotifResult count_motifs(const SimpleGraph& graph, unsigned k, const MotifOptions& options) {
  check_size(k);
  MotifResult result;
  result.method = method_of(k, options);
  RunControl control(options.run);
  Workers workers(options.run.threads);
  const PatternTable table(k);
  const ConditionTable conditions(table, options.where, options.growing);
  PatternCounts counts;
  if (result.method == MotifMethod::formulas) {
    const auto devices = options.run.backend && k == device_formula_k ? options.run.backend->make_dense_set_counter() : nullptr;
    counts = formula_counts(graph, table, workers, control, devices.get());
    if (devices) result.kernel_seconds = devices->kernel_seconds();
  } else {
    std::optional<PatternCounts> counted;
    if (const auto devices = options.run.backend ? options.run.backend->make_motif_counter() : nullptr) {
      counted = count_on_devices(graph, table, conditions, result.method, control, *devices);
      if (counted) result.kernel_seconds = devices->kernel_seconds();
    }
    counts = counted ? std::move(*counted) : enumerate(graph, table, conditions, result.method, workers, control);
  }
  const auto patterns = table.patterns(k);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (options.where && !options.where->holds(k, patterns[i])) continue;
    result.motifs.push_back({{k, patterns[i]}, conditions.admits(k, static_cast<ClassId>(i)) ? counts[i] : 0});
  }
  result.complete = !control.stopped();
  result.seconds = control.seconds();
  return result;
}

ListResult list_subgraphs(const SimpleGraph& graph, unsigned k, const SubgraphOptions& options,
                          const std::function<void(const Subgraph&)>& store) {
  check_size(k);
  RunControl control(options.run);
  Workers workers(options.run.threads);
  const PatternTable table(k);
  const ConditionTable conditions(table, options.where, options.growing);
  const OrderedGraph ordered(graph, degree_order(graph));
  SetStore kept(k, [&](std::span<const VertexId> vertices, Key key) { store({vertices, key}); }, options.limit, control);
  std::vector<ListVisitor> visitors(workers.size(), ListVisitor(ordered, table, conditions, options, kept));
  walk_all(ordered, table, k - 1, workers, control, visitors);
  for (ListVisitor& visitor : visitors) visitor.finish();
  return kept.result();
}

}  // namespace deltamatch
