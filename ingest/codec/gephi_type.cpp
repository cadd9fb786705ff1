#include "ingest/codec/gephi_type.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "ingest/codec/columns.hpp"
#include "ingest/codec/fields.hpp"

namespace deltamatch::ingest {

GephiType::GephiType(std::string columns, OptionSpelling spelling, std::optional<bool> told, bool label_named)
    : columns_(std::move(columns)), spelling_(std::move(spelling)), told_(told), label_named_(label_named) {}

/// Directed or Undirected as Gephi writes them, or all in small letters. In capitals they might be labels too. Mutual stands
/// for two edges.
GephiType::Cell GephiType::cell_of(std::string_view text) noexcept {
  if (text.empty()) return Cell::empty;
  constexpr std::array<std::pair<std::string_view, Cell>, 3> words = {
      {{"directed", Cell::directed}, {"undirected", Cell::undirected}, {"mutual", Cell::mutual}}};
  for (const auto& [word, cell] : words) {
    if (!same_letters(text, word)) continue;
    return text.substr(1) == word.substr(1) ? cell : Cell::capitals;
  }
  return Cell::other;
}

std::string GephiType::columns(std::string_view entry) const { return spell_columns(spelling_, with_column(columns_, entry)); }

std::optional<GephiType::Refusal> GephiType::read(std::string_view text) {
  const Cell cell = cell_of(text);
  const bool says = cell == Cell::directed || cell == Cell::undirected;
  if (is_ == Is::undecided) {
    if (std::optional<Refusal> refused = decide(text, cell)) return refused;
  }
  if (is_ == Is::other) {
    if (!says || (told_ && !may_be_label_)) return std::nullopt;
    return Refusal{fmt::format("Type {} says whether the edge has a direction, as in Gephi's tables, but in earlier records "
                               "it has another meaning",
                               in_ticks(text)),
                   "give " + columns("label=Type") + " if Type is the label, else correct those records"};
  }
  if (!says) {
    return Refusal{fmt::format("Type {} is neither Directed nor Undirected{}", in_ticks(text),
                               cell == Cell::mutual ? ": write two edges, one in each direction" : ""),
                   {}};
  }
  const bool directed = cell == Cell::directed;
  if (!told_ && held_.value_or(says_.value_or(directed)) != directed) {
    return Refusal{fmt::format("Type {}, but the edges before it are {}", in_ticks(text), directed ? "undirected" : "directed"),
                   "split the file, or give --directed or --undirected for all edges"};
  }
  says_ = directed;
  return std::nullopt;
}

/// Decides by the first record what Type is.
std::optional<GephiType::Refusal> GephiType::decide(std::string_view text, Cell cell) {
  if (cell == Cell::capitals) {
    return Refusal{
        fmt::format("Type {} may be a label, or say whether the edge has a direction, as in Gephi's tables", in_ticks(text)),
        "give " + columns("label=Type") + " if it is a label, else write Directed or Undirected"};
  }
  if (cell != Cell::other && cell != Cell::empty) {
    is_ = Is::direction;
    return std::nullopt;
  }
  if (!may_be_label_ && !label_named_) {
    return Refusal{
        fmt::format("there are two columns for the label: Type {} is neither Directed nor Undirected, so it is one too",
                    in_ticks(text)),
        fmt::format("give {} or {}", columns("label=" + name_), columns("label=" + label_name_))};
  }
  is_ = Is::other;
  return std::nullopt;
}

}  // namespace deltamatch::ingest
