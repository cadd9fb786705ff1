// The state of the writer of a plan's kernels. Internal to gpu/made.
//
// A warp holds up to 32 partial matches, one a lane. What they share, the vertices of a task and their lists, has the same
// value in all lanes. Loops hand the candidates of all lanes on in windows: blocks of text whose lanes hold the next partial
// matches.
//
// Names in the text, for positions p, ways w, depths d and node numbers n:
// - vp: the vertex at a position
// - lpww: its list of a way
// - setd: the set of the loops at a depth
// - hn: a count, or a set of candidates, that is the same for all partial matches of a task.
//
// Names that a window defines anew end in a number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
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
  static constexpr std::uint32_t any_position = max_positions;
  static constexpr std::uint32_t joint_sets = max_positions + 1;

  // What a node's candidates are found in.
  struct Source {
    bool set = false;  // a set that a loop keeps, in place of a list
    Read read{};       // of a set: its depth as the position
  };
  // Which of a node's lists is read, in which one it is searched first, and the rest.
  struct Roles {
    Source own;
    bool meets = false;
    Source other;
    std::vector<Source> rest;
    std::vector<Read> reads;  // all lists among them
  };
  struct Set {
    std::string name;
    bool same;                // in all lanes
    std::vector<Read> reads;  // if it stands for any node's lists: those
  };
  // The partial matches of a window.
  struct Names {
    std::vector<std::string> vertices;   // by position
    std::map<Read, std::string> lists;   // whole
    std::map<Read, std::string> slices;  // only where the changes of a list lie
    std::map<std::uint32_t, Set> sets;   // by depth, then those of joint_sets on
    std::string in;                      // whether a lane has one
    std::string weight;                  // of a lane's
    std::string sum;                     // what results are added to
  };
  // --- kernels (kernel_writer.cpp) ---
  void write_kernel(std::uint32_t depth);
  void write_anchors();
  void write_works(std::uint32_t depth);
  void write_work(const WaitingWork& work);
  std::uint32_t write_lists(const Node& node);
  void write_count_range(const WaitingWork& work);
  void write_range(const WaitingWork& work);
  void write_task_joint(const Node& node);
  void write_look_up(const Read& read);
  void write_bitmaps(const WaitingWork& work);
  void note_mapped(std::uint32_t first, std::uint32_t end, std::vector<Read>& wanted) const;
  [[nodiscard]] std::string put(const WaitingWork& work, const std::string& weight, const std::string& begin,
                                const std::string& end, std::uint32_t part, const char* phase = "work.phase") const;
  [[nodiscard]] std::string word_of(const WaitingWork& work, const std::string& weight) const;
  [[nodiscard]] std::uint32_t set_word() const;
  [[nodiscard]] std::uint32_t list_word() const { return set_word() + 4; }

  // --- windows, steps and loops (window_writer.cpp) ---
  void write_steps(std::uint32_t first, std::uint32_t end, std::uint32_t depth);
  void write_loop(std::uint32_t index, std::uint32_t depth, const std::string& product);
  void write_inner_sum(std::uint32_t index, std::uint32_t depth, const std::string& product);
  void write_root_loop(std::uint32_t index, const WaitingWork& work, const std::string& product);
  void write_kept_loop(std::uint32_t index, std::uint32_t depth, const std::string& product);
  void write_hoisted_loop(std::uint32_t index, std::uint32_t depth, const std::string& product);
  void write_one_set(const Node& node, std::uint32_t scratch, const std::string& to);
  void write_finding(const Roles& roles, const Node* node, std::uint32_t scratch, const std::string& wanted);
  void write_part(const Roles& roles, const Node* node, std::uint32_t scratch, const std::string& left,
                  const std::string& part);
  std::uint32_t take_scratch();
  void write_window(std::uint32_t index, std::uint32_t depth, const std::string& product, bool found, const std::string& set);
  void enter(const Node& node, std::uint32_t position);
  void fetch(const Roles& roles, const Node* tested);
  void fetch_below(const Node& node, std::uint32_t position);
  void fetch_vertex(std::uint32_t position);
  void fetch_list(const Read& read);
  void fetch_set(Set& set);

  // --- lists that loops below have in common, and work that is given away (joint_writer.cpp) ---
  void write_joint(std::uint32_t index, std::uint32_t depth, const std::string& product);
  [[nodiscard]] std::vector<Read> joint_below(const Node& loop, std::uint32_t position, bool at_it, bool alone,
                                              bool& prunes) const;
  [[nodiscard]] const Node* needed_below(const Node& loop) const;
  [[nodiscard]] bool reads_joint(const Node& loop, const std::vector<Read>& joint) const;
  void give_heavy(const WaitingWork& work, const std::string& size, const std::string& limit, std::uint32_t part,
                  const std::string& product, const std::string& set);

  // --- counts and candidates (count_writer.cpp) ---
  void write_count(std::uint32_t index, std::uint32_t depth, bool last, const std::string& product);
  void write_length(const Node& node, const std::string& product);
  void write_hoisted(std::uint32_t index, const std::string& product);
  void write_hits(const Node& node, const std::string& wanted, std::uint32_t deepest);
  void open_finding(const Roles& roles, const std::string& wanted);
  void open_reading(const std::string& product, const std::string& set);
  void close_finding();
  void write_conditions(const Node& node, bool apart, bool cut, std::uint32_t deepest = any_position);
  void write_list_tests(const Roles& roles, bool searched = false);
  void declare_hoisted(std::uint32_t first, std::uint32_t end, std::uint32_t depth);
  [[nodiscard]] std::vector<Source> sources_of(const Node& node) const;
  [[nodiscard]] Roles roles_of(const Node& node) const { return roles_of(sources_of(node)); }
  [[nodiscard]] Roles roles_of(std::vector<Source> sources) const;
  [[nodiscard]] bool same_for_all(const Source& source) const;
  [[nodiscard]] bool same_for_all(const Node& node) const;
  [[nodiscard]] bool hoists_set(const Node& node, std::uint32_t depth) const;
  [[nodiscard]] bool hoists_count(const Node& node, std::uint32_t depth) const;
  [[nodiscard]] std::string list_of(const Source& source) const;
  [[nodiscard]] std::string is_candidate(const Node& node, const std::string& vertex) const;
  [[nodiscard]] std::string bits_of(const Source& source) const;
  [[nodiscard]] std::string shortest(const Node& node) const;
  std::string fresh(const std::string& name) { return fmt::format("{}_{}", name, numbers_++); }
  static std::string own_name(const Read& read) { return fmt::format("l{}w{}", read.position, read.way); }

  const Program& program_;
  PlanShape shape_;
  MadeText made_;
  TextWriter out_;
  Names names_;
  std::vector<Read> held_;                               // lists that waiting work holds
  std::vector<Read> mapped_;                             // lists that have bitmaps in the work at hand
  std::set<std::string> here_;                           // names that belong to the innermost window
  std::uint32_t shared_ = 0;                             // positions up to here are the same in all lanes
  std::map<std::uint32_t, std::uint32_t> hoisted_sets_;  // in the work at hand, by node: where in the warp's memory
  std::uint32_t scratch_ = 0;                            // sets there that the work at hand has
  std::uint32_t meetings_ = 0;                           // that are under way
  std::uint32_t most_meetings_ = 0;
  std::size_t most_mapped_ = 0;
  std::uint32_t numbers_ = 0;  // of fresh names so far
};

}  // namespace deltamatch::gpu
