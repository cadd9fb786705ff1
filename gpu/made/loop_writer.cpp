// How loops run: see kernel_text.hpp.
#include <algorithm>

#include "gpu/made/kernel_text.hpp"
#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu {

namespace {

// Entries of a loop that are waiting work.
constexpr std::uint32_t loop_part = 64;
// Inner loops are cut if they have more than this.
constexpr std::uint32_t long_loop = 512;
// The same for sets that are found already.
constexpr std::uint32_t set_part = 8;
constexpr std::uint32_t long_set = 64;
// Entries of what is left of late work.
constexpr std::uint32_t late_part = 8;
// Loops of fewer candidates search lists one by one.
constexpr std::uint32_t least_filtered = 16;

}  // namespace

// Finds a loop's whole set: `kept` ids at `place`. They lie in the warp's own memory if they fit there, else in the pool.
void KernelText::write_set(const Node& node, std::uint32_t depth) {
  out_.line("u32* place = work.scratch + (static_cast<u64>(warp.index) * {} + {}) * work.scratch_words;", made_.sets,
            depth - 1);
  // Entries that the batch adds make a second run, which is merged into other memory.
  out_.line("u32 room = a0.added > 0 ? work.scratch_words / 2 : work.scratch_words;");
  for (const char* const variable : {"kept", "run"}) out_.line("u32 {} = 0;", variable);
  out_.line("bool pooled = false;");
  out_.line("#pragma unroll 1");
  out_.open("while (true) {{");
  write_scan(node);
  out_.open("while (next(warp, scan, id, in)) {{");
  write_conditions(node, 2, false, node.uncut == 0);
  write_keeps(node, 2);
  out_.line("if (a0.added > 0) run += entries_below(warp, scan.at - 64, a0.count, in);");
  out_.line("append(warp, place, room, kept, id, in);");
  out_.close();
  out_.line("__syncwarp();");
  out_.line("if (kept <= room) break;");
  out_.line("room = kept;");
  out_.line("place = take_words(warp, a0.added > 0 ? 2 * room : room);");
  out_.line("kept = run = 0;");
  out_.line("pooled = true;");
  out_.line("if (place == nullptr) break;");
  out_.close();
  out_.open("if (run > 0 && run < kept) {{");
  out_.line("merge_runs(warp, place, run, kept, place + room);");
  out_.line("place += room;");
  out_.close();
}

// A loop below the partial match at hand: it runs here, or waits in a queue.
void KernelText::write_inner_loop(std::uint32_t index, std::uint32_t depth, const Into& into) {
  const Node& node = shape_.node(index);
  const WaitingWork* work = shape_.work_of(index);
  const bool kept = node.keeps_set(depth);
  const char* const size = kept ? "kept" : "size";
  const std::uint32_t longest = kept ? long_set : long_loop;
  const std::uint32_t part = kept ? set_part : loop_part;
  out_.open("{{");
  write_lists(node);
  if (!kept) out_.line("const u32 size = a0.size();");
  if (kept) {
    write_set(node, depth);
    if (work != nullptr) {
      out_.line("if (kept > {} && !pooled) place = to_pool(warp, place, kept);", depth == 1 ? 0 : longest);
      out_.line("if (place == nullptr) kept = 0;");
    }
    out_.line("const List set{} = set_of(place, kept);", depth);
  }
  if (work != nullptr && depth == 1) {
    out_.line("{};", put_all(*work, into.weight, size, part));
    out_.close();
    return;
  }
  if (work != nullptr) out_.open("if ({} <= {} || !({})) {{", size, longest, put(*work, into.weight, {"0", size}, part));
  if (kept) out_.line("const List a0 = set{};", depth);
  // A set in the warp's own memory cannot be given away.
  write_loop({&node, depth, kept ? 1 : PlanShape::lists(node), {nullptr, size}, into, kept ? nullptr : work, "work.phase"});
  if (work != nullptr) out_.close();
  out_.close();
}

// The count that a loop consists of, if one list of its candidate is searched in others, of which one has a bitmap.
const Node* KernelText::filtered_count(const Node& loop, std::uint32_t position) const {
  const Step* step = shape_.only_count(loop);
  if (step == nullptr || scans_ >= made_scans) return nullptr;
  const Node& node = shape_.node(step->node);
  const std::vector<Read> reads = shape_.own_reads(node);
  const bool one = std::ranges::count(reads, position, &Read::position) == 1;
  return one && std::ranges::any_of(reads, [&](const Read& read) { return is_mapped(read); }) ? &node : nullptr;
}

// Runs a loop's steps on the candidates in a range of its list a0.
void KernelText::write_loop(Loop loop) {
  const Node& node = *loop.node;
  const std::uint32_t position = loop.depth + 1;
  loop.k = loop.lists > 1 ? 2 : 1;
  const Step* only = shape_.only_count(node);
  if (only != nullptr && shape_.is_hoisted(shape_.node(only->node), loop.depth)) loop.hoisted = &only->node;
  if (loop.hoisted == nullptr) loop.filtered = filtered_count(node, position);
  // The places of filtered entries are not known. So these loops give nothing away while they run.
  loop.scans = loop.range.begin == nullptr && loop.lists > 1 && scans_ < made_scans && bitmap_of(node) != "nullptr";
  if (loop.scans) loop.work = nullptr;
  const std::uint32_t own_way = loop.filtered == nullptr ? 0 : open_filter(loop);
  write_reading(loop);
  std::vector<Read> reads = shape_.reads_below(node.first_step, node.end_step);
  std::erase_if(reads, [&](const Read& read) { return read.position != position; });
  for (const Read& read : reads) {
    out_.line("List own{}{{nullptr, 0, 0, none, candidate, {}}};", read.way, read.way);
    out_.line("if (in_window) own{} = look_up(warp, {}, candidate);", read.way, read.way);
  }
  if (loop.hoisted != nullptr) {
    write_hoisted_sum(loop);
  } else {
    if (loop.filtered != nullptr) write_filtered(loop, own_way);
    out_.line("#pragma unroll 1");
    out_.open("for (; mask != 0; mask &= mask - 1) {{");
    out_.line("const u32 from = __ffs(static_cast<int>(mask)) - 1;");
    out_.line("const u32 v{} = __shfl_sync(all_lanes, candidate, from);", position);
    for (const Read& read : reads) out_.line("const List {} = from_lane(own{}, from);", name(read), read.way);
    write_steps(node.first_step, node.end_step, loop.depth, loop.into);
    // What was filtered is counted for the whole window.
    if (loop.work != nullptr && loop.filtered != nullptr) {
      write_rest(loop, "filters ? at + 32 * half + 32 : at + 32 * half + from + 1", "(!filters || (mask & (mask - 1)) == 0)",
                 late_part);
    } else if (loop.work != nullptr) {
      write_rest(loop, "at + 32 * half + from + 1", "true", late_part);
    }
    out_.close();
  }
  out_.close();
  out_.close();
  if (loop.scans) --scans_;
}

// Reads windows of candidates: up to the block in which each lane has its `candidate` if it is `in_window`, with these as
// `mask`.
void KernelText::write_reading(const Loop& loop) {
  if (loop.scans) {
    write_scan(*loop.node);
    out_.open("while (next(warp, scan, id, in)) {{");
    ++scans_;
  } else {
    out_.line("#pragma unroll 1");
    out_.open("for (u32 at = {}; at < {}; at += {}) {{", loop.range.begin == nullptr ? "0" : loop.range.begin, loop.range.end,
              32 * loop.k);
    out_.line("u32 id[{}];", loop.k);
    out_.line("bool in[{}];", loop.k);
    out_.line("read<{}>(warp, a0, at, {}, id, in);", loop.k, loop.range.end);
  }
  write_conditions(*loop.node, loop.k, true, true);
  if (loop.lists > 1) write_keeps(*loop.node, loop.k);
  out_.line("#pragma unroll 1");
  out_.open("for (u32 half = 0; half < {}; ++half) {{", loop.k);
  out_.line("const u32 candidate = half == 0 ? id[0] : id[{}];", loop.k - 1);
  out_.line("const bool in_window = half == 0 ? in[0] : in[{}];", loop.k - 1);
  out_.line("u32 mask = __ballot_sync(all_lanes, in_window);");
  out_.line("if (mask == 0) continue;");
}

// Adds up a count that is the same for all candidates, but for the candidate itself.
void KernelText::write_hoisted_sum(const Loop& loop) {
  const Node& counted = shape_.node(*loop.hoisted);
  write_hoisted(*loop.hoisted);
  write_rest_of_hoisted(*loop.hoisted, loop.depth + 1);
  const auto apart = shape_.positions(counted);
  if (std::ranges::find(apart, loop.depth + 1) != apart.end()) {
    out_.line("if (in_window && {}) --found;", is_candidate(counted, "candidate"));
  }
  out_.line("if (in_window) add(warp, {}, multiply(warp, multiply(warp, {}, {}LL), found));", loop.into.sum, loop.into.weight,
            shape_.step(loop.node->first_step).coefficient);
}

// Prepares to count what lists of candidates have in common with f0 and so on, which stay the same. Returns the way of the
// former.
std::uint32_t KernelText::open_filter(const Loop& loop) {
  std::vector<Read> reads = shape_.own_reads(*loop.filtered);
  const auto own = std::ranges::find(reads, loop.depth + 1, &Read::position);
  const std::uint32_t own_way = own->way;
  reads.erase(own);
  // The list with a bitmap comes first.
  std::ranges::stable_partition(reads, [&](const Read& read) { return is_mapped(read); });
  std::uint32_t number = 0;
  for (const Read& read : reads) out_.line("const List& f{} = {};", number++, name(read));
  if (loop.filtered->base != 0) out_.line("const List& f{} = set{};", number++, loop.filtered->base + 0U);
  const auto slot = std::ranges::find(mapped_, reads.front()) - mapped_.begin();
  out_.line("const bool filters = mapped{} && {} - {} >= {};", slot, loop.range.end,
            loop.range.begin == nullptr ? "0" : loop.range.begin, least_filtered);
  out_.line("const u32* const bits = filter.bits[{}];", slot);
  return own_way;
}

// Counts for all candidates of a window at once. `mask` keeps those whose lists change or are very long.
void KernelText::write_filtered(const Loop& loop, std::uint32_t own_way) {
  out_.open("if (filters) {{");
  out_.line("const bool own = in_window && own{}.slice == none && own{}.count <= 16 * f0.size();", own_way, own_way);
  out_.line("mask &= ~__ballot_sync(all_lanes, own);");
  out_.line("u32 hits = 0;");
  out_.line("const auto test = [&](u32 id, u32 owner) {{ return {}; }};", conditions_on(*loop.filtered, loop.depth + 1));
  out_.open("const auto take = [&](u32 (&id)[2], bool (&in)[2]) {{");
  for (std::uint32_t i = 0; i + 1 < PlanShape::lists(*loop.filtered); ++i) out_.line("keep<2>(warp, f{}, id, in);", i);
  out_.line("hits += (in[0] ? 1 : 0) + (in[1] ? 1 : 0);");
  out_.close("};");
  out_.line("filter_lists(warp, bits, filter.queue[{}], own{}.ids, own ? own{}.count : 0, candidate, test, take);", scans_,
            own_way, own_way);
  out_.line("add(warp, {}, multiply(warp, multiply(warp, {}, {}LL), hits));", loop.into.sum, loop.into.weight,
            shape_.step(loop.node->first_step).coefficient);
  if (loop.work != nullptr) {
    write_rest(loop, "at + 32 * half + 32", "mask == 0", loop_part);
  }
  out_.close();
}

// Gives the rest of a loop away if the work is late, and leaves the loop then.
void KernelText::write_rest(const Loop& loop, const std::string& rest, const std::string& condition, std::uint32_t part) {
  out_.line("const u32 rest = {};", rest);
  out_.open("if ({} && rest < {} && is_late(warp) && {}) {{", condition, loop.range.end,
            put(*loop.work, loop.into.weight, {"rest", loop.range.end}, part, loop.phase));
  out_.line("half = {};", loop.k);
  out_.line("at = {};", loop.range.end);
  out_.line("mask = 0;");
  out_.line("continue;");
  out_.close();
}

// A node's conditions on `id` that need no list, where the vertex at `position` is called `owner`.
std::string KernelText::conditions_on(const Node& node, std::uint32_t position) const {
  std::string test = "true";
  const auto all = shape_.positions(node);
  for (std::uint32_t p = 0; p < all.size(); ++p) {
    const bool distinct = p < node.distinct;
    if (!distinct && program_.ordered == 0) continue;
    test += fmt::format(" && id {} {}", PlanShape::sign(node, p),
                        all[p] == position ? std::string("owner") : fmt::format("v{}", all[p] + 0U));
  }
  return test;
}

}  // namespace deltamatch::gpu
