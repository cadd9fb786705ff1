#include "generate/synthetic_stream.hpp"

#include <string_view>

#include "deltamatch/error.hpp"
#include "generate/random.hpp"
#include "generate/text_writer.hpp"

namespace deltamatch::generate {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t shuffle_salt = 0x5348554646;
constexpr std::uint64_t stream_salt = 0x53545245414D;
constexpr std::uint64_t label_salt = 0x4C4142454C;

std::size_t share_of(std::size_t whole, double share) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): a stream made before is to be the same again
  return static_cast<std::size_t>(static_cast<double>(whole) * share + 0.5);
}

void write_edge(const Stream& stream, TextWriter& out, std::string_view operation, const Edge& edge) {
  out << operation << edge.first << ' ' << edge.second;
  if (stream.options.edge_labels > 0) out << ' ' << stream.edge_label(edge);
  out << '\n';
}

}  // namespace

void validate(const GeneratorOptions& options) {
  const auto check = [](double share, std::string_view what) {
    if (!(share >= 0 && share <= 1)) throw Error(ErrorKind::usage, "generate", what, "give a share from 0 to 1");
  };
  check(options.insertions, "the share of insertions is out of range");
  check(options.deletions, "the share of deletions is out of range");
  check(options.noise, "the share of noise is out of range");
}

Stream make_stream(Graph graph, const GeneratorOptions& options) {
  validate(options);
  Stream stream{std::move(graph), options};
  Random(mix(options.seed + shuffle_salt)).shuffle(std::span(stream.graph.edges));
  stream.start = stream.graph.edges.size() - share_of(stream.graph.edges.size(), options.insertions);
  stream.kept = stream.start - share_of(stream.start, options.deletions);
  return stream;
}

// The label is a hash of the edge. So no labels are stored, and an edge always has the same label.
std::uint32_t Stream::edge_label(const Edge& edge) const noexcept {
  if (options.edge_labels < 2) return 0;
  const std::uint64_t key = std::uint64_t{edge.first} << 32 | edge.second;
  return static_cast<std::uint32_t>(Wide{mix(mix(key) + options.seed + label_salt)} * options.edge_labels >> 64);
}

// Deletions take [kept, start) from its end, and insertions take [start, end) from its beginning. So the existing edges are
// always two ranges, and the absent ones are two more.
void Stream::for_each_update(const std::function<void(const StreamUpdate&)>& take) const {
  Random random(mix(options.seed + stream_salt));
  std::size_t live = start;  // in the start graph: [0, live)
  std::size_t next = start;  // inserted so far: [start, next)
  const std::size_t end = graph.edges.size();
  const auto emit = [&](bool insert, std::size_t index) {
    const Edge& edge = graph.edges[index];
    take({insert, edge, edge_label(edge)});
  };
  const auto emit_noise = [&] {
    const std::size_t living = live + (next - start);
    const std::size_t absent = (start - live) + (end - next);
    const bool insert = absent == 0 || (living > 0 && random.below(2) == 0);
    const std::size_t draw = random.below(insert ? living : absent);
    if (insert) {
      emit(true, draw < live ? draw : start + (draw - live));
    } else {
      emit(false, draw < start - live ? live + draw : next + (draw - (start - live)));
    }
  };
  while (live > kept || next < end) {
    if (random.below((live - kept) + (end - next)) < live - kept) {
      emit(false, --live);
    } else {
      emit(true, next++);
    }
    if (options.noise > 0 && random.chance(options.noise)) emit_noise();
  }
}

std::vector<StreamUpdate> Stream::updates() const {
  std::vector<StreamUpdate> result;
  for_each_update([&](const StreamUpdate& update) { result.push_back(update); });
  return result;
}

void write_graph(const Stream& stream, std::FILE* file) {
  const Graph& graph = stream.graph;
  std::vector<std::uint32_t> degrees(graph.vertices);
  for (const auto& [u, v] : stream.start_edges()) {
    ++degrees[u];
    ++degrees[v];
  }
  TextWriter out(file);
  out << "t " << graph.vertices << ' ' << stream.start << '\n';
  for (std::uint32_t v = 0; v < graph.vertices; ++v) out << "v " << v << ' ' << graph.labels[v] << ' ' << degrees[v] << '\n';
  for (const Edge& edge : stream.start_edges()) write_edge(stream, out, "e ", edge);
  out.finish();
}

void write_updates(const Stream& stream, std::FILE* file) {
  TextWriter out(file);
  stream.for_each_update(
      [&](const StreamUpdate& update) { write_edge(stream, out, update.insert ? "e " : "-e ", update.edge); });
  out.finish();
}

void write_graph(const Stream& stream, const std::filesystem::path& path) { write_graph(stream, open_output(path).get()); }

void write_updates(const Stream& stream, const std::filesystem::path& path) { write_updates(stream, open_output(path).get()); }

}  // namespace deltamatch::generate
