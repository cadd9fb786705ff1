// Writes files as a C++ source, compressed with gzip, so that they become a part of the program.
//
//     embed OUT.cpp FOLDER FILE...
//
// OUT.cpp defines deltamatch::ingest::page_files() of ingest/service/http/page_files.hpp.
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

std::string type_of(std::string_view name) {
  const std::string_view ending = name.substr(name.rfind('.') + 1);
  if (ending == "html") return "text/html; charset=utf-8";
  if (ending == "js") return "text/javascript; charset=utf-8";
  if (ending == "css") return "text/css; charset=utf-8";
  if (ending == "svg") return "image/svg+xml";
  if (ending == "txt") return "text/plain; charset=utf-8";
  throw std::runtime_error("no type is known for " + std::string(name));
}

std::string compressed(const std::string& text) {
  constexpr int gzip_window = 15 + 16;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, gzip_window, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib cannot compress");
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int end = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (end != Z_STREAM_END) throw std::runtime_error("zlib cannot compress");
  return out;
}

/// FNV-1a, for the ETag.
std::string hash(std::string_view text) {
  std::uint64_t value = 14695981039346656037u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(value));
  return digits;
}

void write(const std::string& to, const std::string& folder, int count, char** names) {
  std::string arrays;
  std::string table;
  for (int i = 0; i < count; ++i) {
    const std::string name = names[i];
    std::ifstream in(folder + '/' + name, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + folder + '/' + name);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const std::string bytes = compressed(text);
    arrays += "constexpr unsigned char file" + std::to_string(i) + "[] = {";
    for (std::size_t at = 0; at < bytes.size(); ++at)
      arrays += (at % 24 == 0 ? "\n" : "") + std::to_string(static_cast<unsigned char>(bytes[at])) + ',';
    arrays += "};\n";
    table += "    {\"/" + (name == "index.html" ? "" : name) + "\", \"" + type_of(name) + "\", \"\\\"" + hash(text) +
             "\\\"\", file" + std::to_string(i) + ", " + std::to_string(text.size()) + "},\n";
  }
  std::ofstream out(to, std::ios::binary | std::ios::trunc);
  out << "// Made by page/embed.cpp.\n#include \"ingest/service/http/page_files.hpp\"\n\nnamespace deltamatch::ingest "
         "{\nnamespace {\n\n"
      << arrays << "\nconstexpr PageFile files[] = {\n"
      << table << "};\n\n}  // namespace\n\nstd::span<const PageFile> page_files() noexcept { return files; }\n\n"
      << "}  // namespace deltamatch::ingest\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + to);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count < 4) throw std::runtime_error("usage: embed OUT.cpp FOLDER FILE...");
    write(arguments[1], arguments[2], count - 3, arguments + 3);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "embed: %s\n", error.what());
    return 1;
  }
}
