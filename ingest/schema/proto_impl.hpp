// What a Protobuf schema consists of. Only the files that use libprotobuf include it.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/stubs/logging.h>

#include "ingest/schema/proto_schema.hpp"

namespace deltamatch::ingest {

struct ProtoSchema::Impl {
  google::protobuf::DescriptorPool pool;
  mutable google::protobuf::DynamicMessageFactory factory{&pool};  // threads may use it at once
  const google::protobuf::FileDescriptor* file = nullptr;

  bool copy(const google::protobuf::FileDescriptor& from);
};

}  // namespace deltamatch::ingest
