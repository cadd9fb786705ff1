// What happens to refused records. One policy holds for records that a codec cannot read and for those that the engine refuses.
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

/// fail: apply the records before it, then end with an Error. skip: leave it out and count it. dead_letter: like skip, and keep
/// it aside with its reason, position and bytes.
enum class OnError : std::uint8_t { fail, skip, dead_letter };

/// "fail", "skip", "dead-letter".
[[nodiscard]] std::string_view on_error_name(OnError policy) noexcept;

/// The number of refused records by reason.
struct RefusalCounters {
  std::array<std::uint64_t, reject_reason_count> by_reason{};
  [[nodiscard]] std::uint64_t total() const noexcept;
  [[nodiscard]] std::uint64_t of(RejectReason reason) const noexcept { return by_reason[static_cast<std::size_t>(reason)]; }
};

/// What to do about records refused for this reason, other than correcting them.
[[nodiscard]] std::string_view refusal_remedy(RejectReason reason) noexcept;

/// The first record of an input that was refused for a reason.
struct FirstRefusal {
  RejectReason reason{};
  std::string where{};  ///< "a.csv:3"
  std::string message{};
};

/// Says why the engine refused an update that could be read.
[[nodiscard]] std::string rejection_message(const Update& update, RejectReason reason);

struct DeadLetter {
  std::string_view source{};  ///< the file's name
  Position position{};
  RejectReason reason{};
  std::string_view message{};
  std::string_view record{};  ///< its bytes, or the first of them
  std::uint64_t length = 0;   ///< its length in the source
};

/// Takes refused records.
class DeadLetterSink {
 public:
  virtual ~DeadLetterSink() = default;
  virtual void write(const DeadLetter& letter) = 0;
  /// Call it when all letters of a batch have been written.
  virtual void commit() = 0;
};

/// Writes one JSON object per line:
/// {"v":1,"reason":"bad_id","source":"a.csv","part":0,"position":17,"message":"…","record":"…","length":9}.
///
/// `record` is text. Bytes that are not UTF-8 are written as \udc80 to \udcff (Python's surrogateescape), so no byte is lost. A
/// record beyond the length limit is cut; `length` is its true size.
///
/// The first call of write or commit makes or empties the file. So letters of an earlier run are kept until something is read.
/// Both calls throw Error if the file cannot be made or written.
[[nodiscard]] std::unique_ptr<DeadLetterSink> make_dead_letter_file(const std::string& path);

/// Appends the object of a letter in that form, without its closing brace.
void append_dead_letter_fields(std::string& out, const DeadLetter& letter);

}  // namespace deltamatch::ingest
