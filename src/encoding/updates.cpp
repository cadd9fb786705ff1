#include "encoding/updates.hpp"

#include <fmt/format.h>

#include <bit>

namespace deltamatch::encoding {
std::optional<std::string> unreadable(const Head& head, std::uint64_t allowed) {
  allowed |= head.edge() ? field::of_edge : field::of_vertex;
  if (head.insertion()) allowed |= field::attributes;
  if (head.kind == UpdateKind::insert_vertex) allowed |= field::label_changes;
  if (head.has(field::key) && !head.insertion()) allowed |= field::by_key;
  if (head.has(field::by_key)) allowed &= ~field::not_by_key;
  const std::uint64_t wrong = head.fields & ~allowed;
  if ((wrong & field::known) != 0 || (head.has(field::text_key) && !head.has(field::key)))
    return fmt::format("the flags {:#04x} have no meaning here", head.fields);
  if (wrong == 0) return std::nullopt;
  return fmt::format("it has the field {:#x}, which this version does not read", std::uint64_t{1} << std::countr_zero(wrong));
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
