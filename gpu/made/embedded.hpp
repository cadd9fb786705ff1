// The headers of kernels that are made at run time, as text. embed.cmake writes the definitions. Internal to gpu.
#pragma once

#include <span>

namespace deltamatch::gpu {

struct EmbeddedHeader {
  const char* name;
  const char* text;
};

[[nodiscard]] std::span<const EmbeddedHeader> embedded_headers() noexcept;

}  // namespace deltamatch::gpu
