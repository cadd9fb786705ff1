// How lists are read, searched and counted: see kernel_text.hpp.
#include <algorithm>
#include <functional>

#include "gpu/made/kernel_text.hpp"
#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu {

namespace {

// Lists that are only counted are cut if they are longer than this, into parts of so many entries.
constexpr std::uint32_t long_count = 2048;
constexpr std::uint32_t count_part = 1024;
// A longer list would set most bits.
constexpr std::uint32_t most_mapped = 8192;

}  // namespace

// Copies a node's lists to a0 and so on, of which the first becomes the one to read.
void KernelText::write_lists(const Node& node) {
  // Lists of the vertex matched last come first: they were not read lately.
  std::vector<Read> reads = shape_.own_reads(node);
  std::ranges::reverse(reads);
  const bool cold = !reads.empty() && reads.front().position > 1;
  std::uint32_t number = 0;
  for (const Read& read : reads) out_.line("List a{} = {};", number++, name(read));
  if (node.base != 0) out_.line("List a{} = set{};", number++, node.base + 0U);
  for (std::uint32_t i = 1; i < number; ++i) out_.line("{}(a0, a{});", cold ? "much_shorter_first" : "shorter_first", i);
}

// Drops entries by the conditions that need no list. `apart`: vertices to differ from. `cut`: order constraints. Positions
// beyond `deepest` do not count.
void KernelText::write_conditions(const Node& node, std::uint32_t k, bool apart, bool cut, std::uint32_t deepest) {
  const auto all = shape_.positions(node);
  for (std::uint32_t i = 0; i < k; ++i) {
    std::string test;
    for (std::uint32_t p = 0; p < all.size(); ++p) {
      const bool distinct = p < node.distinct;
      if ((distinct ? !apart : !cut || program_.ordered == 0) || all[p] > deepest) continue;
      test += fmt::format(" && id[{}] {} v{}", i, PlanShape::sign(node, p), all[p] + 0U);
    }
    if (!test.empty()) out_.line("in[{}] = in[{}]{};", i, i, test);
  }
}

// Drops entries that the other lists lack.
void KernelText::write_keeps(const Node& node, std::uint32_t k) {
  for (std::uint32_t i = 1; i < PlanShape::lists(node); ++i) out_.line("keep<{}>(warp, a{}, id, in);", k, i);
}

// Counts a node's candidates in its list a0, or in a range of it, by lane: `hits`.
void KernelText::write_count(const Node& node, Range range, std::uint32_t deepest) {
  out_.line("u32 hits = 0;");
  if (range.begin == nullptr) {
    write_scan(node);
    out_.open("while (next(warp, scan, id, in)) {{");
  } else {
    out_.line("#pragma unroll 1");
    out_.open("for (u32 at = {}; at < {}; at += 64) {{", range.begin, range.end);
    out_.line("u32 id[2];");
    out_.line("bool in[2];");
    out_.line("read<2>(warp, a0, at, {}, id, in);", range.end);
  }
  write_conditions(node, 2, true, true, deepest);
  write_keeps(node, 2);
  out_.line("hits += (in[0] ? 1 : 0) + (in[1] ? 1 : 0);");
  out_.close();
}

// By the length of a single list: `found`.
void KernelText::write_length(const Node& node) {
  std::string list = fmt::format("set{}", node.base + 0U);
  for (const Read& read : shape_.own_reads(node)) list = name(read);
  out_.line("i64 found = length(warp, {});", list);
  for (const std::uint8_t position : shape_.positions(node))
    out_.line("found -= has(warp, {}, v{}) ? 1 : 0;", list, position + 0U);
}

// How many candidates a node has: `found`.
void KernelText::write_number(std::uint32_t index, std::uint32_t depth) {
  const Node& node = shape_.node(index);
  if (shape_.is_length(node)) {
    write_length(node);
  } else if (shape_.is_hoisted(node, depth)) {
    write_hoisted(index);
    write_rest_of_hoisted(index);
  } else {
    write_lists(node);
    write_count(node, {});
    out_.line("const i64 found = __reduce_add_sync(all_lanes, hits);");
  }
}

// A count that is the last factor of its product.
void KernelText::write_last_count(std::uint32_t index, std::uint32_t depth, const Into& into) {
  const Node& node = shape_.node(index);
  out_.open("{{");
  if (shape_.is_length(node) || shape_.is_hoisted(node, depth)) {
    write_number(index, depth);
    out_.line("if (warp.lane == 0) add(warp, {}, multiply(warp, {}, found));", into.sum, into.weight);
    out_.close();
    return;
  }
  write_lists(node);
  const WaitingWork* work = shape_.work_of(index);
  if (work != nullptr) {
    out_.line("const u32 size = a0.size();");
    out_.open("if (size <= {} || !({})) {{", long_count, put(*work, into.weight, {"0", "size"}, count_part));
  }
  write_count(node, {});
  out_.line("add(warp, {}, multiply(warp, {}, hits));", into.sum, into.weight);
  if (work != nullptr) out_.close();
  out_.close();
}

// --- bitmaps of lists that stay the same ---

void KernelText::write_bitmaps(const WaitingWork& work) {
  mapped_.clear();
  scans_ = 0;
  if (work.counts) return;
  const Node& node = shape_.node(work.node);
  note_mapped(node.first_step, node.end_step, work.depth);
  for (std::size_t i = 0; i < mapped_.size(); ++i) {
    out_.line("const bool mapped{} = {}.size() <= {};", i, name(mapped_[i]), most_mapped);
    out_.line("if (mapped{}) fill_bits(warp, filter.bits[{}], {});", i, i, name(mapped_[i]));
  }
}

// Lists of positions up to `depth` in which entries of inner lists are searched.
void KernelText::note_mapped(std::uint32_t first, std::uint32_t end, std::uint32_t depth) {
  for (std::uint32_t i = first; i < end; ++i) {
    const Step& step = shape_.step(i);
    if (step.kind != StepKind::count && step.kind != StepKind::loop) continue;
    const Node& node = shape_.node(step.node);
    const std::vector<Read> reads = shape_.own_reads(node);
    for (const Read& read : reads) {
      if (reads.back().position <= depth || read.position > depth || mapped_.size() == made_bitmaps) continue;
      if (!is_mapped(read)) mapped_.push_back(read);
    }
    if (step.kind == StepKind::loop) note_mapped(node.first_step, node.end_step, depth);
  }
}

bool KernelText::is_mapped(const Read& read) const { return std::ranges::find(mapped_, read) != mapped_.end(); }

// The bitmap of one of a node's lists, as an expression; "nullptr" if none has one.
std::string KernelText::bitmap_of(const Node& node) const {
  for (const Read& read : shape_.own_reads(node)) {
    if (!is_mapped(read)) continue;
    const auto slot = std::ranges::find(mapped_, read) - mapped_.begin();
    // If that list itself is read, nothing is filtered.
    return fmt::format("mapped{} && a0.owner != v{} ? filter.bits[{}] : nullptr", slot, read.position, slot);
  }
  return "nullptr";
}

// Begins to read all of a node's list a0: `scan`.
void KernelText::write_scan(const Node& node) {
  const std::string bits = scans_ < made_scans && PlanShape::lists(node) > 1 ? bitmap_of(node) : "nullptr";
  out_.line("Scan scan = scan_of(a0, {}, filter.queue[{}]);", bits, std::min(scans_, made_scans - 1));
  out_.line("u32 id[2];");
  out_.line("bool in[2];");
  out_.line("#pragma unroll 1");
}

// --- counts that do not depend on the loops around them ---

// Declares what counts below the steps at `depth` keep. They are decided at the position `decided`, or for waiting work at the
// latest there.
void KernelText::declare_hoisted(std::uint32_t first, std::uint32_t end, std::uint32_t depth, std::uint32_t decided,
                                 bool from_work) {
  for (std::uint32_t i = first; i < end; ++i) {
    const Step& step = shape_.step(i);
    if (step.kind == StepKind::loop) {
      const Node& node = shape_.node(step.node);
      declare_hoisted(node.first_step, node.end_step, depth + 1, decided, from_work);
    }
    if (step.kind != StepKind::count || !shape_.is_hoisted(shape_.node(step.node), depth)) continue;
    const std::uint32_t at = shape_.decided_at(shape_.node(step.node));
    if (from_work ? at <= decided : at == decided) out_.line("i64 h{} = -1;", shape_.number(step.node));
  }
}

// Finds a hoisted count, unless it is known.
void KernelText::write_hoisted(std::uint32_t index) {
  const Node& node = shape_.node(index);
  out_.open("if (h{} < 0) {{", shape_.number(index));
  write_lists(node);
  write_count(node, {}, shape_.decided_at(node));
  out_.line("h{} = __reduce_add_sync(all_lanes, hits);", shape_.number(index));
  out_.close();
}

// Whether a vertex is in all lists of a count, as an expression.
std::string KernelText::is_candidate(const Node& node, const std::string& vertex) const {
  std::string test = node.base != 0 ? fmt::format("has(warp, set{}, {})", node.base + 0U, vertex) : "true";
  for (const Read& read : shape_.own_reads(node)) test += fmt::format(" && has(warp, {}, {})", name(read), vertex);
  return test;
}

// A hoisted count less the vertices matched since then that must differ, but for the one at `except`: `found`.
void KernelText::write_rest_of_hoisted(std::uint32_t index, std::uint32_t except) {
  const Node& node = shape_.node(index);
  out_.line("i64 found = h{};", shape_.number(index));
  for (const std::uint8_t position : shape_.positions(node)) {
    if (position <= shape_.decided_at(node) || position == except) continue;
    out_.line("found -= {} ? 1 : 0;", is_candidate(node, fmt::format("v{}", position + 0U)));
  }
}

}  // namespace deltamatch::gpu
