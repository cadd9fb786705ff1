// Makes librdkafka wait by the steady clock. librdkafka 2.0 waits for a time of the wall clock. If that clock steps back by an
// hour during a wait of 100 ms, its threads stop for an hour, and so does a commit. It computes the time with timespec_get and
// waits with cnd_timedwait. Both are replaced here and wait by the steady clock. A program's own functions precede those of the
// C library, for shared libraries as well.
#pragma once

namespace deltamatch::ingest::kafka {

/// Whether librdkafka calls these functions. It does not if a program links this library and hides its symbols.
[[nodiscard]] bool waits_are_steady() noexcept;

}  // namespace deltamatch::ingest::kafka
