// How candidates are found, tested and counted: see kernel_text.hpp.
#include <algorithm>

#include "gpu/made/kernel_text.hpp"
#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu {

namespace {

// Lists that are only counted are cut if they are longer than this, into parts of so many entries. Bitmaps are fast.
constexpr std::uint32_t long_count = 1024;
constexpr std::uint32_t late_count = 64;  // the same if the task takes long already
constexpr std::uint32_t long_mapped_count = 1U << 14;
constexpr std::uint32_t count_part = 512;

}  // namespace

// --- what candidates are found in ---

std::vector<KernelText::Source> KernelText::sources_of(const Node& node) const {
  std::vector<Read> reads = shape_.own_reads(node);
  std::vector<Source> sources;
  // A set that is known already takes the place of the most lists that it can.
  const std::pair<const std::uint32_t, Set>* best = nullptr;
  for (const auto& known : names_.sets) {
    const std::vector<Read>& joint = known.second.reads;
    if (joint.empty() || !std::ranges::includes(reads, joint)) continue;
    if (best == nullptr || joint.size() > best->second.reads.size()) best = &known;
  }
  if (best != nullptr && node.base == 0) {
    std::erase_if(reads,
                  [&](const Read& read) { return std::ranges::find(best->second.reads, read) != best->second.reads.end(); });
    sources.push_back({true, {best->first, 0}});
  }
  for (const Read& read : reads) sources.push_back({false, read});
  if (node.base != 0) sources.push_back({true, {node.base, 0}});
  return sources;
}

// A list with a bitmap is searched, or else a set, or else the list that was read longest ago.
KernelText::Roles KernelText::roles_of(std::vector<Source> sources) const {
  Roles roles;
  for (const Source& source : sources) {
    if (!source.set) roles.reads.push_back(source.read);
  }
  roles.meets = sources.size() > 1;
  if (roles.meets) {
    auto other = std::ranges::find(sources, true, &Source::set);
    if (other == sources.end())
      other = std::ranges::find_if(sources, [&](const Source& of) { return bits_of(of) != "nullptr"; });
    if (other == sources.end()) other = sources.begin();
    roles.other = *other;
    sources.erase(other);
  }
  const auto own =
      std::ranges::max_element(sources, {}, [](const Source& of) { return std::pair(!of.set, of.set ? 0 : of.read.position); });
  roles.own = *own;
  sources.erase(own);
  roles.rest = std::move(sources);
  return roles;
}

bool KernelText::same_for_all(const Source& source) const {
  if (!source.set) return source.read.position <= shared_;
  const auto at = names_.sets.find(source.read.position);
  return at != names_.sets.end() && at->second.same;
}
bool KernelText::same_for_all(const Node& node) const {
  return std::ranges::all_of(sources_of(node), [&](const Source& source) { return same_for_all(source); });
}

// Whether a loop's candidates are found once for all partial matches of a task.
bool KernelText::hoists_set(const Node& node, std::uint32_t depth) const {
  return depth > 1 && PlanShape::lists(node) > 1 && !node.keeps_set(depth) && sources_of(node).size() > 1 && same_for_all(node);
}
bool KernelText::hoists_count(const Node& node, std::uint32_t depth) const {
  return shape_.is_hoisted(node, depth) && shape_.decided_at(node) <= shared_ && same_for_all(node);
}

std::string KernelText::list_of(const Source& source) const {
  return source.set ? names_.sets.at(source.read.position).name : names_.lists.at(source.read);
}

// The bitmap of a list that a node reads, as an expression.
std::string KernelText::bits_of(const Source& source) const {
  const auto at = source.set ? mapped_.end() : std::ranges::find(mapped_, source.read);
  return at == mapped_.end() ? "nullptr" : fmt::format("bits{}", at - mapped_.begin());
}

// The length of a node's shortest list, as an expression. Sets that only the work at hand knows do not count.
std::string KernelText::shortest(const Node& node) const {
  std::vector<std::string> lists;
  for (const Read& read : shape_.own_reads(node)) lists.push_back(names_.lists.at(read));
  if (node.base != 0) lists.push_back(names_.sets.at(node.base).name);
  std::string all;
  for (const std::string& list : lists) {
    all = all.empty() ? list + ".count" : fmt::format("min({}, {}.count)", all, list);
  }
  return all;
}

// Whether a vertex is in all lists of a node, as an expression.
std::string KernelText::is_candidate(const Node& node, const std::string& vertex) const {
  std::string test;
  for (const Source& source : sources_of(node)) {
    if (!test.empty()) test += " && ";
    test += fmt::format("holds({}, {})", list_of(source), vertex);
    if (source.set) continue;
    test += fmt::format(" && ({}.slice == none || !is_staged(warp, {}) || sees(warp, {}.slice, {}, {}, {}))", list_of(source),
                        vertex, list_of(source), source.read.way, names_.vertices[source.read.position], vertex);
  }
  return test;
}

// --- finding them ---

// Begins a block that is run for what a node's lists have in common, in the lanes for which `wanted` holds. It has `id`,
// whether the lane has one as `in`, and the lane of the partial match as `from`.
void KernelText::open_finding(const Roles& roles, const std::string& wanted) {
  const std::string own = fmt::format("only_if({}, {})", wanted, list_of(roles.own));
  const std::string meeting = fmt::format("shared.meetings[{}]", meetings_);
  most_meetings_ = std::max(most_meetings_, ++meetings_);
  here_.clear();
  if (roles.meets) {
    out_.open("meet(warp, {}, {}, {}, {}, [&](bool in, u32 id, u32 from) {{", own, list_of(roles.other), bits_of(roles.other),
              meeting);
  } else {
    out_.open("read_all(warp, {}, {}, [&](bool in, u32 id, u32 from) {{", own, meeting);
  }
}
// Begins such a block for the entries of each lane's set.
void KernelText::open_reading(const std::string& product, const std::string& set) {
  out_.open("read_all(warp, only_if({} != 0, {}), shared.meetings[{}], [&](bool in, u32 id, u32 from) {{", product, set,
            meetings_);
  most_meetings_ = std::max(most_meetings_, ++meetings_);
  here_.clear();
}
void KernelText::close_finding() {
  out_.close("});");
  --meetings_;
}

// Drops those that the conditions without lists exclude. `apart`: vertices to differ from. `cut`: order constraints. Positions
// beyond `deepest` do not count.
void KernelText::write_conditions(const Node& node, bool apart, bool cut, std::uint32_t deepest) {
  std::string test;
  const auto all = shape_.positions(node);
  for (std::uint32_t p = 0; p < all.size(); ++p) {
    const bool distinct = p < node.distinct;
    if ((distinct ? !apart : !cut || program_.ordered == 0) || all[p] > deepest) continue;
    test += fmt::format(" && id {} {}", PlanShape::sign(node, p), names_.vertices[all[p]]);
  }
  if (!test.empty()) out_.line("in = in{};", test);
}

// Drops those that lists lack which were not searched, and those that the pass does not see.
void KernelText::write_list_tests(const Roles& roles, bool searched) {
  for (const Source& source : roles.rest) {
    if (!searched) out_.line("in = in && holds({}, id);", list_of(source));
  }
  std::string changes;
  std::string sees;
  for (const Read& read : roles.reads) {
    const std::string slice = names_.slices.contains(read) ? names_.slices.at(read) : names_.lists.at(read) + ".slice";
    changes += fmt::format("{}{} != none", changes.empty() ? "" : " || ", slice);
    sees += fmt::format("{}sees(warp, {}, {}, {}, id)", sees.empty() ? "" : " && ", slice, read.way,
                        names_.vertices[read.position]);
  }
  if (!sees.empty()) out_.line("if (in && ({}) && is_staged(warp, id)) in = {};", changes, sees);
}

// --- counts ---

// Multiplies each lane's product by its count.
void KernelText::write_count(std::uint32_t index, std::uint32_t depth, bool last, const std::string& product) {
  const Node& node = shape_.node(index);
  out_.open("{{");
  if (shape_.is_length(node)) {
    write_length(node, product);
  } else if (hoists_count(node, depth)) {
    write_hoisted(index, product);
  } else {
    const WaitingWork* work = last ? shape_.work_of(index) : nullptr;
    const bool mapped = bits_of(roles_of(node).other) != "nullptr";
    if (work != nullptr) {
      give_heavy(*work, shortest(node),
                 mapped ? std::to_string(long_mapped_count) : fmt::format("(is_long(warp) ? {} : {})", late_count, long_count),
                 count_part, product, {});
    }
    write_hits(node, product + " != 0", any_position);
  }
  out_.line("{} = multiply(warp, {}, {});", product, product,
            node.choose == 1 ? "found" : fmt::format("binomial(warp, found, {})", node.choose));
  out_.close();
}

// By the length of a single list: `found`.
void KernelText::write_length(const Node& node, const std::string& product) {
  const Source source = sources_of(node).front();
  out_.line("i64 found = 0;");
  out_.open("if ({} != 0) {{", product);
  if (source.set) {
    out_.line("found = {}.count;", list_of(source));
  } else {
    out_.line("found = length(warp, {}, {}, {});", list_of(source), source.read.way, names_.vertices[source.read.position]);
  }
  for (const std::uint8_t position : shape_.positions(node)) {
    out_.line("found -= {} ? 1 : 0;", is_candidate(node, names_.vertices[position]));
  }
  out_.close();
}

// Counts a node's candidates for the lanes for which `wanted` holds: `found`.
void KernelText::write_hits(const Node& node, const std::string& wanted, std::uint32_t deepest) {
  const std::string counts = fmt::format("shared.meetings[{}].counts", meetings_);
  out_.line("{}[warp.lane] = 0;", counts);
  out_.line("__syncwarp();");
  const Roles roles = roles_of(node);
  open_finding(roles, wanted);
  const Names outer = names_;
  fetch(roles, &node);
  write_conditions(node, true, true, deepest);
  write_list_tests(roles);
  names_ = outer;
  out_.line("if (in) atomicAdd(&{}[from], 1U);", counts);
  close_finding();
  out_.line("__syncwarp();");
  out_.line("const i64 found = {}[warp.lane];", counts);
}

// A count that is found once for all partial matches of a task, less the vertices matched since then that must differ: `found`.
void KernelText::write_hoisted(std::uint32_t index, const std::string& product) {
  const Node& node = shape_.node(index);
  const std::uint32_t number = shape_.number(index);
  out_.open("if (h{} < 0) {{", number);
  write_hits(node, "warp.lane == 0", shape_.decided_at(node));
  out_.line("h{} = __shfl_sync(all_lanes, found, 0);", number);
  out_.close();
  out_.line("i64 found = h{};", number);
  for (const std::uint8_t position : shape_.positions(node)) {
    if (position <= shape_.decided_at(node)) continue;
    out_.line("if ({} != 0 && {}) --found;", product, is_candidate(node, names_.vertices[position]));
  }
}

// Where a further set has its place in the warp's memory.
std::uint32_t KernelText::take_scratch() {
  const std::uint32_t place = std::max(shape_.kept_sets(), 1U) + scratch_++;
  made_.sets = std::max(made_.sets, place + 1);
  return place;
}

// Declares what is found once for the steps at `depth` and below.
void KernelText::declare_hoisted(std::uint32_t first, std::uint32_t end, std::uint32_t depth) {
  for (std::uint32_t i = first; i < end; ++i) {
    const Step& step = shape_.step(i);
    if (step.kind == StepKind::count && hoists_count(shape_.node(step.node), depth)) {
      out_.line("i64 h{} = -1;", shape_.number(step.node));
    }
    if (step.kind != StepKind::loop) continue;
    const Node& node = shape_.node(step.node);
    if (hoists_set(node, depth + 1)) {
      out_.line("List h{};", shape_.number(step.node));
      out_.line("bool known{} = false;", shape_.number(step.node));
      hoisted_sets_[step.node] = take_scratch();
    }
    declare_hoisted(node.first_step, node.end_step, depth + 1);
  }
}

}  // namespace deltamatch::gpu
