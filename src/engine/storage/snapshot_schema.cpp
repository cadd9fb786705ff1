#include "engine/storage/snapshot_schema.hpp"

#include "deltamatch/error.hpp"
#include "encoding/schema.hpp"

namespace deltamatch::engine {

void write_schema(SectionWriter& out, const Schema& schema) {
  out.begin(Section::schema);
  encoding::put_schema(out, schema);
}

Schema read_schema(SectionReader& in) {
  in.begin(Section::schema);
  Schema schema = encoding::take_schema(in);
  try {
    validate(schema);
  } catch (const Error& error) {
    in.refuse(error.what());
  }
  return schema;
}

}  // namespace deltamatch::engine
