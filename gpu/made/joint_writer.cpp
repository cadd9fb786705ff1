// What lists that loops below have in common, and work that lanes give away: see kernel_text.hpp.
#include <algorithm>

#include "gpu/made/kernel_text.hpp"

namespace deltamatch::gpu {

// Lists of the vertices up to a position that some node below a loop reads together with lists of further vertices. `at_it`:
// one of them is of the vertex there. `alone`: each partial match needs that node's candidates; if so, `prunes` says whether
// they have none without these.
std::vector<Read> KernelText::joint_below(const Node& loop, std::uint32_t position, bool at_it, bool alone,
                                          bool& prunes) const {
  std::uint32_t terms = 0;
  for (std::uint32_t i = loop.first_step; i < loop.end_step; ++i) terms += shape_.step(i).kind == StepKind::term ? 1 : 0;
  alone = alone && terms == 1;
  for (std::uint32_t i = loop.first_step; i < loop.end_step; ++i) {
    const Step& step = shape_.step(i);
    if (step.kind != StepKind::count && step.kind != StepKind::loop) continue;
    const Node& node = shape_.node(step.node);
    std::vector<Read> reads = shape_.own_reads(node);
    const std::size_t all = reads.size();
    std::erase_if(reads, [&](const Read& read) { return read.position > position; });
    if (node.base == 0 && reads.size() > 1 && reads.size() < all && (!at_it || reads.back().position == position)) {
      prunes = alone;
      return reads;
    }
    if (step.kind != StepKind::loop) continue;
    reads = joint_below(node, position, at_it, alone, prunes);
    if (!reads.empty()) return reads;
  }
  return {};
}

// A node below a loop that reads several lists of shared vertices and no others. Without candidates of it, the loop finds
// nothing.
const Node* KernelText::needed_below(const Node& loop) const {
  std::uint32_t terms = 0;
  for (std::uint32_t i = loop.first_step; i < loop.end_step; ++i) terms += shape_.step(i).kind == StepKind::term ? 1 : 0;
  for (std::uint32_t i = loop.first_step; terms == 1 && i < loop.end_step; ++i) {
    const Step& step = shape_.step(i);
    if (step.kind != StepKind::count && step.kind != StepKind::loop) continue;
    const Node& node = shape_.node(step.node);
    const std::vector<Read> reads = shape_.own_reads(node);
    if (node.base == 0 && reads.size() > 1 && reads.back().position <= shared_ && !shape_.ordered(node)) return &node;
    if (step.kind != StepKind::loop) continue;
    if (const Node* inner = needed_below(node)) return inner;
  }
  return nullptr;
}

bool KernelText::reads_joint(const Node& loop, const std::vector<Read>& joint) const {
  for (std::uint32_t i = loop.first_step; i < loop.end_step; ++i) {
    const Step& step = shape_.step(i);
    if (step.kind != StepKind::count && step.kind != StepKind::loop) continue;
    if (std::ranges::includes(shape_.own_reads(shape_.node(step.node)), joint)) return true;
    if (step.kind == StepKind::loop && reads_joint(shape_.node(step.node), joint)) return true;
  }
  return false;
}

// A loop that ends its product. What lists that its inner loops read have in common is found first.
void KernelText::write_joint(std::uint32_t index, std::uint32_t depth, const std::string& product) {
  const Node& node = shape_.node(index);
  bool prunes = false;
  // Work that waits does not take such sets along.
  const bool gives = shape_.work_of(index) != nullptr && depth == 1;
  const std::vector<Read> joint =
      depth > shared_ && !gives ? joint_below(node, depth, true, true, prunes) : std::vector<Read>{};
  if (joint.empty()) {
    write_loop(index, depth, product);
    return;
  }
  std::vector<Source> sources;
  for (const Read& read : joint) sources.push_back({false, read});
  const Names outer = names_;
  const std::string left = fresh("left");
  const std::string part = fresh("part");
  const std::string taken = fresh("p");
  out_.line("u32 {} = __ballot_sync(all_lanes, {} != 0);", left, product);
  out_.line("bool alone = false;");
  out_.line("#pragma unroll 1");
  out_.open("while ({} != 0) {{", left);
  write_part(roles_of(std::move(sources)), nullptr, take_scratch(), left, part);
  out_.line("i64 {} = wanted{} ? {} : 0;", taken, prunes ? fmt::format(" && {}.count > 0", part) : "", product);
  const std::uint32_t place = std::max(joint_sets, names_.sets.empty() ? 0 : names_.sets.rbegin()->first) + 1;
  names_.sets[place] = {part, false, joint};
  write_loop(index, depth, taken);
  out_.close();
  names_ = outer;
}

// Puts work of lanes into a queue if there is more than `limit` of it, and takes it from their products. `set`: what a lane's
// work ranges over, if that is a set.
void KernelText::give_heavy(const WaitingWork& work, const std::string& size, const std::string& limit, std::uint32_t part,
                            const std::string& product, const std::string& set) {
  const std::string heavy = fresh("heavy");
  const std::string mine = fresh("size");
  const std::string least = fresh("limit");
  out_.line("const u32 {} = {};", mine, size);
  out_.line("const u32 {} = {};", least, limit);
  out_.line("#pragma unroll 1");
  out_.open("for (u32 {} = __ballot_sync(all_lanes, {} != 0 && {} > {}); {} != 0; {} &= {} - 1) {{", heavy, product, mine,
            least, heavy, heavy, heavy);
  out_.line("const u32 from = __ffs(static_cast<int>({})) - 1;", heavy);
  const Names outer = names_;
  const std::vector<Read> reads = shape_.reads_of(work);
  for (std::uint32_t p = shared_ + 1; p <= work.depth; ++p) {
    const std::string vertex = fresh("v");
    out_.line("const u32 {} = __shfl_sync(all_lanes, {}, from);", vertex, names_.vertices[p]);
    names_.vertices[p] = vertex;
  }
  for (auto& [read, list] : names_.lists) {
    if (read.position <= shared_ || std::ranges::find(reads, read) == reads.end()) continue;
    const std::string here = fresh("l");
    out_.line("const List {} = from_lane({}, from);", here, list);
    list = here;
  }
  const std::string weight = fresh("weight");
  out_.line("const i64 {} = __shfl_sync(all_lanes, {}, from);", weight, product);
  std::string end = fresh("size");
  out_.line("const u32 {} = __shfl_sync(all_lanes, {}, from);", end, mine);
  if (!set.empty()) {
    const std::string own = fresh("set");
    out_.line("const List {} = in_pool(&work, from_lane({}, from));", own, set);
    names_.sets[work.depth] = {own, true, {}};
    end = own + ".count";
  }
  out_.line("if ({} && warp.lane == from) {} = 0;", put(work, weight, "0", end, part), product);
  names_ = outer;
  out_.close();
}

}  // namespace deltamatch::gpu
