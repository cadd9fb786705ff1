// The model and the declared attributes of a graph as bytes. Binary streams and snapshots hold them so.
//
//   model       the number of EdgeModel
//   edges       the number of their attributes, and these
//   vertices    likewise
//   attribute   its name as a text, the number of its kind (AttributeType::Kind), its scale
//
// The functions are templates over what is written to or read from, as those of encoding/updates.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "deltamatch/attribute.hpp"

namespace deltamatch::encoding {

template <class Out>
void put_schema(Out& out, const Schema& schema) {
  out.number(static_cast<std::uint64_t>(schema.model));
  for (const std::vector<Attribute>* attributes : {&schema.edges, &schema.vertices}) {
    out.number(attributes->size());
    for (const Attribute& attribute : *attributes) {
      out.text(attribute.name);
      out.number(static_cast<std::uint64_t>(attribute.type.kind));
      out.number(attribute.type.scale);
    }
  }
}

/// Fails on numbers that mean nothing. The caller checks the declarations (validate).
template <class In>
Schema take_schema(In& in) {
  const auto at_most = [&in](std::uint64_t most) {
    const std::uint64_t number = in.number();
    if (number <= most) return number;
    in.fail();
    return std::uint64_t{0};
  };
  Schema schema;
  schema.model = static_cast<EdgeModel>(at_most(static_cast<std::uint64_t>(EdgeModel::events)));
  for (std::vector<Attribute>* attributes : {&schema.edges, &schema.vertices}) {
    attributes->resize(static_cast<std::size_t>(at_most(max_attributes)));
    for (Attribute& attribute : *attributes) {
      attribute.name = std::string(in.text());
      attribute.type.kind = static_cast<AttributeType::Kind>(at_most(static_cast<std::uint64_t>(AttributeType::Kind::time)));
      attribute.type.scale = static_cast<std::uint8_t>(at_most(UINT8_MAX));
    }
  }
  return schema;
}

}  // namespace deltamatch::encoding
