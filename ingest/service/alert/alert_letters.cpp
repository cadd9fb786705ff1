#include "ingest/service/alert/alert_letters.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "deltamatch/error.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest {
namespace {

std::optional<std::uint64_t> parse_position(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

AlertLetters::AlertLetters(std::string sink, std::filesystem::path path)
    : beginning_(R"({"v":1,"sink":)"), path_(std::move(path)), files_(path_) {
  append_json_string(beginning_, sink);
  beginning_ += R"(,"batch":)";
}

std::string AlertLetters::recover(std::string_view position) {
  file_ = {};
  length_ = 0;
  held_.clear();
  if (path_.empty() || !files_.has(0)) return {};
  open();
  const std::optional<std::uint64_t> noted = parse_position(position);
  const std::uint64_t from = noted && *noted <= length_ && begins_line(*noted) ? *noted : 0;
  read(from);
  return std::to_string(from);
}

/// Opens the file that the path names now.
void AlertLetters::open() {
  struct stat named{};
  struct stat opened{};
  const bool in_place = file_ && ::stat(path_.c_str(), &named) == 0 && ::fstat(file_.get(), &opened) == 0 &&
                        named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
  if (!in_place) {
    file_ = {};
    file_ = files_.open(0);
    files_.sync_folder();
  }
  length_ = size();
}

std::uint64_t AlertLetters::size() const {
  struct stat status{};
  if (::fstat(file_.get(), &status) != 0) fail_file(path_, "cannot be examined", errno);
  if (!S_ISREG(status.st_mode)) throw Error(path_.string(), "is not a regular file", "name a regular file for dead letters");
  return static_cast<std::uint64_t>(status.st_size);
}

bool AlertLetters::begins_line(std::uint64_t at) const {
  if (at == 0) return true;
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(at - 1));
  return file.get() == '\n';
}

void AlertLetters::read(std::uint64_t from) {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(from));
  for (std::string line; std::getline(file, line); from += line.size() + 1) {
    if (!file.eof()) {
      take(line, from);
    } else if (line.starts_with(beginning_) || beginning_.starts_with(line)) {
      if (::ftruncate(file_.get(), static_cast<off_t>(from)) != 0) fail_file(path_, "cannot be truncated", errno);
      length_ = from;
    }
  }
  if (file.bad()) fail_file(path_, "cannot be read", errno);
}

void AlertLetters::take(std::string_view line, std::uint64_t at) {
  if (!line.starts_with(beginning_)) return;
  const auto letter = nlohmann::json::parse(line, nullptr, false);
  if (!letter.is_object() || !letter.contains("part")) return;
  const auto& batch = letter.at("batch");
  const auto& part = letter.at("part");
  if (!batch.is_number_unsigned() || !part.is_number_unsigned()) return;
  Held& held = held_[{batch.get<std::uint64_t>(), part.get<std::uint64_t>()}];
  if (held.alerts++ == 0) held.begin = at;
}

void AlertLetters::write(const GivenUp& what, std::span<const std::string_view> alerts) {
  if (path_.empty()) return;
  open();
  std::string text;
  if (!begins_line(length_)) text += '\n';
  std::string head = beginning_;
  append_number(head, what.batch);
  head += R"(,"part":)";
  append_number(head, what.part);
  head += R"(,"tries":)";
  append_number(head, what.tries);
  head += R"(,"reason":)";
  append_json_string(head, what.reason);
  head += R"(,"alert":)";
  const auto held = held_.find({what.batch, what.part});
  for (std::size_t i = held == held_.end() ? 0 : held->second.alerts; i < alerts.size(); ++i) {
    text += head;
    text += alerts[i];
    text += "}\n";
  }
  append(text, length_);
  length_ += text.size();
}

/// Writes all of the text to disk, or nothing.
void AlertLetters::append(const std::string& text, std::uint64_t at) const {
  int code = 0;
  for (std::size_t done = 0; done < text.size() && code == 0;) {
    const ssize_t wrote = ::pwrite(file_.get(), text.data() + done, text.size() - done, static_cast<off_t>(at + done));
    if (wrote >= 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno != EINTR) {
      code = errno;
    }
  }
  if (code == 0 && ::fdatasync(file_.get()) != 0) code = errno;
  if (code == 0) return;
  static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(at)) == 0);
  fail_file(path_, "cannot be written", code);
}

std::string AlertLetters::settle(std::uint64_t batch) {
  held_.erase(held_.begin(), held_.upper_bound({batch, UINT64_MAX}));
  if (!file_) return {};
  std::uint64_t end = length_;
  for (const auto& [part, held] : held_) end = std::min(end, held.begin);
  return std::to_string(end);
}

}  // namespace deltamatch::ingest
