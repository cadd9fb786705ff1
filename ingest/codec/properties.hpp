// What records say beside ends, labels and times: the key of an edge, and attributes.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deltamatch/update.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/columns.hpp"
#include "ingest/codec/doubts.hpp"
#include "ingest/codec/scalar.hpp"
#include "ingest/codec/values.hpp"

namespace deltamatch::ingest {

/// Where the values of a record are found.
class PropertySource {
 public:
  virtual ~PropertySource() = default;
  [[nodiscard]] virtual Scalar value(Role role) const = 0;
  /// The name of the role's column or field in the data, for messages.
  [[nodiscard]] virtual std::string name(Role role) const = 0;
};

/// Reads keys and attributes of records, and keeps them until the next record.
class PropertyReader {
 public:
  /// `times` reads attributes of the type time. Throws Error(usage) as check_attributes does.
  PropertyReader(const CodecOptions& options, const TimeReader& times);

  /// Whether edges have keys.
  [[nodiscard]] bool keyed() const noexcept { return keyed_; }
  /// Whether records of edges, or of vertices, may say anything that is read here.
  [[nodiscard]] bool of_edges() const noexcept { return keyed_ || !edges_.empty(); }
  [[nodiscard]] bool of_vertices() const noexcept { return !vertices_.empty(); }

  /// Call it before each record. Earlier properties are no longer valid.
  void begin() noexcept { used_ = 0; }
  /// Sets the properties of an edge's update: its key, and if it inserts its attributes. Returns why it is refused.
  [[nodiscard]] std::optional<RejectReason> take_edge(const PropertySource& source, Update& update);
  /// Sets the attributes of a vertex that is inserted, if the record has any of them.
  [[nodiscard]] std::optional<RejectReason> take_vertex(const PropertySource& source, Update& update);
  /// The same for the key alone, which a tombstone has.
  [[nodiscard]] std::optional<RejectReason> take_key(const Scalar& scalar, const std::string& name, Update& update);

  /// What is wrong with the last record that was refused, and what to do.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 private:
  struct Declared {
    Role role;
    std::string type;  // its name
    ValueReader reader;
  };
  struct Slot {
    Properties properties;
    std::vector<AttributeValue> values;
  };

  Slot& next_slot(std::size_t values);
  [[nodiscard]] std::optional<RejectReason> read_key(const Scalar& scalar, const std::string& name, std::optional<Id>& key);
  [[nodiscard]] std::optional<RejectReason> read_values(const PropertySource& source, const std::vector<Declared>& declared,
                                                        Slot& slot);

  bool keyed_;
  IdKind keys_;
  std::vector<Declared> edges_;
  std::vector<Declared> vertices_;
  Doubts* doubts_;
  OptionSpelling spelling_;
  std::deque<Slot> slots_;  // places do not move
  std::size_t used_ = 0;
  std::string message_;
};

/// Whether two updates say the same properties.
[[nodiscard]] bool same_properties(const Update& a, const Update& b);

}  // namespace deltamatch::ingest
