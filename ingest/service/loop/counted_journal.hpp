// The journal of a service, whose warnings and errors are a metric too.
#pragma once

#include "ingest/service/http/metrics.hpp"
#include "ingest/service/journal.hpp"

namespace deltamatch::ingest {

/// Hands all events on. Both arguments must outlive it.
class CountedJournal final : public Journal {
 public:
  CountedJournal(Journal& journal, Metrics& metrics) : journal_(journal), metrics_(metrics) {}

  void tell(Level level, std::string_view event, std::initializer_list<Field> fields = {}) noexcept override {
    if (level == Level::warn || level == Level::error) metrics_.event(level, event);
    journal_.tell(level, event, fields);
  }

 private:
  Journal& journal_;
  Metrics& metrics_;
};

}  // namespace deltamatch::ingest
