// The column Type of Gephi's edge tables, which says whether edges have a direction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/codec/doubts.hpp"

namespace deltamatch::ingest {

/// Reads the column. It may be a label instead; the first record decides.
class GephiType {
 public:
  /// `columns` is the option as given. `told`: how all edges are meant, whatever Type says. `label_named`: the option names the
  /// column of the label.
  GephiType(std::string columns, OptionSpelling spelling, std::optional<bool> told, bool label_named);

  /// Whether the column is the label if it is not the direction.
  void may_be_label(bool may) noexcept { may_be_label_ = may; }
  [[nodiscard]] bool may_be_label() const noexcept { return may_be_label_; }
  /// Names the column and the one that is the label, for messages.
  void name_columns(std::string_view type, std::string_view label) {
    name_ = type;
    label_name_ = label;
  }
  /// Fixes how the edges are read.
  void hold(bool directed) noexcept { held_ = directed; }

  struct Refusal {
    std::string message;
    std::string remedy;  ///< if no later record can be read either; else empty
  };
  /// Returns a refusal if the record's Type does not fit.
  [[nodiscard]] std::optional<Refusal> read(std::string_view cell);
  [[nodiscard]] bool is_direction() const noexcept { return is_ == Is::direction; }
  /// The direction in the records so far.
  [[nodiscard]] std::optional<bool> says() const noexcept { return says_; }

 private:
  enum class Cell : std::uint8_t { other, empty, directed, undirected, mutual, capitals };
  enum class Is : std::uint8_t { undecided, direction, other };

  static Cell cell_of(std::string_view text) noexcept;
  std::optional<Refusal> decide(std::string_view text, Cell cell);
  [[nodiscard]] std::string columns(std::string_view entry) const;

  std::string columns_;
  std::string name_;
  std::string label_name_;
  OptionSpelling spelling_;
  std::optional<bool> told_;
  bool label_named_;
  bool may_be_label_ = false;
  Is is_ = Is::undecided;
  std::optional<bool> says_;
  std::optional<bool> held_;
};

}  // namespace deltamatch::ingest
