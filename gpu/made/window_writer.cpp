// How steps and loops run on the partial matches of a window: see kernel_text.hpp.
#include <algorithm>

#include "gpu/made/kernel_text.hpp"
#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu {

namespace {

// Loops right below an anchor are cut into tasks of so many candidates. They are those of a list or of a set. It matters
// whether there are further loops below.
constexpr std::uint32_t list_part = 64;
constexpr std::uint32_t deep_list_part = 16;
constexpr std::uint32_t set_part = 1;
constexpr std::uint32_t plain_set_part = 32;
// Other loops are cut if they have more than this.
constexpr std::uint32_t long_loop = 512;
constexpr std::uint32_t long_deep_loop = 32;
constexpr std::uint32_t long_mapped_loop = 1U << 14;
constexpr std::uint32_t loop_part = 64;
constexpr std::uint32_t deep_loop_part = 16;
constexpr std::uint32_t long_set = 64;
constexpr std::uint32_t long_set_part = 8;

}  // namespace

// The steps on the partial matches of the lanes.
void KernelText::write_steps(std::uint32_t first, std::uint32_t end, std::uint32_t depth) {
  for (std::uint32_t i = first; i < end; ++i) {
    out_.open("{{");
    const std::uint32_t outside = out_.indent();
    const std::string product = fresh("p");
    const std::int64_t coefficient = shape_.step(i).coefficient;
    out_.line("i64 {} = {} ? {} : 0;", product, names_.in,
              coefficient == 1 ? names_.weight : fmt::format("multiply(warp, {}, {}LL)", names_.weight, coefficient));
    for (++i;; ++i) {
      const Step& step = shape_.step(i);
      if (step.kind == StepKind::add) {
        out_.line("add(warp, {}, {});", names_.sum, product);
        break;
      }
      if (step.kind == StepKind::loop && step.tail != 0) {
        write_joint(step.node, depth + 1, product);
        break;
      }
      if (step.kind == StepKind::count) {
        write_count(step.node, depth, shape_.adds_up(i), product);
      } else {
        write_inner_sum(step.node, depth + 1, product);
      }
      out_.open("if (__any_sync(all_lanes, {} != 0)) {{", product);
    }
    while (out_.indent() > outside) out_.close();
    out_.close();
  }
}

// Multiplies each lane's product by what a loop adds up. One lane after the other, as results are not told apart.
void KernelText::write_inner_sum(std::uint32_t index, std::uint32_t depth, const std::string& product) {
  const Names outer = names_;
  const std::string inner = fresh("inner");
  const std::string one = fresh("one");
  const std::string mask = fresh("mask");
  names_.sum = fresh("sum");
  out_.line("i64 {} = 0;", inner);
  out_.line("#pragma unroll 1");
  out_.open("for (u32 {} = __ballot_sync(all_lanes, {} != 0); {} != 0; {} &= {} - 1) {{", mask, product, mask, mask, mask);
  out_.line("const bool own = warp.lane + 1 == static_cast<u32>(__ffs(static_cast<int>({})));", mask);
  out_.line("i64 {} = own ? 1 : 0;", one);
  out_.line("i64 {} = 0;", names_.sum);
  write_loop(index, depth, one);
  out_.line("{} = sum_of_lanes(warp, {});", names_.sum, names_.sum);
  out_.line("if (own) {} = {};", inner, names_.sum);
  out_.close();
  out_.line("{} = multiply(warp, {}, {});", product, product, inner);
  names_ = outer;
}

// A loop below each lane's partial match whose product is not 0.
void KernelText::write_loop(std::uint32_t index, std::uint32_t depth, const std::string& product) {
  const Node& node = shape_.node(index);
  const WaitingWork* work = shape_.work_of(index);
  out_.open("{{");
  if (work != nullptr && depth == 1) {
    write_root_loop(index, *work, product);
  } else if (node.keeps_set(depth)) {
    write_kept_loop(index, depth, product);
  } else if (hoists_set(node, depth)) {
    write_hoisted_loop(index, depth, product);
  } else {
    const Roles roles = roles_of(node);
    if (work != nullptr) {
      const bool deep = shape_.has_loops(node);
      const bool mapped = roles.meets && bits_of(roles.other) != "nullptr";
      give_heavy(*work, shortest(node),
                 std::to_string(deep     ? long_deep_loop
                                : mapped ? long_mapped_loop
                                         : long_loop),
                 deep ? deep_loop_part : loop_part, product, {});
    }
    open_finding(roles, product + " != 0");
    write_window(index, depth, product, false, {});
    close_finding();
  }
  out_.close();
}

// A loop right below the anchor, which lane 0 holds: it waits in a queue.
void KernelText::write_root_loop(std::uint32_t index, const WaitingWork& work, const std::string& product) {
  const Node& node = shape_.node(index);
  const std::string weight = fresh("weight");
  out_.line("const i64 {} = __shfl_sync(all_lanes, {}, 0);", weight, product);
  out_.open("if ({} != 0) {{", weight);
  const auto put_all = [&](const std::string& size, std::uint32_t part) {
    out_.line("put_all<{}>(warp, {}, {}, {});", made_.task_words, word_of(work, weight), size, part);
  };
  if (!shape_.ranges_over_set(work)) {
    // Most anchors may lack what an inner loop needs of them.
    const Node* needed = needed_below(node);
    if (needed != nullptr) {
      out_.line("List needed;");
      write_one_set(*needed, 0, "needed");
      out_.line("if (needed.count > 0)");
    }
    put_all(list_of(sources_of(node).front()) + ".count", shape_.has_loops(node) ? deep_list_part : list_part);
  } else {
    const Names outer = names_;
    out_.line("List set1;");
    write_one_set(node, 0, "set1");
    out_.line("set1 = in_pool(&work, set1);");
    names_.sets[1] = {"set1", true, {}};
    put_all("set1.count", shape_.has_loops(node) ? set_part : plain_set_part);
    names_ = outer;
  }
  out_.close();
}

// A loop whose candidates are the same for all partial matches.
void KernelText::write_hoisted_loop(std::uint32_t index, std::uint32_t depth, const std::string& product) {
  const std::string set = fmt::format("h{}", shape_.number(index));
  out_.open("if (!known{}) {{", shape_.number(index));
  write_one_set(shape_.node(index), hoisted_sets_.at(index), set);
  out_.line("known{} = true;", shape_.number(index));
  out_.close();
  open_reading(product, set);
  write_window(index, depth, product, true, {});
  close_finding();
}

// Loops whose sets are read below: those of all lanes lie end to end. If they do not fit the warp's memory, lanes take turns.
void KernelText::write_kept_loop(std::uint32_t index, std::uint32_t depth, const std::string& product) {
  const Node& node = shape_.node(index);
  const std::string left = fresh("left");
  const std::string part = fresh("part");
  out_.line("u32 {} = __ballot_sync(all_lanes, {} != 0);", left, product);
  out_.line("bool alone = false;");
  out_.line("#pragma unroll 1");
  out_.open("while ({} != 0) {{", left);
  write_part(roles_of(node), &node, depth - 1, left, part);
  const std::string taken = fresh("p");
  out_.line("i64 {} = wanted ? {} : 0;", taken, product);
  const WaitingWork* work = shape_.work_of(index);
  if (work != nullptr) give_heavy(*work, part + ".count", std::to_string(long_set), long_set_part, taken, part);
  open_reading(taken, part);
  write_window(index, depth, taken, true, part);
  close_finding();
  out_.close();
}

// Finds sets of the lanes in `left`, of as many as fit the warp's memory: `part`, by lane. Those are `wanted`, and leave
// `left`.
void KernelText::write_part(const Roles& roles, const Node* node, std::uint32_t scratch, const std::string& left,
                            const std::string& part) {
  out_.line("const u32 group = alone ? {} & (0U - {}) : {};", left, left, left);
  out_.line("const bool wanted = (group >> warp.lane & 1U) != 0;");
  write_finding(roles, node, scratch, "wanted");
  out_.open("if (kept > room) {{");
  out_.line("alone = true;");
  out_.line("continue;");
  out_.close();
  out_.line("const List {} = part_of_set(warp, place, wanted && kept > 0 ? shared.meetings[{}].counts[warp.lane] : 0);", part,
            meetings_);
  out_.line("{} &= ~group;", left);
}

// Finds the candidates of lane 0, whose lists all lanes share.
void KernelText::write_one_set(const Node& node, std::uint32_t scratch, const std::string& to) {
  out_.line("constexpr u32 group = 1;");
  write_finding(roles_of(node), &node, scratch, "warp.lane == 0");
  out_.line("{} = set_of(place, kept);", to);
}

// Finds the candidates of the lanes of a `group`: `kept` ids at `place`, and their numbers by lane. They have more than `room`
// if they are those of several lanes and do not fit the warp's memory. If those of one lane do not fit, they lie in the pool.
void KernelText::write_finding(const Roles& roles, const Node* node, std::uint32_t scratch, const std::string& wanted) {
  out_.line("u32* place = work.scratch + (static_cast<u64>(warp.index) * work.sets + {}) * work.scratch_words;", scratch);
  out_.line("u32 room = work.scratch_words;");
  out_.line("u32 kept = 0;");
  out_.line("#pragma unroll 1");
  out_.open("while (true) {{");
  out_.line("kept = 0;");
  const std::string counts = fmt::format("shared.meetings[{}].counts", meetings_);
  out_.line("{}[warp.lane] = 0;", counts);
  out_.line("__syncwarp();");
  open_finding(roles, wanted);
  const Names outer = names_;
  fetch(roles, node);
  if (node != nullptr) write_conditions(*node, false, node->uncut == 0);
  write_list_tests(roles);
  names_ = outer;
  out_.line("append(warp, place, room, kept, id, in);");
  out_.line("if (in) atomicAdd(&{}[from], 1U);", counts);
  close_finding();
  out_.line("__syncwarp();");
  out_.line("if (kept <= room || (group & (group - 1)) != 0) break;");
  out_.line("place = take_words(work, kept);");
  out_.line("room = kept;");
  out_.open("if (place == nullptr) {{");
  out_.line("kept = 0;");
  out_.line("break;");
  out_.close();
  out_.close();
}

// The block that is run for the candidates of all lanes. `found`: they were tested for all that concerns lists. `set`: those of
// each lane, if loops below read them.
void KernelText::write_window(std::uint32_t index, std::uint32_t depth, const std::string& product, bool found,
                              const std::string& set) {
  const Node& node = shape_.node(index);
  const std::uint32_t position = depth + 1;
  const Names outer = names_;
  const Roles roles = roles_of(node);
  if (!found) fetch(roles, nullptr);
  fetch_below(node, position);
  write_conditions(node, true, true);
  if (!found) write_list_tests(roles);
  out_.line("if (!__any_sync(all_lanes, in)) return;");
  if (!set.empty()) {
    const std::string own = fresh("set");
    out_.line("const List {} = from_lane({}, from);", own, set);
    names_.sets[depth] = {own, false, {}};
  }
  names_.weight = fresh("weight");
  out_.line("const i64 {} = __shfl_sync(all_lanes, {}, from);", names_.weight, product);
  enter(node, position);
  write_steps(node.first_step, node.end_step, depth);
  names_ = outer;
}

// Makes `id` the vertex at a position, and looks up its lists.
void KernelText::enter(const Node& node, std::uint32_t position) {
  names_.vertices[position] = fresh("v");
  names_.in = fresh("in");
  out_.line("const u32 {} = id;", names_.vertices[position]);
  out_.line("const bool {} = in;", names_.in);
  for (const Read& read : shape_.reads_below(node.first_step, node.end_step)) {
    if (read.position != position) continue;
    const std::string list = fresh(own_name(read));
    out_.line("List {};", list);
    out_.line("if (in) {} = look_up(warp, {}, id, true);", list, read.way);
    names_.lists[read] = list;
  }
}

// Names what lane `from` of the outer window holds, as far as tests need it. `tested`: whose conditions, if any.
void KernelText::fetch(const Roles& roles, const Node* tested) {
  for (std::uint32_t p = shared_ + 1; p < names_.vertices.size(); ++p) {
    bool needed = std::ranges::find(roles.reads, p, &Read::position) != roles.reads.end();
    if (tested != nullptr) {
      const auto positions = shape_.positions(*tested);
      needed = needed || std::ranges::find(positions, p) != positions.end();
    }
    if (needed) fetch_vertex(p);
  }
  for (const Read& read : roles.reads) {
    if (read.position <= shared_) continue;
    if (std::ranges::any_of(roles.rest, [&](const Source& of) { return !of.set && of.read == read; })) {
      fetch_list(read);
    } else {
      const std::string slice = fresh("slice");
      out_.line("const u32 {} = __shfl_sync(all_lanes, {}.slice, from);", slice, names_.lists.at(read));
      names_.slices[read] = slice;
    }
  }
  for (const Source& source : roles.rest) {
    if (source.set) fetch_set(names_.sets.at(source.read.position));
  }
}

// The same for all steps below a loop, whose candidate has a position.
void KernelText::fetch_below(const Node& node, std::uint32_t position) {
  for (std::uint32_t p = shared_ + 1; p < position; ++p) fetch_vertex(p);
  for (const Read& read : shape_.reads_below(node.first_step, node.end_step)) {
    if (read.position > shared_ && read.position < position) fetch_list(read);
  }
  for (auto& [depth, set] : names_.sets) {
    if (depth >= joint_sets ? reads_joint(node, set.reads) : (node.sets_read >> depth & 1U) != 0) fetch_set(set);
  }
}

void KernelText::fetch_vertex(std::uint32_t position) {
  std::string& vertex = names_.vertices[position];
  if (vertex.empty() || here_.contains(vertex)) return;
  const std::string here = fresh("v");
  out_.line("const u32 {} = __shfl_sync(all_lanes, {}, from);", here, vertex);
  here_.insert(vertex = here);
}
void KernelText::fetch_list(const Read& read) {
  std::string& list = names_.lists.at(read);
  if (here_.contains(list)) return;
  const std::string here = fresh("l");
  out_.line("const List {} = from_lane({}, from);", here, list);
  here_.insert(list = here);
  names_.slices.erase(read);
}
void KernelText::fetch_set(Set& set) {
  if (set.same || here_.contains(set.name)) return;
  const std::string here = fresh("set");
  out_.line("const List {} = from_lane({}, from);", here, set.name);
  here_.insert(set.name = here);
}

}  // namespace deltamatch::gpu
