#include "gpu/made/kernel_writer.hpp"

#include <algorithm>
#include <utility>

#include "gpu/made/kernel_text.hpp"
#include "gpu/made/made_launch.hpp"

namespace deltamatch::gpu {

namespace {

// Words of waiting work before the vertices: what it is, the range, the anchor's label, and the weight.
constexpr std::uint32_t head_words = 6;
constexpr std::uint32_t list_words = 5;

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
  made_.sets = shape_.kept_sets();
  made_.ways = shape_.ways();
}

MadeText KernelText::run() {
  out_.line("#include \"gpu/made/warp_filter.cuh\"");
  out_.line("#include \"gpu/made/warp_tasks.cuh\"");
  out_.line("using namespace deltamatch::gpu;");
  out_.line("using namespace deltamatch::gpu::made;");
  write_anchors();
  for (std::uint32_t depth = 1; depth < made_.depths; ++depth) write_works(depth);
  made_.text = out_.take();
  return std::move(made_);
}

std::uint32_t KernelText::set_word() const { return head_words + shape_.deepest() + 1; }

void KernelText::write_head(std::uint32_t depth) {
  // The second number limits the registers of a thread. The kernel of anchors has little to do.
  out_.open("extern \"C\" __global__ void __launch_bounds__({}, {}) made_{}(const __grid_constant__ MadeLaunch work) {{",
            made_threads, depth == 0 ? 8 : 6, depth);
  out_.line("__shared__ Filter filters[{}];", made_threads / 32);
  out_.line("Warp warp(work);");
  out_.line("Filter& filter = filters[threadIdx.x / 32];");
}

void KernelText::write_anchors() {
  write_head(0);
  out_.line("u32 index = 0;");
  out_.open("while (take_anchor(warp, index)) {{");
  out_.line("const u32 v0 = warp.anchor.tail;");
  out_.line("const u32 v1 = warp.anchor.head;");
  if (program_.ordered != 0 && program_.anchor_above != 0) out_.line("if (v1 < v0) continue;");
  if (program_.ordered != 0 && program_.anchor_below != 0) out_.line("if (v1 > v0) continue;");
  std::vector<Read> reads = shape_.reads_below(program_.first_step, program_.end_step);
  std::erase_if(reads, [](const Read& read) { return read.position > 1; });
  for (const Read& read : shape_.closing_reads()) {
    if (std::ranges::find(reads, read) == reads.end()) reads.push_back(read);
  }
  for (const Read& read : reads) write_look_up(read);
  for (const Read& read : shape_.closing_reads()) out_.line("if (!has(warp, {}, v1)) continue;", name(read));
  out_.line("i64 sum = 0;");
  write_steps(program_.first_step, program_.end_step, 0, {"1LL", "sum"});
  out_.line("add_result(warp, index, sum);");
  out_.close();
  out_.line("finish(warp);");
  out_.close();
}

void KernelText::write_works(std::uint32_t depth) {
  write_head(depth);
  out_.line("u32 word = 0;");
  out_.open("while (take_task<{}, {}>(warp, word)) {{", depth, made_.task_words);
  out_.line("const u32 what = __shfl_sync(all_lanes, word, 0);");
  out_.line("const u32 begin = __shfl_sync(all_lanes, word, 1);");
  out_.line("const u32 end = __shfl_sync(all_lanes, word, 2);");
  out_.line("const u32 index = what >> 16;");
  out_.line("const i64 weight = long_of(__shfl_sync(all_lanes, word, 4), __shfl_sync(all_lanes, word, 5));");
  for (std::uint32_t p = 0; p <= depth; ++p) out_.line("const u32 v{} = __shfl_sync(all_lanes, word, {});", p, head_words + p);
  out_.line("warp.anchor = {{v0, v1, __shfl_sync(all_lanes, word, 3)}};");
  out_.line("warp.pass = work.passes[index].pass;");
  out_.line("const List set1 = set_of(work.pool + __shfl_sync(all_lanes, word, {}), __shfl_sync(all_lanes, word, {}));",
            set_word(), set_word() + 1);
  out_.line("i64 sum = 0;");
  out_.open("switch (what & 0xffffU) {{");
  for (const WaitingWork& work : shape_.works()) {
    if (work.depth == depth) write_work(work);
  }
  out_.line("default: break;");
  out_.close();
  out_.line("add_result(warp, index, sum);");
  out_.close();
  out_.line("finish(warp);");
  out_.close();
}

void KernelText::write_work(const WaitingWork& work) {
  const Node& node = shape_.node(work.node);
  out_.open("case {}: {{", shape_.number(work.node));
  for (const Read& read : shape_.reads_of(work)) {
    const auto at = std::ranges::find(held_, read);
    if (at == held_.end()) {
      write_look_up(read);
    } else {
      out_.line("const List {} = from_task(word, {}, v{}, {});", name(read),
                list_word() + list_words * static_cast<std::uint32_t>(at - held_.begin()), read.position, read.way);
    }
  }
  write_bitmaps(work);
  if (work.counts) {
    write_lists(node);
    write_count(node, {"begin", "end"});
    out_.line("add(warp, sum, multiply(warp, weight, hits));");
  } else {
    declare_hoisted(node.first_step, node.end_step, work.depth, work.depth, true);
    const bool kept = node.keeps_set(work.depth);
    if (kept && work.depth > 1) {
      out_.line("const List set{} = set_of(work.pool + __shfl_sync(all_lanes, word, {}), __shfl_sync(all_lanes, word, {}));",
                work.depth, set_word() + 2, set_word() + 3);
    }
    if (kept) out_.line("const List a0 = set{};", work.depth);
    if (!kept) write_lists(node);
    // What is left of late work is done in the second phase.
    write_loop({&node, work.depth, kept ? 1 : PlanShape::lists(node), {"begin", "end"}, {"weight", "sum"}, &work, "1"});
  }
  out_.line("break;");
  out_.close();
}

// The steps on the partial match v0 to v`depth` + 1.
void KernelText::write_steps(std::uint32_t first, std::uint32_t end, std::uint32_t depth, const Into& into) {
  declare_hoisted(first, end, depth, depth + 1, false);
  for (std::uint32_t i = first; i < end; ++i) {
    out_.open("{{");
    const std::uint32_t outside = out_.indent();
    const std::string product = fmt::format("p{}", names_++);
    const std::int64_t coefficient = shape_.step(i).coefficient;
    if (coefficient == 1) out_.line("i64 {} = {};", product, into.weight);
    if (coefficient != 1) out_.line("i64 {} = multiply(warp, {}, {}LL);", product, into.weight, coefficient);
    for (++i;; ++i) {
      const Step& step = shape_.step(i);
      if (step.kind == StepKind::add) {
        out_.line("if (warp.lane == 0) add(warp, {}, {});", into.sum, product);
        break;
      }
      if (step.kind == StepKind::loop && step.tail != 0) {
        write_inner_loop(step.node, depth + 1, {product, into.sum});
        break;
      }
      if (step.kind == StepKind::count && shape_.adds_up(i)) {
        write_last_count(step.node, depth, {product, into.sum});
        ++i;
        break;
      }
      out_.open("{{");
      if (step.kind == StepKind::count) {
        write_number(step.node, depth);
        const std::uint32_t choose = shape_.node(step.node).choose;
        out_.line("{} = multiply(warp, {}, {});", product, product,
                  choose == 1 ? "found" : fmt::format("binomial(warp, found, {})", choose));
      } else {
        const std::string inner = fmt::format("s{}", names_++);
        out_.line("i64 {} = 0;", inner);
        write_inner_loop(step.node, depth + 1, {"1LL", inner});
        out_.line("{} = multiply(warp, {}, sum_of_lanes(warp, {}));", product, product, inner);
      }
      out_.close();
      out_.open("if ({} != 0) {{", product);
    }
    while (out_.indent() > outside) out_.close();
    out_.close();
  }
}

// The call that puts a range of the work's entries into a queue, at most `part` at once.
std::string KernelText::put(const WaitingWork& work, const std::string& weight, Range range, std::uint32_t part,
                            const char* phase) const {
  return fmt::format("put_tasks<{}>(warp, {}, {}, {}, {}, {}, {})", made_.task_words, phase, work.depth, word_of(work, weight),
                     range.begin, range.end, part);
}
std::string KernelText::put_all(const WaitingWork& work, const std::string& weight, const char* size,
                                std::uint32_t part) const {
  return fmt::format("put_all<{}>(warp, {}, {}, {})", made_.task_words, word_of(work, weight), size, part);
}

// What lanes write: each the word with its number.
std::string KernelText::word_of(const WaitingWork& work, const std::string& weight) const {
  std::string word = "word_of(warp.lane";
  const auto add = [&](const std::string& value) { word += ", " + value; };
  add(fmt::format("{}U | index << 16", shape_.number(work.node)));
  for (const char* const value : {"0U", "0U", "warp.anchor.label"}) add(value);
  add(fmt::format("static_cast<u32>({})", weight));
  add(fmt::format("static_cast<u32>(static_cast<u64>({}) >> 32)", weight));
  for (std::uint32_t p = 0; p <= shape_.deepest(); ++p) add(p <= work.depth ? fmt::format("v{}", p) : "0U");
  const Node& node = shape_.node(work.node);
  const auto add_set = [&](bool some, std::uint32_t depth) {
    add(some ? fmt::format("static_cast<u32>(set{}.ids - work.pool)", depth) : "0U");
    add(some ? fmt::format("set{}.count", depth) : "0U");
  };
  add_set((node.sets_read & 2U) != 0, 1);
  add_set(work.depth > 1 && node.keeps_set(work.depth), work.depth);
  const std::vector<Read> reads = shape_.reads_of(work);
  for (const Read& read : held_) {
    const bool some = std::ranges::find(reads, read) != reads.end();
    const std::string list = name(read);
    add(some ? fmt::format("low_of({}.ids)", list) : "0U");
    add(some ? fmt::format("high_of({}.ids)", list) : "0U");
    for (const char* const field : {"count", "added", "slice"}) add(some ? fmt::format("{}.{}", list, field) : "0U");
  }
  return word + ")";
}

MadeText write_kernels(const FlatPrograms& flat, const Program& program) { return KernelText(flat, program).run(); }

}  // namespace deltamatch::gpu
