#include "plan/program.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "plan/estimates.hpp"

namespace deltamatch::plan {

namespace {

// A look-up costs about as much as reading this many list entries.
constexpr double look_up_cost = 8;

// A loop or count and everything below it, before steps are laid out.
struct Tree {
  Candidates candidates;
  std::vector<Joined> joined;
  std::uint32_t vertex = 0;
  std::uint32_t choose = 1;
  Position position = 0;
  struct Product {
    std::int64_t coefficient = 1;
    std::vector<Tree> factors;
  };
  std::vector<Product> terms;  // empty: a count
  Step::Kind leaf = Step::Kind::add;

  [[nodiscard]] bool counts() const { return terms.empty() && leaf == Step::Kind::add; }
};

class Layout {
 public:
  // Lays out the steps that run on the partial matches of a loop. Returns the first step and their number.
  std::pair<std::uint32_t, std::uint32_t> steps(const std::vector<Tree::Product>& terms, Step::Kind leaf) {
    std::vector<Step> own;
    std::vector<const Tree*> nodes;  // parallel to own
    const auto add = [&](const Step& step, const Tree* node) {
      own.push_back(step);
      nodes.push_back(node);
    };
    for (const Tree::Product& term : terms) {
      add({Step::Kind::term, false, 0, term.coefficient}, nullptr);
      // Counts come first: a zero ends the product.
      for (const Tree& factor : term.factors) {
        if (factor.counts()) add({Step::Kind::count, false, 0, 1}, &factor);
      }
      for (const Tree& factor : term.factors) {
        if (!factor.counts()) add({Step::Kind::loop, false, 0, 1}, &factor);
      }
      if (own.back().kind == Step::Kind::loop) {
        own.back().tail = true;
      } else {
        add({Step::Kind::add, false, 0, 1}, nullptr);
      }
    }
    if (terms.empty()) {
      add({Step::Kind::term, false, 0, 1}, nullptr);
      add({leaf, false, 0, 1}, nullptr);
      if (leaf == Step::Kind::edges) add({Step::Kind::add, false, 0, 1}, nullptr);
    }
    const auto first = static_cast<std::uint32_t>(program.steps.size());
    program.steps.insert(program.steps.end(), own.begin(), own.end());
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (nodes[i] != nullptr) program.steps[first + i].node = node(*nodes[i]);
    }
    return {first, static_cast<std::uint32_t>(own.size())};
  }

  Program program;

 private:
  std::uint32_t node(const Tree& tree) {
    const auto index = static_cast<std::uint32_t>(program.nodes.size());
    Node made;
    made.candidates = tree.candidates;
    made.joined = tree.joined;
    made.vertex = tree.vertex;
    made.choose = tree.choose;
    made.position = tree.position;
    program.nodes.push_back(std::move(made));
    if (!tree.counts()) {
      program.positions = std::max<std::uint32_t>(program.positions, tree.position + 1u);
      const auto [first, count] = steps(tree.terms, tree.leaf);
      program.nodes[index].first_step = first;
      program.nodes[index].steps = count;
    }
    return index;
  }
};

class Rooting {
 public:
  Rooting(const Factor& tree, const Estimates& estimates) : tree_(tree), estimates_(estimates) {}

  // Returns the tree as loops from the root with the least work. Its vertices get positions from `position` on.
  [[nodiscard]] Tree run(Position position) const {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t v = 0; v < tree_.vertices.size(); ++v) {
      if (tree_.vertices[v].probes.empty()) continue;
      const double work = cost(v, no_vertex, 0);
      if (work >= least) continue;
      least = work;
      best = v;
    }
    return root(best, no_vertex, nullptr, position);
  }

 private:
  static constexpr std::size_t no_vertex = ~std::size_t{0};

  // The expected work for each partial match from which a vertex's loop starts. `degree`: length of the list that leads to the
  // vertex.
  [[nodiscard]] double cost(std::size_t v, std::size_t parent, double degree) const {
    double below = 0;
    for (const TreeEdge& edge : tree_.edges) {
      if (edge.a == v && edge.b != parent) below += cost(edge.b, v, edge.a_degree);
      if (edge.b == v && edge.a != parent) below += cost(edge.a, v, edge.b_degree);
    }
    const auto& probes = tree_.vertices[v].probes;
    double size = degree;
    double read = degree;
    if (!probes.empty()) {
      std::uint32_t block = 0;
      for (const std::uint32_t member : tree_.members[v]) block |= 1u << member;
      const double own = estimates_.size(block, probes);
      size = parent == no_vertex ? own : std::min(own, degree) / 2;
      read = parent == no_vertex ? own : std::min(own, degree);
    }
    return look_up_cost + read + size * below;
  }

  [[nodiscard]] Tree root(std::size_t v, std::size_t parent, const Probe* from_parent, Position position) const {
    Tree made;
    made.candidates = tree_.vertices[v];
    made.vertex = tree_.members[v].front();
    made.choose = tree_.choose;
    made.position = position;
    if (from_parent != nullptr) made.candidates.probes.push_back(*from_parent);
    Tree::Product product;
    for (const TreeEdge& edge : tree_.edges) {
      const bool down_b = edge.a == v && edge.b != parent;
      const bool down_a = edge.b == v && edge.a != parent;
      if (!down_a && !down_b) continue;
      Probe probe{position, edge.inclusive, edge.power, 0, down_b ? edge.a_to_b : edge.b_to_a};
      product.factors.push_back(root(down_b ? edge.b : edge.a, v, &probe, static_cast<Position>(position + 1)));
    }
    if (!product.factors.empty()) made.terms.push_back(std::move(product));
    return made;
  }

  const Factor& tree_;
  const Estimates& estimates_;
};

Tree::Product product_of(const std::vector<Factor>& factors, const Estimates& estimates, Position position,
                         std::int64_t coefficient) {
  Tree::Product product;
  product.coefficient = coefficient;
  for (const Factor& factor : factors) {
    if (factor.kind == Factor::Kind::tree) {
      product.factors.push_back(Rooting(factor, estimates).run(position));
      continue;
    }
    Tree bind;
    bind.candidates = factor.vertices[0];
    bind.vertex = factor.members[0].front();
    bind.position = position;
    if (factor.inner.empty()) {  // a count
      product.factors.push_back(std::move(bind));
      continue;
    }
    bind.terms.push_back(product_of(factor.inner, estimates, static_cast<Position>(position + 1), 1));
    product.factors.push_back(std::move(bind));
  }
  return product;
}

// The loop that enumerates a level.
Tree level_tree(const Plan& plan, std::size_t level) {
  Tree made;
  made.candidates = plan.levels[level].candidates;
  made.joined = plan.levels[level].joined;
  made.vertex = plan.levels[level].vertex;
  made.position = static_cast<Position>(level + 2);
  return made;
}

// Wraps `terms` into the loops of the first `levels` levels, from the inside out.
Program nest(const Plan& plan, std::size_t levels, std::vector<Tree::Product> terms, Step::Kind leaf) {
  for (std::size_t i = levels; i-- > 0;) {
    Tree loop = level_tree(plan, i);
    loop.terms = std::move(terms);
    loop.leaf = leaf;
    if (loop.terms.empty() && leaf == Step::Kind::add) loop.terms.push_back({});
    terms.clear();
    terms.push_back({1, {}});
    terms.back().factors.push_back(std::move(loop));
    leaf = Step::Kind::add;
  }
  Layout layout;
  layout.program.root_steps = layout.steps(terms, leaf).second;
  return std::move(layout.program);
}

}  // namespace

Program make_walk(const Plan& plan, bool ordered, bool list, bool plain) {
  Program program;
  if (!list && plain && !plan.levels.empty()) {
    std::vector<Tree::Product> terms(1);
    terms.back().factors.push_back(level_tree(plan, plan.levels.size() - 1));
    program = nest(plan, plan.levels.size() - 1, std::move(terms), Step::Kind::add);
  } else {
    program = nest(plan, plan.levels.size(), {}, list ? Step::Kind::emit : plain ? Step::Kind::add : Step::Kind::edges);
  }
  program.joined = plan.anchor_joined;
  program.ordered = ordered;
  return program;
}

Program make_sums(const BoundQuery& query, const Plan& plan) {
  const Estimates estimates(query, Estimates::Of::batches);
  std::vector<Tree::Product> terms;
  terms.reserve(plan.count.terms.size());
  for (const Term& term : plan.count.terms) {
    terms.push_back(product_of(term.factors, estimates, static_cast<Position>(plan.count.prefix + 2), term.coefficient));
  }
  Program program = nest(plan, plan.count.prefix, std::move(terms), Step::Kind::add);
  program.ordered = plan.count.ordered;
  program.weighted = true;
  return program;
}

std::string to_text(const BoundQuery& query, const Program& program) {
  std::string text;
  const auto name = [&](std::uint32_t vertex) { return query.query.vertices[vertex].name; };
  const auto write = [&](const auto& self, std::uint32_t first, std::uint32_t count, std::size_t depth) -> void {
    for (std::uint32_t i = first; i < first + count; ++i) {
      const Step& step = program.steps[i];
      text.append(2 * depth, ' ');
      switch (step.kind) {
        case Step::Kind::term:
          text += "term " + std::to_string(step.coefficient);
          break;
        case Step::Kind::edges:
          text += "edges";
          break;
        case Step::Kind::add:
          text += "add";
          break;
        case Step::Kind::emit:
          text += "emit";
          break;
        case Step::Kind::count:
        case Step::Kind::loop: {
          const Node& node = program.nodes[step.node];
          text += step.kind == Step::Kind::count ? "count " : step.tail ? "loop " : "sum ";
          text += name(node.vertex);
          if (node.choose > 1) text += " choose " + std::to_string(node.choose);
          for (const Probe& probe : node.candidates.probes) text += " p" + std::to_string(probe.position);
          for (const Joined& joined : node.joined) {
            text += (joined.edges == 0 ? " not p" : " just " + std::to_string(joined.edges) + " p") +
                    std::to_string(joined.position);
          }
          break;
        }
      }
      text += '\n';
      if (step.kind == Step::Kind::loop) {
        const Node& node = program.nodes[step.node];
        self(self, node.first_step, node.steps, depth + 1);
      }
    }
  };
  write(write, 0, program.root_steps, 0);
  return text;
}

}  // namespace deltamatch::plan
