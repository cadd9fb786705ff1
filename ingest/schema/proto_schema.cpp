#include "ingest/schema/proto_schema.hpp"

#include <fmt/format.h>
#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <map>

#include "ingest/schema/proto_impl.hpp"

namespace deltamatch::ingest {
namespace {

namespace proto = google::protobuf;

constexpr const char* file_name = "the schema";
constexpr std::ptrdiff_t deepest = 64;  // braces within braces: the parser recurses

/// What the files of Confluent's own types declare, which its registry adds by itself. Their options say nothing about the
/// values of a record.
constexpr std::pair<std::string_view, std::string_view> known_imports[] = {
    {"confluent/meta.proto", R"(syntax = "proto3";
package confluent;
import "google/protobuf/descriptor.proto";
message Meta {
  string doc = 1;
  map<string, string> params = 2;
  repeated string tags = 3;
}
extend google.protobuf.FileOptions { Meta file_meta = 1088; }
extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }
)"},
    {"confluent/type/decimal.proto", R"(syntax = "proto3";
package confluent.type;
message Decimal {
  bytes value = 1;
  uint32 precision = 2;
  int32 scale = 3;
}
)"}};

/// How deep braces nest. Those in texts and comments count too: no real schema has that many.
std::ptrdiff_t depth_of(std::string_view text) noexcept {
  std::ptrdiff_t depth = 0;
  std::ptrdiff_t most = 0;
  for (const char c : text) {
    if (c == '{' || c == '<' || c == '[') most = std::max(most, ++depth);
    if (c == '}' || c == '>' || c == ']') --depth;
  }
  return most;
}

/// The files of one schema, in memory.
class Files final : public proto::compiler::SourceTree {
 public:
  Files(std::string_view text, std::span<const std::pair<std::string, std::string>> imports) {
    for (const auto& [name, known] : known_imports) texts_[std::string(name)] = known;
    for (const auto& [name, import] : imports) {
      if (!name.starts_with("google/protobuf/")) texts_[name] = import;  // those are known, and their types have meanings
    }
    texts_[file_name] = text;
  }

  proto::io::ZeroCopyInputStream* Open(const std::string& name) override {
    const auto found = texts_.find(name);
    if (found == texts_.end()) return nullptr;
    return new proto::io::ArrayInputStream(found->second.data(), static_cast<int>(found->second.size()));
  }
  std::string GetLastErrorMessage() override { return "the registry names no such reference"; }

  [[nodiscard]] bool too_deep() const {
    return std::ranges::any_of(texts_, [](const auto& file) { return depth_of(file.second) > deepest; });
  }
  [[nodiscard]] bool too_long() const {
    constexpr std::size_t longest = std::size_t{64} << 20;
    return std::ranges::any_of(texts_, [](const auto& file) { return file.second.size() > longest; });
  }

 private:
  std::map<std::string, std::string> texts_;
};

/// Keeps the first error.
class Errors final : public proto::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string& file, int line, int /*column*/, const std::string& message) override {
    if (!first.empty()) return;
    const std::string where = line < 0 ? std::string() : fmt::format("line {}: ", line + 1);
    first = fmt::format("{}{}{}", file == file_name ? "" : file + ", ", where, message);
  }
  std::string first;
};

}  // namespace

bool reads_protobuf() noexcept { return true; }

std::variant<std::shared_ptr<const ProtoSchema>, std::string> ProtoSchema::read(
    std::string_view text, std::span<const std::pair<std::string, std::string>> imports) {
  const proto::LogSilencer silence;
  Files files(text, imports);
  if (files.too_deep()) return std::string("it nests too deep");
  if (files.too_long()) return std::string("it is longer than 64 MiB");
  Errors errors;
  proto::DescriptorPoolDatabase known(*proto::DescriptorPool::generated_pool());
  proto::compiler::SourceTreeDescriptorDatabase database(&files, &known);
  database.RecordErrorsTo(&errors);
  proto::DescriptorPool pool(&database, database.GetValidationErrorCollector());
  const proto::FileDescriptor* const file = pool.FindFileByName(file_name);
  if (file == nullptr) return errors.first.empty() ? std::string("it cannot be read") : errors.first;
  auto impl = std::make_unique<Impl>();
  if (!impl->copy(*file)) return std::string("it cannot be read");
  return std::make_shared<const ProtoSchema>(std::move(impl));
}

/// Copies a file and those that it imports, so that the database need not live.
bool ProtoSchema::Impl::copy(const proto::FileDescriptor& from) {  // NOLINT(misc-no-recursion): as deep as imports
  if (pool.FindFileByName(from.name()) != nullptr) return true;
  for (int i = 0; i < from.dependency_count(); ++i) {
    if (!copy(*from.dependency(i))) return false;
  }
  proto::FileDescriptorProto described;
  from.CopyTo(&described);
  file = pool.BuildFile(described);
  return file != nullptr;
}

ProtoSchema::ProtoSchema(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProtoSchema::~ProtoSchema() = default;

ProtoSchema::Message ProtoSchema::at(std::span<const std::int64_t> place) const {
  const proto::Descriptor* message = nullptr;
  for (const std::int64_t index : place) {
    const int count = message == nullptr ? impl_->file->message_type_count() : message->nested_type_count();
    const proto::Descriptor* found = nullptr;
    std::int64_t left = index;
    for (int i = 0; i < count && left >= 0; ++i) {
      const proto::Descriptor* const one = message == nullptr ? impl_->file->message_type(i) : message->nested_type(i);
      if (!one->options().map_entry() && left-- == 0) found = one;
    }
    if (found == nullptr) return nullptr;
    message = found;
  }
  return message;
}

ProtoSchema::Message ProtoSchema::named(std::string_view name) const {
  const proto::FileDescriptor& file = *impl_->file;
  if (name.empty()) return file.message_type_count() == 1 ? file.message_type(0) : nullptr;
  const std::string full(name);
  if (const proto::Descriptor* const found = impl_->pool.FindMessageTypeByName(full)) return found;
  return file.package().empty() ? nullptr : impl_->pool.FindMessageTypeByName(file.package() + "." + full);
}

std::string ProtoSchema::names() const {
  std::string names;
  for (int i = 0; i < impl_->file->message_type_count(); ++i) {
    names += (names.empty() ? "" : ", ") + impl_->file->message_type(i)->name();
  }
  return names;
}

}  // namespace deltamatch::ingest
