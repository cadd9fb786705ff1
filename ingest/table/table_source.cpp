#include "ingest/table/table_source.hpp"

#include <fmt/format.h>

namespace deltamatch::ingest {

bool TableSource::next(Record& record) {
  if (cancelled_.load(std::memory_order_relaxed)) return false;
  if (++row_ >= table_->rows()) {
    if (!table_->next()) {
      row_ = table_->rows();
      return false;
    }
    row_ = 0;
  }
  record.bytes = {};
  record.position = {++number_, 0};
  record.fault = RecordFault::none;
  record.length = 0;
  record.padded = false;
  read_.store(number_, std::memory_order_relaxed);
  return true;
}

std::string TableSource::where(Position position) const {
  return fmt::format("{}, row {}", table_->name(), position.number == 0 ? 0 : position.number - 1);
}

Progress TableSource::progress() const noexcept { return {.records = read_.load(), .bytes_read = 0, .bytes_total = {}}; }

}  // namespace deltamatch::ingest
