#include <fmt/format.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>

#include <limits>
#include <utility>

#include "ingest/schema/avro_record.hpp"
#include "ingest/schema/proto_impl.hpp"

namespace deltamatch::ingest {
namespace {

namespace proto = google::protobuf;
using Field = proto::FieldDescriptor;

/// Writes messages. Their depth is bounded by the parser, which refuses deeper ones.
class Writer {
 public:
  explicit Writer(RecordText& out) : out_(out) {}

  void message(const proto::Message& message) {  // NOLINT(misc-no-recursion)
    if (out_.full() || known(message)) return;
    const proto::Descriptor& type = *message.GetDescriptor();
    const proto::Reflection& reflection = *message.GetReflection();
    out_.begin_object();
    for (int i = 0; i < type.field_count() && !out_.full(); ++i) {
      const Field& field = *type.field(i);
      if (field.has_presence() && !reflection.HasField(message, &field)) continue;
      out_.name(field.name());
      if (field.is_map())
        map(message, field);
      else if (field.is_repeated())
        list(message, field);
      else
        value(message, field);
    }
    out_.end_object();
  }

 private:
  static const Field* field(const proto::Message& message, int number) {
    return message.GetDescriptor()->FindFieldByNumber(number);
  }

  /// Writes a message whose type has a meaning of its own. Returns false if it has none.
  bool known(const proto::Message& message) {  // NOLINT(misc-no-recursion)
    const std::string& name = message.GetDescriptor()->full_name();
    const proto::Reflection& reflection = *message.GetReflection();
    if (name == "confluent.type.Decimal") {
      const Field* const value = field(message, 1);
      const Field* const scale = field(message, 3);
      if (value == nullptr || scale == nullptr || value->cpp_type() != Field::CPPTYPE_STRING ||
          scale->cpp_type() != Field::CPPTYPE_INT32 || value->is_repeated() || scale->is_repeated()) {
        return false;
      }
      std::string memory;
      out_.decimal(reflection.GetStringReference(message, value, &memory), reflection.GetInt32(message, scale));
      return true;
    }
    const bool of_library = message.GetDescriptor()->file()->name().starts_with("google/protobuf/");
    if (!of_library || !name.starts_with("google.protobuf.")) return false;
    const std::string_view own = std::string_view(name).substr(std::string_view("google.protobuf.").size());
    if (own == "Timestamp") return time(message);
    if (own == "Struct") return map(message, *field(message, 1)), true;
    if (own == "ListValue") return list(message, *field(message, 1)), true;
    if (own == "Value") return any_value(message), true;
    const bool wrapper = own == "StringValue" || own == "BytesValue" || own == "BoolValue" || own == "Int32Value" ||
                         own == "Int64Value" || own == "UInt32Value" || own == "UInt64Value" || own == "FloatValue" ||
                         own == "DoubleValue";
    if (wrapper) value(message, *field(message, 1));
    return wrapper;
  }

  bool time(const proto::Message& message) {
    const proto::Reflection& reflection = *message.GetReflection();
    const std::int64_t seconds = reflection.GetInt64(message, field(message, 1));
    const std::int32_t nanos = reflection.GetInt32(message, field(message, 2));
    Timestamp micros = 0;
    if (nanos < 0 || nanos > 999'999'999 || __builtin_mul_overflow(seconds, Timestamp{1'000'000}, &micros) ||
        __builtin_add_overflow(micros, Timestamp{nanos / 1000}, &micros)) {
      out_.text("beyond the range of times");
    } else {
      out_.time(micros);
    }
    return true;
  }

  void any_value(const proto::Message& message) {  // NOLINT(misc-no-recursion)
    const proto::OneofDescriptor* const kinds = message.GetDescriptor()->oneof_decl(0);
    const Field* const kind = message.GetReflection()->GetOneofFieldDescriptor(message, kinds);
    if (kind == nullptr || kind->cpp_type() == Field::CPPTYPE_ENUM) return out_.null();
    value(message, *kind);
  }

  void list(const proto::Message& message, const Field& field) {  // NOLINT(misc-no-recursion)
    const int size = message.GetReflection()->FieldSize(message, &field);
    out_.begin_array();
    for (int i = 0; i < size && !out_.full(); ++i) element(message, field, i);
    out_.end_array();
  }

  void map(const proto::Message& message, const Field& field) {  // NOLINT(misc-no-recursion)
    const proto::Reflection& reflection = *message.GetReflection();
    const int size = reflection.FieldSize(message, &field);
    out_.begin_object();
    for (int i = 0; i < size && !out_.full(); ++i) {
      const proto::Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      out_.name(key(entry, *entry.GetDescriptor()->map_key()));
      value(entry, *entry.GetDescriptor()->map_value());
    }
    out_.end_object();
  }

  static std::string key(const proto::Message& entry, const Field& field) {
    const proto::Reflection& reflection = *entry.GetReflection();
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        return fmt::format("{}", reflection.GetInt32(entry, &field));
      case Field::CPPTYPE_INT64:
        return fmt::format("{}", reflection.GetInt64(entry, &field));
      case Field::CPPTYPE_UINT32:
        return fmt::format("{}", reflection.GetUInt32(entry, &field));
      case Field::CPPTYPE_UINT64:
        return fmt::format("{}", reflection.GetUInt64(entry, &field));
      case Field::CPPTYPE_BOOL:
        return reflection.GetBool(entry, &field) ? "true" : "false";
      default:
        return reflection.GetString(entry, &field);
    }
  }

  void enumeration(const proto::EnumDescriptor& type, int number) {
    const proto::EnumValueDescriptor* const value = type.FindValueByNumber(number);
    value == nullptr ? out_.number(std::int64_t{number}) : out_.text(value->name());
  }

  void string(const Field& field, std::string_view value) {
    field.type() == Field::TYPE_BYTES ? out_.bytes(value) : out_.text(value);
  }

  void value(const proto::Message& message, const Field& field) {  // NOLINT(misc-no-recursion)
    const proto::Reflection& reflection = *message.GetReflection();
    std::string memory;
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        return out_.number(std::int64_t{reflection.GetInt32(message, &field)});
      case Field::CPPTYPE_INT64:
        return out_.number(std::int64_t{reflection.GetInt64(message, &field)});
      case Field::CPPTYPE_UINT32:
        return out_.number(std::uint64_t{reflection.GetUInt32(message, &field)});
      case Field::CPPTYPE_UINT64:
        return out_.number(std::uint64_t{reflection.GetUInt64(message, &field)});
      case Field::CPPTYPE_DOUBLE:
        return out_.real(reflection.GetDouble(message, &field));
      case Field::CPPTYPE_FLOAT:
        return out_.real(reflection.GetFloat(message, &field));
      case Field::CPPTYPE_BOOL:
        return out_.boolean(reflection.GetBool(message, &field));
      case Field::CPPTYPE_ENUM:
        return enumeration(*field.enum_type(), reflection.GetEnumValue(message, &field));
      case Field::CPPTYPE_STRING:
        return string(field, reflection.GetStringReference(message, &field, &memory));
      case Field::CPPTYPE_MESSAGE:
        return this->message(reflection.GetMessage(message, &field));
    }
  }

  void element(const proto::Message& message, const Field& field, int index) {  // NOLINT(misc-no-recursion)
    const proto::Reflection& reflection = *message.GetReflection();
    std::string memory;
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        return out_.number(std::int64_t{reflection.GetRepeatedInt32(message, &field, index)});
      case Field::CPPTYPE_INT64:
        return out_.number(std::int64_t{reflection.GetRepeatedInt64(message, &field, index)});
      case Field::CPPTYPE_UINT32:
        return out_.number(std::uint64_t{reflection.GetRepeatedUInt32(message, &field, index)});
      case Field::CPPTYPE_UINT64:
        return out_.number(std::uint64_t{reflection.GetRepeatedUInt64(message, &field, index)});
      case Field::CPPTYPE_DOUBLE:
        return out_.real(reflection.GetRepeatedDouble(message, &field, index));
      case Field::CPPTYPE_FLOAT:
        return out_.real(reflection.GetRepeatedFloat(message, &field, index));
      case Field::CPPTYPE_BOOL:
        return out_.boolean(reflection.GetRepeatedBool(message, &field, index));
      case Field::CPPTYPE_ENUM:
        return enumeration(*field.enum_type(), reflection.GetRepeatedEnumValue(message, &field, index));
      case Field::CPPTYPE_STRING:
        return string(field, reflection.GetRepeatedStringReference(message, &field, index, &memory));
      case Field::CPPTYPE_MESSAGE:
        return this->message(reflection.GetRepeatedMessage(message, &field, index));
    }
  }

  RecordText& out_;
};

}  // namespace

struct ProtoRecord::Memory {
  std::shared_ptr<const ProtoSchema> schema;  // outlives the message
  ProtoSchema::Message type = nullptr;
  std::unique_ptr<proto::Message> message;
};

ProtoRecord::ProtoRecord() : memory_(std::make_unique<Memory>()) {}
ProtoRecord::~ProtoRecord() = default;

bool ProtoRecord::read(const std::shared_ptr<const ProtoSchema>& schema, ProtoSchema::Message message, std::string_view bytes,
                       RecordText& out) {
  const proto::LogSilencer silence;
  if (memory_->schema != schema || memory_->type != message) {
    memory_->message.reset();  // before its schema
    memory_->schema = schema;
    memory_->type = message;
    memory_->message.reset(schema->impl().factory.GetPrototype(static_cast<const proto::Descriptor*>(message))->New());
  }
  out.clear(longest_text(bytes.size()));
  proto::Message& read = *memory_->message;
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      !read.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    fault_ = fmt::format("its {} bytes are no message {}", bytes.size(), read.GetDescriptor()->full_name());
    return false;
  }
  if (!read.IsInitialized()) {
    fault_ = fmt::format("it lacks required fields: {}", read.InitializationErrorString());
    return false;
  }
  Writer(out).message(read);
  constexpr std::size_t large = std::size_t{1} << 16;
  if (bytes.size() > large) memory_->type = nullptr;  // its memory is not kept
  if (!out.full()) return true;
  fault_ = "its few bytes stand for too many values";
  return false;
}

}  // namespace deltamatch::ingest
