// The structures of the Arrow C data and stream interfaces, as their specification defines them
// (https://arrow.apache.org/docs/format/CDataInterface.html). They are an ABI: their members, order and types never change.
#pragma once

#include <cstdint>

extern "C" {

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
constexpr std::int64_t ARROW_FLAG_DICTIONARY_ORDERED = 1;
constexpr std::int64_t ARROW_FLAG_NULLABLE = 2;
constexpr std::int64_t ARROW_FLAG_MAP_KEYS_SORTED = 4;

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
#endif

}  // extern "C"

namespace deltamatch::ingest {

/// Owns a structure of Arrow's, and releases it.
template <class T>
class ArrowOwner {
 public:
  ArrowOwner() noexcept = default;
  /// Takes the structure over. The one it came from is empty then, as the interface asks for.
  explicit ArrowOwner(T* from) noexcept : held_(*from) { from->release = nullptr; }
  ArrowOwner(ArrowOwner&& other) noexcept : held_(other.held_) { other.held_.release = nullptr; }
  ArrowOwner& operator=(ArrowOwner&& other) noexcept {
    if (this == &other) return *this;
    reset();
    held_ = other.held_;
    other.held_.release = nullptr;
    return *this;
  }
  ArrowOwner(const ArrowOwner&) = delete;
  ArrowOwner& operator=(const ArrowOwner&) = delete;
  ~ArrowOwner() { reset(); }

  void reset() noexcept {
    if (held_.release != nullptr) held_.release(&held_);
    held_.release = nullptr;
  }
  /// Whether there is a structure.
  explicit operator bool() const noexcept { return held_.release != nullptr; }
  [[nodiscard]] T* get() noexcept { return &held_; }
  [[nodiscard]] const T& operator*() const noexcept { return held_; }
  [[nodiscard]] T* operator->() noexcept { return &held_; }
  [[nodiscard]] const T* operator->() const noexcept { return &held_; }

 private:
  T held_{};
};

}  // namespace deltamatch::ingest
