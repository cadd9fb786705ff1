// The state of the writer of a plan's kernels. Internal to gpu/made.
//
// Names in the text, for positions p, ways w, depths d and node numbers n:
// - vp: the vertex at a position
// - lpww: its list of a way
// - setd: the set of the loops at a depth
// - a0, a1, ...: the lists of the count or loop at hand. Entries of a0 are read and searched in the others
// - hn: a count that does not depend on the loops around it
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/made/kernel_writer.hpp"
#include "gpu/made/plan_shape.hpp"
#include "gpu/made/text_writer.hpp"

namespace deltamatch::gpu {

class KernelText {
 public:
  KernelText(const FlatPrograms& flat, const Program& program);
  [[nodiscard]] MadeText run();

 private:
  // A range of a list's entries as expressions. Null: all of them.
  struct Range {
    const char* begin = nullptr;
    const char* end = nullptr;
  };
  // Where the results of steps go: what lanes find, times `weight`, is added to the variable `sum`.
  struct Into {
    std::string weight;
    std::string sum;
  };
  static constexpr std::uint32_t any_position = max_positions;

  // --- kernels (kernel_writer.cpp) ---
  void write_head(std::uint32_t depth);
  void write_anchors();
  void write_works(std::uint32_t depth);
  void write_work(const WaitingWork& work);
  void write_look_up(const Read& read) {
    out_.line("const List {} = look_up(warp, {}, v{});", name(read), read.way, read.position);
  }
  void write_steps(std::uint32_t first, std::uint32_t end, std::uint32_t depth, const Into& into);
  [[nodiscard]] std::string put(const WaitingWork& work, const std::string& weight, Range range, std::uint32_t part,
                                const char* phase = "work.phase") const;
  [[nodiscard]] std::string put_all(const WaitingWork& work, const std::string& weight, const char* size,
                                    std::uint32_t part) const;
  [[nodiscard]] std::string word_of(const WaitingWork& work, const std::string& weight) const;
  [[nodiscard]] std::uint32_t set_word() const;
  [[nodiscard]] std::uint32_t list_word() const { return set_word() + 4; }

  // --- lists and counts (count_writer.cpp) ---
  static std::string name(const Read& read) { return fmt::format("l{}w{}", read.position, read.way); }
  void write_lists(const Node& node);
  void write_conditions(const Node& node, std::uint32_t k, bool apart, bool cut, std::uint32_t deepest = any_position);
  void write_keeps(const Node& node, std::uint32_t k);
  void write_count(const Node& node, Range range, std::uint32_t deepest = any_position);
  void write_length(const Node& node);
  void write_number(std::uint32_t index, std::uint32_t depth);
  void write_last_count(std::uint32_t index, std::uint32_t depth, const Into& into);
  void write_bitmaps(const WaitingWork& work);
  void note_mapped(std::uint32_t first, std::uint32_t end, std::uint32_t depth);
  [[nodiscard]] bool is_mapped(const Read& read) const;
  [[nodiscard]] std::string bitmap_of(const Node& node) const;
  void write_scan(const Node& node);
  void declare_hoisted(std::uint32_t first, std::uint32_t end, std::uint32_t depth, std::uint32_t decided, bool from_work);
  void write_hoisted(std::uint32_t index);
  [[nodiscard]] std::string is_candidate(const Node& node, const std::string& vertex) const;
  void write_rest_of_hoisted(std::uint32_t index, std::uint32_t except = any_position);

  // --- loops (loop_writer.cpp) ---
  void write_set(const Node& node, std::uint32_t depth);
  void write_inner_loop(std::uint32_t index, std::uint32_t depth, const Into& into);
  // What a loop at hand is written with.
  struct Loop {
    const Node* node;
    std::uint32_t depth;
    std::uint32_t lists;  // of its candidates: a0 and so on
    Range range;          // of a0
    Into into;
    const WaitingWork* work;         // as which the rest may be given away; null: it may not
    const char* phase;               // to which it is given
    std::uint32_t k = 0;             // entries that a lane reads at once
    bool scans = false;              // a0 may be filtered
    const Node* filtered = nullptr;  // the one count, if what candidates have in common with lists that stay is filtered
    const std::uint32_t* hoisted = nullptr;  // the one count, if it does not depend on the candidate
  };
  void write_loop(Loop loop);
  void write_reading(const Loop& loop);
  void write_hoisted_sum(const Loop& loop);
  [[nodiscard]] const Node* filtered_count(const Node& loop, std::uint32_t position) const;
  std::uint32_t open_filter(const Loop& loop);
  void write_filtered(const Loop& loop, std::uint32_t own_way);
  void write_rest(const Loop& loop, const std::string& rest, const std::string& condition, std::uint32_t part);
  [[nodiscard]] std::string conditions_on(const Node& node, std::uint32_t position) const;

  const Program& program_;
  PlanShape shape_;
  MadeText made_;
  TextWriter out_;
  std::vector<Read> held_;    // lists that waiting work holds
  std::vector<Read> mapped_;  // lists that have bitmaps in the work at hand
  std::uint32_t scans_ = 0;   // loops that are reading filtered lists
  std::uint32_t names_ = 0;   // of variables so far
};

}  // namespace deltamatch::gpu
