#include "encoding/updates.hpp"

#include <fmt/format.h>

#include <bit>

namespace deltamatch::encoding {
namespace {

/// What a field is called in messages, or "" for one without a name.
std::string_view name_of(std::uint64_t bit) {
  switch (bit) {
    case field::key:
      return "a key";
    case field::text_key:
      return "a key that is a text";
    case field::attributes:
      return "attributes";
    default:
      return "";
  }
}

}  // namespace

std::optional<std::string> unreadable(const Head& head, std::uint64_t allowed) {
  const std::uint64_t wrong = head.fields & ~((head.edge() ? field::of_edge : field::of_vertex) | allowed);
  if (wrong == 0) return std::nullopt;
  if ((wrong & (field::of_edge | field::implied)) != 0)
    return fmt::format("the flags {:#04x} have no meaning here", head.fields);
  const std::uint64_t bit = std::uint64_t{1} << std::countr_zero(wrong);
  const std::string_view name = name_of(bit);
  if (name.empty()) return fmt::format("it has the field {:#x}, which this version does not read", bit);
  return fmt::format("it has {} (field {:#x}), which this version does not read", name, bit);
}

void put_plain(std::string& out, const Update& update) {
  const Head head = head_of(update);
  ByteWriter writer(out);
  writer.byte(plain_version_bits | static_cast<std::uint8_t>(head.kind));
  writer.number(head.fields);
  PlainForm form;
  put_fields(writer, form, head, update);
}

}  // namespace deltamatch::encoding
