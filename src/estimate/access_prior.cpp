#include "estimate/access_prior.hpp"

#include <bit>

#include "estimate/merge_ranges.hpp"

namespace deltamatch::estimate {

namespace {

// Bounds of the shape that is estimated. Few walks tell little of it, and visits with a common beginning make lists seem to
// differ more than they do.
constexpr double least_shape = 0.1;
constexpr double most_shape = 10;
// The shape for lists of about the same length together.
constexpr double length_shape = 1;
// The longest lists are searched again after this many calls. There is one call per choice, so at least this many batches pass.
constexpr unsigned renewal = 64;
// Vertices that a thread sums up at a time.
constexpr std::size_t sum_grain = 4096;

}  // namespace

double Posterior::times(double usual, const Findings& found) const noexcept {
  double sum = found.certain;
  for (std::size_t k = 0; k < drawn_kinds && usual > 0; ++k) {
    if (all.drawn[k] == 0) continue;
    // Findings are Poisson variables, each of which stands for `noise` look-ups.
    const double mean = usual * all.drawn[k] / all.times();
    sum += (shape * noise[k] + found.drawn[k]) / (shape * noise[k] / mean + 1);
  }
  return sum;
}

std::size_t AccessPrior::length_of(std::size_t bytes) noexcept {
  const auto doubling = static_cast<std::size_t>(std::bit_width(bytes)) - 1;
  const std::size_t rest = doubling < 2 ? 0 : bytes >> (doubling - 2) & (lengths_per_doubling - 1);
  return doubling * lengths_per_doubling + rest;
}

void AccessPrior::count_lengths(const graph::DataGraph& graph, const BytesOf& bytes) {
  std::vector<decltype(lengths_)> counted(workers_->size());
  workers_->for_each(graph.base().vertices(), sum_grain, [&](unsigned worker, std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      for (std::size_t s = 0; s < graph::store_kinds; ++s) {
        const std::size_t size = bytes({static_cast<VertexId>(v), static_cast<graph::StoreKind>(s)});
        if (size == 0) continue;
        counted[worker][length_of(size)].counted.add({1, static_cast<double>(size)});
      }
    }
  });
  lengths_ = {};
  for (const auto& part : counted) {
    for (std::size_t i = 0; i < lengths_.size(); ++i) lengths_[i].counted.add(part[i].counted);
  }
}

Posterior AccessPrior::posterior_of(const graph::DataGraph& graph, const Accesses& accesses, const BytesOf& bytes,
                                    std::size_t budget) {
  if (batches_++ % renewal == 0 || graph.edges() / 2 > edges_) {
    longest_ = select_by_degree(graph, bytes, budget, workers_).hot;
    count_lengths(graph, bytes);
    edges_ = graph.edges();
  }
  const Findings found = find(accesses.lists, bytes);
  const double all = found.times();
  if (all == 0) return {};
  double all_bytes = 0;
  for (const Length& length : lengths_) all_bytes += length.lists().bytes;
  // Lists of one length differ by chance, as the noise says. How much more they differ is the shape.
  double differ = 0;
  double squares = 0;
  for (const Length& length : lengths_) {
    const double times = length.look_ups.times();
    if (times == 0) continue;
    const double of_means = times * times / length.lists().count;
    differ += length.squares - of_means;
    for (std::size_t k = 0; k < drawn_kinds; ++k) differ -= accesses.noise[k] * length.look_ups.drawn[k];
    squares += of_means;
  }
  const double shape = differ > 0 ? std::clamp(squares / differ, least_shape, most_shape) : most_shape;
  const Posterior by_length{expected_, found, accesses.noise, length_shape};
  for (Length& length : lengths_) {
    const Lists lists = length.lists();
    length.mean = lists.count == 0 ? 0 : by_length.times(all * lists.bytes / all_bytes, length.look_ups) / lists.count;
  }
  workers_->for_each(expected_.size(), sum_grain, [&](unsigned, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Expected& one = expected_[i];
      if (one.bytes == 0) continue;
      one.usual = lengths_[length_of(one.bytes)].mean;
      if (one.usual > 0) continue;
      // A list longer than all that were counted. It is taken as the only one of its length, and not found.
      const auto own = static_cast<double>(one.bytes);
      one.usual = by_length.times(all * own / (all_bytes + own), {});
    }
  });
  return {expected_, found, accesses.noise, shape};
}

// Merges what was found with the longest lists, and adds up the findings by length. Returns the sum of all look-ups.
Findings AccessPrior::find(std::span<const Access> accesses, const BytesOf& bytes) {
  const Merge<Access, StoredVertex> merge(accesses, longest_);
  expected_.resize(merge.size());
  std::vector<Lengths> found(merge.parts());
  std::vector<Findings> sums(merge.parts());
  workers_->for_each(merge.parts(), 1, [&](unsigned, std::size_t first, std::size_t last) {
    for (std::size_t part = first; part < last; ++part) {
      merge.run(part, expected_, [&](const Access* access, const StoredVertex* longest) {
        const StoredVertex& at = access != nullptr ? access->at : *longest;
        Expected one{at, bytes(at), {}, 0};
        if (access != nullptr) {
          one.found.drawn = access->drawn;
          one.found.certain = std::max(0.0, access->times - one.found.times());
        }
        sums[part].add(one.found);
        if (access != nullptr && one.bytes > 0) {
          Length& length = found[part][length_of(one.bytes)];
          length.found.add({1, static_cast<double>(one.bytes)});
          length.look_ups.add(one.found);
          length.squares += one.found.times() * one.found.times();
        }
        return one;
      });
    }
  });
  for (std::size_t l = 0; l < lengths_.size(); ++l) {
    lengths_[l].found = {};
    lengths_[l].look_ups = {};
    lengths_[l].squares = 0;
    for (const Lengths& part : found) {
      lengths_[l].found.add(part[l].found);
      lengths_[l].look_ups.add(part[l].look_ups);
      lengths_[l].squares += part[l].squares;
    }
  }
  Findings all;
  for (const Findings& sum : sums) all.add(sum);
  return all;
}

}  // namespace deltamatch::estimate
