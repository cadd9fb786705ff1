// What becomes of refused records: one policy for those that no codec could read and those that the engine refused.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "deltamatch/update.hpp"
#include "ingest/batch/batcher.hpp"

namespace deltamatch::ingest {

/// fail: apply what stands before the record, then end with an Error. skip: leave it out and count it. dead_letter: as skip,
/// and keep it aside with its reason, position and bytes.
enum class OnError : std::uint8_t { fail, skip, dead_letter };

/// "fail", "skip", "dead-letter".
[[nodiscard]] std::string_view on_error_name(OnError policy) noexcept;

/// Refused records by reason.
struct RefusalCounters {
  std::array<std::uint64_t, reject_reason_count> by_reason{};
  [[nodiscard]] std::uint64_t total() const noexcept;
  [[nodiscard]] std::uint64_t of(RejectReason reason) const noexcept { return by_reason[static_cast<std::size_t>(reason)]; }
};

/// What to do about records that are refused for a reason, beside correcting them.
[[nodiscard]] std::string_view refusal_remedy(RejectReason reason) noexcept;

/// The first record of an input that was refused for its reason.
struct FirstRefusal {
  RejectReason reason{};
  std::string where;  ///< "a.csv:3"
  std::string message;
};

/// What the engine means by refusing an update that could be read.
[[nodiscard]] std::string rejection_message(const Update& update, RejectReason reason);

struct DeadLetter {
  std::string_view source;  ///< the file's name
  Position position;
  RejectReason reason{};
  std::string_view message;
  std::string_view record;   ///< its bytes, or the first of them
  std::uint64_t length = 0;  ///< its length in the source
};

/// Takes refused records.
class DeadLetterSink {
 public:
  virtual ~DeadLetterSink() = default;
  virtual void write(const DeadLetter& letter) = 0;
  /// The letters of a batch are complete.
  virtual void commit() = 0;
};

/// One JSON object per line:
/// {"v":1,"reason":"bad_id","source":"a.csv","part":0,"position":17,"message":"…","record":"…","length":9}. `record` is text;
/// bytes that are not UTF-8 are written as \udc80 to \udcff (Python's surrogateescape), so no byte is lost. A record beyond the
/// length limit is cut: `length` tells its true size. The file is made, or emptied, by the first call of write or commit, so
/// that letters of an earlier run are kept until something is read. Both throw Error where it cannot be made or written.
[[nodiscard]] std::unique_ptr<DeadLetterSink> make_dead_letter_file(const std::string& path);

/// The object of a letter in that form, not closed yet.
void append_dead_letter_fields(std::string& out, const DeadLetter& letter);

}  // namespace deltamatch::ingest
