#include "ingest/source/byte_buffer.hpp"

#include <cstring>
#include <utility>

namespace deltamatch::ingest {
namespace {

constexpr std::size_t chunk = std::size_t{1} << 18;

}  // namespace

ByteBuffer::ByteBuffer(std::unique_ptr<ByteSource> bytes) : bytes_(std::move(bytes)), buffer_(chunk + Record::padding) {}

bool ByteBuffer::more() {
  if (ended_) return false;
  const std::size_t held = end_ - begin_;
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, held);
    begin_ = 0;
    end_ = held;
  }
  std::size_t room = buffer_.size() - Record::padding - end_;
  if (room < chunk / 2) {
    room += buffer_.size();
    buffer_.resize(buffer_.size() * 2);
  }
  const std::size_t got = bytes_->read(std::span(buffer_).subspan(end_, room));
  end_ += got;
  ended_ = got == 0;
  return !ended_;
}

bool ByteBuffer::begins_with(std::string_view prefix) {
  while (held().size() < prefix.size() && prefix.starts_with(held()) && more()) {
  }
  return held().starts_with(prefix);
}

}  // namespace deltamatch::ingest
