#include "ingest/service/http/page_files.hpp"

#include <zlib.h>

#include <algorithm>
#include <cctype>

#include "deltamatch/error.hpp"

namespace deltamatch::ingest {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Whether any part of a list with commas satisfies `holds`.
template <class Holds>
bool any_part(std::string_view list, Holds holds) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (holds(trimmed(list.substr(0, end)))) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

HttpReply reply_with(const PageFile& file, const HttpRequest& request) {
  HttpReply reply{200, {}, std::string(file.type), {}, {}};
  reply.headers = {{"ETag", std::string(file.etag)},
                   {"Cache-Control", "no-cache"},  // browsers ask each time whether it has changed
                   {"Vary", "Accept-Encoding"},
                   {"Content-Security-Policy", std::string(page_policy)},
                   {"X-Frame-Options", "DENY"},
                   {"Referrer-Policy", "no-referrer"},
                   {"Cross-Origin-Opener-Policy", "same-origin"}};
  if (is_known(file, request.header("if-none-match"))) {
    reply.status = 304;
  } else if (accepts_gzip(request.header("accept-encoding"))) {
    reply.body.assign(file.gzip.begin(), file.gzip.end());
    reply.headers.emplace_back("Content-Encoding", "gzip");
  } else {
    reply.body = unpacked(file);
  }
  return reply;
}

}  // namespace

const PageFile* page_file(std::string_view path) noexcept {
  const auto found = std::ranges::find(page_files(), path, &PageFile::path);
  return found == page_files().end() ? nullptr : &*found;
}

bool accepts_gzip(std::string_view accept_encoding) {
  return any_part(accept_encoding, [](std::string_view part) {
    const std::size_t end = std::min(part.find(';'), part.size());
    const std::string_view weight = end < part.size() ? trimmed(part.substr(end + 1)) : std::string_view();
    // "q=0" refuses it, with any number of zeros behind the point.
    const bool refuses = weight.starts_with("q=0") && weight.find_first_not_of("0.", 2) == std::string_view::npos;
    return same_word(trimmed(part.substr(0, end)), "gzip") && !refuses;
  });
}

bool is_known(const PageFile& file, std::string_view if_none_match) {
  return any_part(if_none_match, [&](std::string_view part) {
    if (part.starts_with("W/")) part.remove_prefix(2);
    return part == "*" || part == file.etag;
  });
}

std::string unpacked(const PageFile& file) {
  constexpr int gzip_window = 15 + 16;
  std::string out(file.size, '\0');
  std::string in(file.gzip.begin(), file.gzip.end());
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK) throw Error("page", "zlib cannot unpack");
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int end = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (end != Z_STREAM_END || stream.avail_out != 0) throw Error("page", "the page in the program is damaged");
  return out;
}

std::vector<HttpRoute> page_routes() {
  std::vector<HttpRoute> routes;
  for (const PageFile& file : page_files()) {
    HttpRoute& route = routes.emplace_back(HttpRoute{"GET", std::string(file.path), HttpThreads::pages});
    route.handler = [&file](const HttpRequest& request) { return reply_with(file, request); };
    route.hidden = true;
  }
  return routes;
}

}  // namespace deltamatch::ingest
