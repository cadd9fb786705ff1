// Stands for proto_schema.cpp and proto_record.cpp in a build without libprotobuf.
#include "ingest/schema/proto_schema.hpp"

namespace deltamatch::ingest {

struct ProtoSchema::Impl {};
struct ProtoRecord::Memory {};

bool reads_protobuf() noexcept { return false; }

std::variant<std::shared_ptr<const ProtoSchema>, std::string> ProtoSchema::read(
    std::string_view /*text*/, std::span<const std::pair<std::string, std::string>> /*imports*/) {
  return std::string("this build reads no Protobuf; configure it with -DDELTAMATCH_PROTOBUF=ON");
}

ProtoSchema::ProtoSchema(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProtoSchema::~ProtoSchema() = default;
ProtoSchema::Message ProtoSchema::at(std::span<const std::int64_t> /*place*/) const { return nullptr; }
ProtoSchema::Message ProtoSchema::named(std::string_view /*name*/) const { return nullptr; }
std::string ProtoSchema::names() const { return {}; }

ProtoRecord::ProtoRecord() = default;
ProtoRecord::~ProtoRecord() = default;
bool ProtoRecord::read(const std::shared_ptr<const ProtoSchema>& /*schema*/, ProtoSchema::Message /*message*/,
                       std::string_view /*bytes*/, RecordText& /*out*/) {
  return false;
}

}  // namespace deltamatch::ingest
