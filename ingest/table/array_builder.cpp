#include "ingest/table/array_builder.hpp"

#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

namespace deltamatch::ingest {

namespace arrow_type {
std::string decimal(int precision, int scale) { return "d:" + std::to_string(precision) + "," + std::to_string(scale); }
}  // namespace arrow_type

namespace {

bool has_offsets(const ArrowField& field) noexcept {
  return field.format == arrow_type::text || field.format == arrow_type::list;
}

void append_bit(std::vector<std::uint8_t>& bits, std::int64_t at, bool value) {
  if (at % 8 == 0) bits.push_back(0);
  if (value) bits.back() = static_cast<std::uint8_t>(bits.back() | 1U << (at % 8));
}

}  // namespace

ArrayBuilder::ArrayBuilder(ArrowField field) : field_(std::move(field)) {
  for (const ArrowField& child : field_.children) children_.emplace_back(child);
  if (has_offsets(field_)) put(std::int32_t{0});
}

template <class T>
void ArrayBuilder::put(T value) {
  const std::size_t size = column_.values.size();
  column_.values.resize(size + sizeof value);
  std::memcpy(column_.values.data() + size, &value, sizeof value);
}

/// Counts a value. The bits are made with the first null.
void ArrayBuilder::valid(bool value) {
  if (!value && column_.nulls++ == 0) {
    column_.validity.assign(static_cast<std::size_t>((column_.length + 7) / 8), 0xff);
    const auto used = static_cast<unsigned>(column_.length % 8);
    if (used != 0) column_.validity.back() = static_cast<std::uint8_t>((1U << used) - 1);
  }
  if (column_.nulls != 0) append_bit(column_.validity, column_.length, value);
  ++column_.length;
}

void ArrayBuilder::null() {
  const std::string& format = field_.format;
  if (format == arrow_type::boolean)
    append_bit(column_.values, column_.length, false);
  else if (format == arrow_type::int32)
    put(std::int32_t{0});
  else if (has_offsets(field_))
    put(static_cast<std::int32_t>(format == arrow_type::text ? column_.bytes.size()
                                                             : static_cast<std::size_t>(children_[0].length())));
  else if (format.starts_with("d:"))
    put(Int128{0});
  else if (format != arrow_type::structure)
    put(std::int64_t{0});
  if (format == arrow_type::structure) {
    for (ArrayBuilder& child : children_) child.null();
  }
  valid(false);
}

void ArrayBuilder::integer(std::int64_t value) {
  if (field_.format == arrow_type::int32)
    put(static_cast<std::int32_t>(value));
  else
    put(value);
  valid(true);
}

void ArrayBuilder::real(double value) {
  put(value);
  valid(true);
}

void ArrayBuilder::boolean(bool value) {
  append_bit(column_.values, column_.length, value);
  valid(true);
}

void ArrayBuilder::text(std::string_view value) {
  column_.bytes.insert(column_.bytes.end(), value.begin(), value.end());
  if (column_.bytes.size() > std::numeric_limits<std::int32_t>::max()) throw std::length_error("a chunk of texts beyond 2 GiB");
  put(static_cast<std::int32_t>(column_.bytes.size()));
  valid(true);
}

void ArrayBuilder::decimal(Int128 digits) {
  put(digits);
  valid(true);
}

void ArrayBuilder::end_struct() { valid(true); }

void ArrayBuilder::end_list() {
  put(static_cast<std::int32_t>(children_[0].length()));
  valid(true);
}

std::size_t ArrayBuilder::text_bytes() const noexcept {
  std::size_t bytes = column_.bytes.size();
  for (const ArrayBuilder& child : children_) bytes += child.text_bytes();
  return bytes;
}

ArrowColumn ArrayBuilder::take() {
  ArrowColumn taken = std::exchange(column_, {});
  for (ArrayBuilder& child : children_) taken.children.push_back(child.take());
  if (has_offsets(field_)) put(std::int32_t{0});
  return taken;
}

struct ArrowTable::Data {
  ArrowField rows;
  std::vector<ArrowColumn> chunks;
  std::uint64_t count = 0;
};

ArrowTable::ArrowTable(std::vector<ArrowField> columns, std::vector<ArrowColumn> chunks) {
  auto data = std::make_shared<Data>();
  data->rows = {.format = arrow_type::structure, .name = "", .children = std::move(columns), .nullable = false};
  data->chunks = std::move(chunks);
  for (const ArrowColumn& chunk : data->chunks) data->count += static_cast<std::uint64_t>(chunk.length);
  data_ = std::move(data);
}

const std::vector<ArrowField>& ArrowTable::columns() const noexcept { return data_->rows.children; }
std::uint64_t ArrowTable::rows() const noexcept { return data_->count; }
const std::vector<ArrowColumn>& ArrowTable::chunks() const noexcept { return data_->chunks; }

namespace {

/// What an exported schema owns.
struct SchemaParts {
  std::string format;
  std::string name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
};

void release_schema(ArrowSchema* schema) {
  auto* parts = static_cast<SchemaParts*>(schema->private_data);
  for (ArrowSchema& child : parts->children) {
    if (child.release != nullptr) child.release(&child);
  }
  delete parts;
  schema->release = nullptr;
}

void fill(const ArrowField& field, ArrowSchema* out) {
  auto parts = std::make_unique<SchemaParts>();
  parts->format = field.format;
  parts->name = field.name;
  parts->children.resize(field.children.size());
  try {
    for (std::size_t c = 0; c < field.children.size(); ++c) fill(field.children[c], &parts->children[c]);
    for (ArrowSchema& child : parts->children) parts->pointers.push_back(&child);
  } catch (...) {
    for (ArrowSchema& child : parts->children) {
      if (child.release != nullptr) child.release(&child);
    }
    throw;
  }
  *out = {.format = parts->format.c_str(),
          .name = parts->name.c_str(),
          .metadata = nullptr,
          .flags = field.nullable ? ARROW_FLAG_NULLABLE : 0,
          .n_children = static_cast<std::int64_t>(parts->pointers.size()),
          .children = parts->pointers.data(),
          .dictionary = nullptr,
          .release = release_schema,
          .private_data = parts.get()};
  static_cast<void>(parts.release());
}

/// What an exported array owns: its share of the table, and the lists of buffers and children.
struct ArrayParts {
  std::shared_ptr<const void> table;
  std::vector<const void*> buffers;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
};

void release_array(ArrowArray* array) {
  auto* parts = static_cast<ArrayParts*>(array->private_data);
  for (ArrowArray& child : parts->children) {
    if (child.release != nullptr) child.release(&child);
  }
  delete parts;
  array->release = nullptr;
}

void fill(const ArrowField& field, const ArrowColumn& column, const std::shared_ptr<const void>& table, ArrowArray* out) {
  auto parts = std::make_unique<ArrayParts>();
  parts->table = table;
  parts->buffers.push_back(column.validity.empty() ? nullptr : column.validity.data());
  if (field.format != arrow_type::structure) parts->buffers.push_back(column.values.data());
  if (field.format == arrow_type::text) parts->buffers.push_back(column.bytes.empty() ? "" : column.bytes.data());
  parts->children.resize(column.children.size());
  try {
    for (std::size_t c = 0; c < column.children.size(); ++c)
      fill(field.children[c], column.children[c], table, &parts->children[c]);
    for (ArrowArray& child : parts->children) parts->pointers.push_back(&child);
  } catch (...) {
    for (ArrowArray& child : parts->children) {
      if (child.release != nullptr) child.release(&child);
    }
    throw;
  }
  *out = {.length = column.length,
          .null_count = column.nulls,
          .offset = 0,
          .n_buffers = static_cast<std::int64_t>(parts->buffers.size()),
          .n_children = static_cast<std::int64_t>(parts->pointers.size()),
          .buffers = parts->buffers.data(),
          .children = parts->pointers.data(),
          .dictionary = nullptr,
          .release = release_array,
          .private_data = parts.get()};
  static_cast<void>(parts.release());
}

/// A stream over the chunks of a table.
struct StreamParts {
  ArrowTable table;
  const ArrowField* rows;
  const std::vector<ArrowColumn>* chunks;
  std::shared_ptr<const void> keeps;
  std::size_t next = 0;
};

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  try {
    static_cast<StreamParts*>(stream->private_data)->table.export_schema(out);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  auto& parts = *static_cast<StreamParts*>(stream->private_data);
  try {
    if (parts.next == parts.chunks->size()) {
      *out = {};
      return 0;
    }
    fill(*parts.rows, (*parts.chunks)[parts.next], parts.keeps, out);
    ++parts.next;
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

}  // namespace

void ArrowTable::export_schema(ArrowSchema* out) const { fill(data_->rows, out); }

void ArrowTable::export_stream(ArrowArrayStream* out) const {
  auto parts = std::make_unique<StreamParts>(StreamParts{*this, &data_->rows, &data_->chunks, data_});
  *out = {.get_schema = stream_schema,
          .get_next = stream_next,
          .get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; },
          .release =
              [](ArrowArrayStream* stream) {
                delete static_cast<StreamParts*>(stream->private_data);
                stream->release = nullptr;
              },
          .private_data = parts.release()};
}

}  // namespace deltamatch::ingest
