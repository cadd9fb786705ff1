#include "gpu/made/kernel_writer.hpp"

#include <algorithm>
#include <utility>

#include "gpu/made/kernel_text.hpp"
#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu {

namespace {

// Words of waiting work before the vertices: what it is, the range, the anchor's label, and the weight.
constexpr std::uint32_t head_words = 6;
constexpr std::uint32_t list_words = 4;
// Entries of what is left of late work.
constexpr std::uint32_t late_part = 32;
constexpr std::uint32_t late_deep_part = 4;
// A bitmap pays for so many candidates, or if there are loops below them.
constexpr std::uint32_t least_mapped = 8;

void replace(std::string& text, const std::string& mark, const std::string& by) {
  text.replace(text.find(mark), mark.size(), by);
}

}  // namespace

KernelText::KernelText(const FlatPrograms& flat, const Program& program) : program_(program), shape_(flat, program) {
  for (const WaitingWork& work : shape_.works()) {
    for (const Read& read : shape_.reads_of(work)) {
      if (std::ranges::find(held_, read) == held_.end()) held_.push_back(read);
    }
  }
  std::ranges::sort(held_);
  // If there are too many, the innermost are looked up again.
  const std::uint32_t room = list_word() < most_task_words ? (most_task_words - list_word()) / list_words : 0;
  held_.resize(std::min<std::size_t>(held_.size(), room));
  made_.task_words = (list_word() + list_words * static_cast<std::uint32_t>(held_.size()) + 3) / 4 * 4;
  made_.depths = shape_.deepest() + 1;
  made_.tasks = shape_.root_works();
  made_.sets = std::max(shape_.kept_sets(), shape_.root_works() > 0 ? 1U : 0U);
  made_.ways = shape_.ways();
}

MadeText KernelText::run() {
  out_.line("#include \"gpu/made/warp_tasks.cuh\"");
  out_.line("using namespace deltamatch::gpu;");
  out_.line("using namespace deltamatch::gpu::made;");
  for (std::uint32_t depth = 0; depth < made_.depths; ++depth) write_kernel(depth);
  return std::move(made_);
}

std::uint32_t KernelText::set_word() const { return head_words + shape_.deepest() + 1; }

void KernelText::write_kernel(std::uint32_t depth) {
  most_meetings_ = 1;
  most_mapped_ = 0;
  out_.open(
      "extern \"C\" __global__ void __launch_bounds__(made_threads, made_blocks) made_{}(const __grid_constant__ "
      "MadeLaunch work) {{",
      depth);
  out_.line("__shared__ Shared<@bitmaps, @meetings> all_shared[{}];", made_threads / 32);
  out_.line("__shared__ Way ways[{}];", std::max<std::size_t>(made_.ways.size(), 1));
  out_.line("read_ways<{}>(work, ways);", made_.ways.size());
  out_.line("Warp warp(work, ways);");
  out_.line("auto& shared = all_shared[threadIdx.x / 32];");
  if (depth == 0) {
    write_anchors();
  } else {
    write_works(depth);
  }
  out_.line("finish(warp);");
  out_.close();
  std::string text = out_.take();
  replace(text, "@bitmaps", std::to_string(most_mapped_));
  replace(text, "@meetings", std::to_string(most_meetings_));
  made_.text += text;
  made_.bitmaps = std::max(made_.bitmaps, static_cast<std::uint32_t>(most_mapped_));
  made_.meetings = std::max(made_.meetings, most_meetings_);
}

void KernelText::write_anchors() {
  out_.line("u32 index = 0;");
  out_.open("while (take_anchor(warp, index)) {{");
  out_.line("const u32 v0 = warp.view.anchor.tail;");
  out_.line("const u32 v1 = warp.view.anchor.head;");
  if (program_.ordered != 0 && program_.anchor_above != 0) out_.line("if (v1 < v0) continue;");
  if (program_.ordered != 0 && program_.anchor_below != 0) out_.line("if (v1 > v0) continue;");
  names_ = {};
  names_.vertices.resize(max_positions + 1);
  names_.vertices[0] = "v0";
  names_.vertices[1] = "v1";
  shared_ = 1;
  std::vector<Read> reads = shape_.reads_below(program_.first_step, program_.end_step);
  std::erase_if(reads, [](const Read& read) { return read.position > 1; });
  for (const Read& read : shape_.closing_reads()) {
    if (std::ranges::find(reads, read) == reads.end()) reads.push_back(read);
  }
  for (const Read& read : reads) write_look_up(read);
  for (const Read& read : shape_.closing_reads()) {
    out_.line("if (!holds({}, v1) || (is_staged(warp, v1) && !sees(warp, {}.slice, {}, v0, v1))) continue;", own_name(read),
              own_name(read), read.way);
  }
  // Lane 0 has the anchor.
  out_.line("i64 sum = 0;");
  out_.line("const bool in = warp.lane == 0;");
  names_.in = "in";
  names_.weight = "1LL";
  names_.sum = "sum";
  hoisted_sets_.clear();
  scratch_ = 0;
  mapped_.clear();
  declare_hoisted(program_.first_step, program_.end_step, 0);
  write_steps(program_.first_step, program_.end_step, 0);
  out_.line("add_result(warp, index, sum);");
  out_.close();
}

void KernelText::write_look_up(const Read& read) {
  out_.line("const List {} = look_up(warp, {}, v{}, warp.lane == 0);", own_name(read), read.way, read.position);
  names_.lists[read] = own_name(read);
}

void KernelText::write_works(std::uint32_t depth) {
  out_.line("u32 word = 0;");
  out_.open("while (take_task<{}, {}>(warp, word)) {{", depth, made_.task_words);
  out_.line("const u32 what = __shfl_sync(all_lanes, word, 0);");
  out_.line("const u32 begin = __shfl_sync(all_lanes, word, 1);");
  out_.line("const u32 end = __shfl_sync(all_lanes, word, 2);");
  out_.line("const u32 index = what >> 16;");
  out_.line("const i64 weight = long_of(__shfl_sync(all_lanes, word, 4), __shfl_sync(all_lanes, word, 5));");
  for (std::uint32_t p = 0; p <= depth; ++p) out_.line("const u32 v{} = __shfl_sync(all_lanes, word, {});", p, head_words + p);
  out_.line("warp.view.anchor = {{v0, v1, __shfl_sync(all_lanes, word, 3)}};");
  out_.line("warp.view.pass = work.passes[index].pass;");
  out_.line("i64 sum = 0;");
  out_.open("switch (what & 0xffffU) {{");
  for (const WaitingWork& work : shape_.works()) {
    if (work.depth == depth) write_work(work);
  }
  out_.line("default: break;");
  out_.close();
  out_.line("add_result(warp, index, sum);");
  out_.close();
}

void KernelText::write_work(const WaitingWork& work) {
  const Node& node = shape_.node(work.node);
  out_.open("case {}: {{", shape_.number(work.node));
  names_ = {};
  names_.vertices.resize(max_positions + 1);
  for (std::uint32_t p = 0; p <= work.depth; ++p) names_.vertices[p] = fmt::format("v{}", p);
  names_.weight = "weight";
  names_.sum = "sum";
  shared_ = work.depth;
  for (const Read& read : shape_.reads_of(work)) {
    const auto at = std::ranges::find(held_, read);
    if (at == held_.end()) {
      write_look_up(read);
    } else {
      out_.line("const List {} = from_task(word, {});", own_name(read),
                list_word() + list_words * static_cast<std::uint32_t>(at - held_.begin()));
      names_.lists[read] = own_name(read);
    }
  }
  const auto take_set = [&](std::uint32_t depth, std::uint32_t word) {
    out_.line("const List set{} = set_of(work.pool + __shfl_sync(all_lanes, word, {}), __shfl_sync(all_lanes, word, {}));",
              depth, word, word + 1);
    names_.sets[depth] = {fmt::format("set{}", depth), true, {}};
  };
  const bool own_set = shape_.ranges_over_set(work);
  if ((node.sets_read & 2U) != 0 || (own_set && work.depth == 1)) take_set(1, set_word());
  if (own_set && work.depth > 1) take_set(work.depth, set_word() + 2);
  // Such a set has all that its lists have in common, unless order constraints cut it.
  if (own_set && node.base == 0 && !shape_.ordered(node)) names_.sets.at(work.depth).reads = shape_.own_reads(node);
  hoisted_sets_.clear();
  mapped_.clear();
  scratch_ = 0;
  if (!work.counts) declare_hoisted(node.first_step, node.end_step, work.depth);
  if (work.counts) {
    write_count_range(work);
  } else {
    if (shape_.has_loops(node)) write_task_joint(node);
    write_bitmaps(work);
    write_range(work);
  }
  out_.line("break;");
  out_.close();
}

// Names the lists of a node a0 and so on, the shortest first. Returns their number.
std::uint32_t KernelText::write_lists(const Node& node) {
  std::uint32_t lists = 0;
  for (const Source& source : sources_of(node)) out_.line("List a{} = {};", lists++, list_of(source));
  for (std::uint32_t i = 1; i < lists; ++i) out_.line("shorter_first(a0, a{});", i);
  return lists;
}

// Counts the candidates in the work's range.
void KernelText::write_count_range(const WaitingWork& work) {
  const Node& node = shape_.node(work.node);
  const std::uint32_t lists = write_lists(node);
  most_meetings_ = std::max(most_meetings_, 1U);
  out_.line("u32 hits = 0;");
  out_.line("const List range = set_of(a0.ids + begin, end - begin);");
  out_.open("meet(warp, only_if(warp.lane == 0, range), a1, nullptr, shared.meetings[0], [&](bool in, u32 id, u32 from) {{");
  write_conditions(node, true, true);
  for (std::uint32_t i = 2; i < lists; ++i) out_.line("in = in && holds(a{}, id);", i);
  write_list_tests(roles_of(node), true);
  out_.line("hits += in ? 1 : 0;");
  out_.close("});");
  out_.line("add(warp, sum, multiply(warp, weight, hits));");
}

// Runs the work's steps on the candidates in its range.
void KernelText::write_range(const WaitingWork& work) {
  const Node& node = shape_.node(work.node);
  const bool found = shape_.ranges_over_set(work);
  std::uint32_t lists = 0;
  if (found) {
    out_.line("const List& a0 = {};", names_.sets.at(work.depth).name);
  } else {
    lists = write_lists(node);
  }
  out_.line("#pragma unroll 1");
  out_.open("for (u32 at = begin; at < end; at += 32) {{");
  out_.line("bool in = at + warp.lane < end;");
  out_.line("const u32 id = in ? a0.ids[at + warp.lane] : none;");
  write_conditions(node, true, true);
  if (!found) {
    for (std::uint32_t i = 1; i < lists; ++i) out_.line("in = in && holds(a{}, id);", i);
    write_list_tests(roles_of(node), true);
  }
  const Names outer = names_;
  enter(node, work.depth + 1);
  write_steps(node.first_step, node.end_step, work.depth);
  names_ = outer;
  // What is left of late work is done in the second phase.
  out_.line("if (at + 32 < end && is_late(warp) && {}) break;",
            put(work, "weight", "at + 32", "end", shape_.has_loops(node) ? late_deep_part : late_part, "1"));
  out_.close();
}

// Finds once what lists of the task have in common that inner loops read.
void KernelText::write_task_joint(const Node& node) {
  bool prunes = false;
  const std::vector<Read> joint = joint_below(node, shared_, false, true, prunes);
  const bool known = std::ranges::any_of(names_.sets, [&](const auto& of) { return of.second.reads == joint; });
  if (joint.empty() || known) return;
  std::vector<Source> sources;
  for (const Read& read : joint) sources.push_back({false, read});
  out_.line("List joint;");
  out_.open("{{");
  out_.line("constexpr u32 group = 1;");
  write_finding(roles_of(std::move(sources)), nullptr, take_scratch(), "warp.lane == 0");
  out_.line("joint = set_of(place, kept);");
  out_.close();
  if (prunes) out_.line("if (joint.count == 0) break;");
  names_.sets[joint_sets] = {"joint", true, joint};
}

// Makes bitmaps of the lists in which entries of inner lists are searched.
void KernelText::write_bitmaps(const WaitingWork& work) {
  const Node& node = shape_.node(work.node);
  std::vector<Read> wanted;
  note_mapped(node.first_step, node.end_step, wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string fill = fmt::format("fill_bits(shared.bits[{}], {})", i, names_.lists.at(wanted[i]));
    if (shape_.has_loops(node)) {
      out_.line("const u32* const bits{} = {};", i, fill);
    } else {
      out_.line("const u32* const bits{} = end - begin >= {} ? {} : nullptr;", i, least_mapped, fill);
    }
  }
  mapped_ = std::move(wanted);
  most_mapped_ = std::max(most_mapped_, mapped_.size());
}

// Lists of the task in which entries of the lists of candidates are searched.
void KernelText::note_mapped(std::uint32_t first, std::uint32_t end, std::vector<Read>& wanted) const {
  for (std::uint32_t i = first; i < end; ++i) {
    const Step& step = shape_.step(i);
    if (step.kind != StepKind::count && step.kind != StepKind::loop) continue;
    const Node& node = shape_.node(step.node);
    const std::vector<Read> reads = shape_.own_reads(node);
    for (const Read& read : reads) {
      if (reads.back().position <= shared_ || read.position > shared_ || wanted.size() == made_bitmaps) continue;
      if (std::ranges::find(wanted, read) == wanted.end()) wanted.push_back(read);
    }
    if (step.kind == StepKind::loop) note_mapped(node.first_step, node.end_step, wanted);
  }
}

// The call that puts a range of the work's entries into a queue, at most `part` at once.
std::string KernelText::put(const WaitingWork& work, const std::string& weight, const std::string& begin,
                            const std::string& end, std::uint32_t part, const char* phase) const {
  return fmt::format("put_tasks<{}>(&work, {}, {}, {}, {}, {}, {})", made_.task_words, phase, work.depth, word_of(work, weight),
                     begin, end, part);
}

// What lanes write: each the word with its number.
std::string KernelText::word_of(const WaitingWork& work, const std::string& weight) const {
  std::string word = "word_of(warp.lane";
  const auto add = [&](const std::string& value) { word += ", " + value; };
  add(fmt::format("{}U | index << 16", shape_.number(work.node)));
  for (const char* const value : {"0U", "0U", "warp.view.anchor.label"}) add(value);
  add(fmt::format("static_cast<u32>({})", weight));
  add(fmt::format("static_cast<u32>(static_cast<u64>({}) >> 32)", weight));
  for (std::uint32_t p = 0; p <= shape_.deepest(); ++p) add(p <= work.depth ? names_.vertices[p] : "0U");
  const Node& node = shape_.node(work.node);
  const auto add_set = [&](bool some, std::uint32_t depth) {
    add(some ? fmt::format("static_cast<u32>({}.ids - work.pool)", names_.sets.at(depth).name) : "0U");
    add(some ? fmt::format("{}.count", names_.sets.at(depth).name) : "0U");
  };
  const bool own_set = shape_.ranges_over_set(work);
  add_set((node.sets_read & 2U) != 0 || (own_set && work.depth == 1), 1);
  add_set(own_set && work.depth > 1, work.depth);
  const std::vector<Read> reads = shape_.reads_of(work);
  for (const Read& read : held_) {
    const bool some = std::ranges::find(reads, read) != reads.end();
    const std::string list = some ? names_.lists.at(read) : "";
    add(some ? fmt::format("low_of({}.ids)", list) : "0U");
    add(some ? fmt::format("high_of({}.ids)", list) : "0U");
    for (const char* const field : {"count", "slice"}) add(some ? fmt::format("{}.{}", list, field) : "0U");
  }
  return word + ")";
}

MadeText write_kernels(const FlatPrograms& flat, const Program& program) { return KernelText(flat, program).run(); }

}  // namespace deltamatch::gpu
