// Pictures of matches, for people and for programs that draw graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/match.hpp"
#include "deltamatch/query.hpp"
#include "ingest/sink/match_form.hpp"

namespace deltamatch::ingest {

enum class PictureKind : std::uint8_t {
  dot,      ///< for Graphviz: each match is a cluster of its own
  graphml,  ///< for Gephi, yEd and networkx: one graph of all vertices and edges of matches
  html,     ///< a page for a browser, with everything in it: a list of matches, and a drawing of each
};

/// A vertex of a match.
struct DrawnVertex {
  std::string names;     ///< of the query vertices that map to it, as "a, c"; empty inside a path
  std::string id;        ///< as text
  bool is_text = false;  ///< the id is a text; 9 and "9" are different vertices
};

/// An attribute of an edge, with the index of its declaration.
struct DrawnValue {
  std::size_t attribute;
  std::string text;
};

struct DrawnEdge {
  std::uint32_t source = 0;  ///< index into DrawnMatch::vertices
  std::uint32_t target = 0;
  std::string name;  ///< of the query edge; a step of the path t is t[1], t[2] ...; empty if the edge has no name
  std::string label;
  std::string identity;  ///< its key or ordinal; empty in the model `simple`
  std::string time;      ///< empty if it has none
  std::vector<DrawnValue> values;
  bool lost = false;  ///< it was deleted, so the match vanished
};

struct DrawnMatch {
  std::size_t query = 0;  ///< index into Picture::queries
  bool added = true;
  std::string id;
  std::uint64_t batch = 0;
  std::string time;  ///< empty if it has none
  std::vector<DrawnVertex> vertices;
  std::vector<DrawnEdge> edges;
};

/// What a picture shows of one query.
struct DrawnQuery {
  std::string name;
  std::uint64_t drawn = 0;
  std::uint64_t left_out = 0;             ///< matches that came after the limit
  Shortfall shortfall = Shortfall::none;  ///< why the list of its matches ended early
};

/// Everything that is drawn. Texts may hold any bytes.
struct Picture {
  Schema schema;
  bool directed = true;
  std::vector<DrawnQuery> queries;
  std::vector<DrawnMatch> matches;  ///< in the order in which they came
};

/// A line about what is not drawn of a query: "ring: 1000 of 5210 matches are drawn". Empty if all is.
[[nodiscard]] std::string what_is_missing(const DrawnQuery& query);

[[nodiscard]] std::string to_dot(const Picture& picture);
[[nodiscard]] std::string to_graphml(const Picture& picture);
[[nodiscard]] std::string to_html(const Picture& picture);

/// Keeps matches in memory, and writes them as a picture at the end.
class PictureSink : public MatchSink {
 public:
  /// Writes the file. Nothing is written before, so a picture is whole or empty. Call it once, after the last match.
  virtual void finish() = 0;
  [[nodiscard]] virtual std::span<const DrawnQuery> queries() const noexcept = 0;
};

struct PictureOptions {
  PictureKind kind = PictureKind::html;
  bool directed = true;       ///< whether the data graph is
  std::uint64_t most = 1000;  ///< matches that are drawn of each query: the first ones. The others are counted
  /// The decimal sign of numbers, for people: times are then written as in a spreadsheet. Nothing: as in other files.
  std::optional<char> sheet{};
};

/// `path` is created or emptied at once; "-" is standard output. `queries` are all whose matches will come: they give the names
/// of edges. A match of another query is an Error. Throws an Error that names the file if it cannot be written.
[[nodiscard]] std::unique_ptr<PictureSink> make_picture_sink(const std::string& path, const MatchForm& form,
                                                             std::span<const Query> queries, const PictureOptions& options);

}  // namespace deltamatch::ingest
