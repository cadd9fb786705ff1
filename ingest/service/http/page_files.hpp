// The files of the live page, which are a part of the program (page/README.md).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/service/http/http_route.hpp"

namespace deltamatch::ingest {

struct PageFile {
  std::string_view path;  ///< "/" or "/app.js"
  std::string_view type;  ///< Content-Type
  std::string_view etag;  ///< with its quotes
  std::span<const unsigned char> gzip;
  std::size_t size = 0;  ///< when unpacked
};

/// All files, in memory that lives as long as the program.
[[nodiscard]] std::span<const PageFile> page_files() noexcept;
/// The file with this path, or null.
[[nodiscard]] const PageFile* page_file(std::string_view path) noexcept;

/// The bytes of the file. Throws Error if memory is damaged.
[[nodiscard]] std::string unpacked(const PageFile& file);

/// Whether the value of an Accept-Encoding header allows gzip.
[[nodiscard]] bool accepts_gzip(std::string_view accept_encoding);
/// Whether the value of an If-None-Match header names the file's content.
[[nodiscard]] bool is_known(const PageFile& file, std::string_view if_none_match);

/// What browsers may do with the page: run its own script and style, ask its own service, and nothing else.
inline constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; base-uri "
    "'none'; frame-ancestors 'none'";

/// GET of each file.
[[nodiscard]] std::vector<HttpRoute> page_routes();

}  // namespace deltamatch::ingest
