// Brings packed blocks up to date from the batch that lies in device memory, so that nothing is sent again.
//
// A kept entry moves by the numbers of entries removed and added before it. Two searches in the batch's short lists find these.
// An added entry finds its place by a search in the old list. Each entry is handled on its own.
//
// New blocks are made beside the pool and then copied to their places. So a block may take the place of another that is merged
// in the same launch, or its own. Runs on host and device alike.
#pragma once

#include <cstdint>

#include "gpu/cuda/host_device.hpp"
#include "gpu/mirror/layout.hpp"

namespace deltamatch::gpu {

/// A vertex whose block is made anew.
struct MergeRow {
  std::uint64_t from;  ///< the old block in the pool; without slices if there was none
  std::uint64_t to;    ///< the new block in MergeWork::made
  std::uint32_t from_entries;
  std::uint32_t from_slices;
  std::uint32_t from_log;  ///< directory_log of the old block
  std::uint32_t to_entries;
  std::uint32_t to_slices;
  std::uint32_t to_log;
  std::uint32_t directory;    ///< the new block's directory in MergeWork::directories
  std::uint32_t first_slice;  ///< of the batch
  std::uint32_t end_slice;
  std::uint32_t unused;
};
static_assert(sizeof(MergeRow) == 56);

/// A part of a row's work: a range of its old entries, followed by its added ones.
struct MergePiece {
  std::uint32_t row;
  std::uint32_t begin;
  std::uint32_t end;
};

struct MergeWork {
  const std::uint32_t* pool;
  std::uint32_t* made;
  const MergeRow* rows;
  const MergePiece* pieces;
  const std::uint32_t* directories;
  Store batch;  ///< its slices, added and removed entries; tags are null if the store has none
};

/// The first position in [begin, end) whose (id, tag) is not less. `tags` may be null.
DELTAMATCH_HOST_DEVICE inline std::uint32_t merge_search(const std::uint32_t* ids, const std::uint32_t* tags,
                                                         std::uint32_t begin, std::uint32_t end, std::uint32_t id,
                                                         std::uint32_t tag) {
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (ids[middle] < id || (tags != nullptr && ids[middle] == id && tags[middle] < tag)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// The index of a relation in a directory, or `slices`.
DELTAMATCH_HOST_DEVICE inline std::uint32_t merge_find(const std::uint32_t* directory, std::uint32_t slices,
                                                       std::uint32_t relation) {
  std::uint32_t low = 0;
  std::uint32_t high = slices;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (directory[2 * middle] < relation) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < slices && directory[2 * low] == relation ? low : slices;
}

DELTAMATCH_HOST_DEVICE inline std::uint32_t merge_begin(const std::uint32_t* directory, std::uint32_t slice) {
  return slice == 0 ? 0 : directory[2 * slice - 1];
}

DELTAMATCH_HOST_DEVICE inline void merge_put(const MergeWork& work, const MergeRow& row, std::uint32_t at, std::uint32_t id,
                                             std::uint32_t tag) {
  std::uint32_t* ids = work.made + row.to + (std::uint64_t{2} << row.to_log);
  ids[at] = id;
  if (work.batch.added_tags != nullptr) ids[std::uint64_t{row.to_entries} + at] = tag;
}

/// Copies the old entry at `position` to its new place, unless it is removed.
DELTAMATCH_HOST_DEVICE inline void merge_old(const MergeWork& work, const MergeRow& row, std::uint32_t position) {
  const std::uint32_t* from = work.pool + row.from;
  const std::uint32_t* directory = work.directories + row.directory;
  std::uint32_t low = 0;  // the slice of the position: the first that ends behind it
  std::uint32_t high = row.from_slices;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (from[2 * middle + 1] <= position) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const std::uint32_t relation = from[2 * low];
  const std::uint32_t slice = merge_find(directory, row.to_slices, relation);
  if (slice == row.to_slices) return;  // nothing is left of this list
  const std::uint32_t* ids = from + (std::uint64_t{2} << row.from_log);
  const std::uint32_t id = ids[position];
  const bool tagged = work.batch.added_tags != nullptr;
  const std::uint32_t tag = tagged ? ids[std::uint64_t{row.from_entries} + position] : 0;
  std::uint32_t at = merge_begin(directory, slice) + position - merge_begin(from, low);
  std::uint32_t s = row.first_slice;
  for (std::uint32_t end = row.end_slice; s < end;) {
    const std::uint32_t middle = (s + end) / 2;
    if (work.batch.slices[middle].relation < relation) {
      s = middle + 1;
    } else {
      end = middle;
    }
  }
  if (s < row.end_slice && work.batch.slices[s].relation == relation) {
    const Store& batch = work.batch;
    const DeltaSlice first = batch.slices[s];
    const DeltaSlice next = batch.slices[s + 1];
    const std::uint32_t removed =
        merge_search(batch.removed, batch.removed_tags, first.removed_begin, next.removed_begin, id, tag);
    if (removed < next.removed_begin && batch.removed[removed] == id && (!tagged || batch.removed_tags[removed] == tag)) return;
    at -= removed - first.removed_begin;
    at += merge_search(batch.added, batch.added_tags, first.added_begin, next.added_begin, id, tag) - first.added_begin;
  }
  merge_put(work, row, at, id, tag);
}

/// Copies the batch's added entry at `position` of the added column to its place.
DELTAMATCH_HOST_DEVICE inline void merge_added(const MergeWork& work, const MergeRow& row, std::uint32_t position) {
  const Store& batch = work.batch;
  std::uint32_t s = row.first_slice;  // the slice of the position: the last that begins at or before it
  for (std::uint32_t end = row.end_slice - 1; s < end;) {
    const std::uint32_t middle = (s + end + 1) / 2;
    if (batch.slices[middle].added_begin <= position) {
      s = middle;
    } else {
      end = middle - 1;
    }
  }
  const DeltaSlice first = batch.slices[s];
  const std::uint32_t* directory = work.directories + row.directory;
  const std::uint32_t slice = merge_find(directory, row.to_slices, first.relation);
  if (slice == row.to_slices) return;  // the relation is not packed
  const std::uint32_t id = batch.added[position];
  const bool tagged = batch.added_tags != nullptr;
  const std::uint32_t tag = tagged ? batch.added_tags[position] : 0;
  std::uint32_t at = merge_begin(directory, slice) + position - first.added_begin;
  const std::uint32_t* from = work.pool + row.from;
  const std::uint32_t old = row.from_slices == 0 ? 0 : merge_find(from, row.from_slices, first.relation);
  if (old < row.from_slices) {
    const std::uint32_t* ids = from + (std::uint64_t{2} << row.from_log);
    const std::uint32_t begin = merge_begin(from, old);
    at += merge_search(ids, tagged ? ids + row.from_entries : nullptr, begin, from[2 * old + 1], id, tag) - begin;
    at -= merge_search(batch.removed, batch.removed_tags, first.removed_begin, batch.slices[s + 1].removed_begin, id, tag) -
          first.removed_begin;
  }
  merge_put(work, row, at, id, tag);
}

/// Does the part of a piece that falls to one of `lanes` lanes.
DELTAMATCH_HOST_DEVICE inline void merge_piece(const MergeWork& work, const MergePiece& piece, std::uint32_t lane,
                                               std::uint32_t lanes) {
  const MergeRow& row = work.rows[piece.row];
  if (piece.begin == 0) {
    for (std::uint32_t i = lane; i < 2 * row.to_slices; i += lanes) work.made[row.to + i] = work.directories[row.directory + i];
  }
  for (std::uint32_t i = piece.begin + lane; i < piece.end; i += lanes) {
    if (i < row.from_entries) {
      merge_old(work, row, i);
    } else {
      merge_added(work, row, work.batch.slices[row.first_slice].added_begin + (i - row.from_entries));
    }
  }
}

}  // namespace deltamatch::gpu
