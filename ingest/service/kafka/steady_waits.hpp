// librdkafka 2.0 waits until a time of the wall clock. If that clock steps back by an hour while it waits for 100 ms, its
// threads stand still for an hour, and a commit with them. It reckons that time with timespec_get and waits with cnd_timedwait.
// Both are defined here, too, and wait by the steady clock: a program's own functions come before those of the C library, for
// shared libraries as well.
#pragma once

namespace deltamatch::ingest::kafka {

/// Whether librdkafka calls these functions. A program that links this library and hides its symbols has others.
[[nodiscard]] bool waits_are_steady() noexcept;

}  // namespace deltamatch::ingest::kafka
