#include <array>
#include <charconv>

#include "generate/payments.hpp"
#include "generate/text_writer.hpp"

namespace deltamatch::generate {
namespace {

// The ids and labels of this stream need no quoting in CSV or JSON.
struct Csv {
  TextWriter& out;
  bool amounts;

  void header() const {
    out << "op,source,target,label,source_label,target_label,time";
    if (amounts) out << ",amount";
    out << '\n';
  }
  void id(const Id& id) const {
    if (id.is_text()) {
      out << id.text();
    } else {
      out << id.number();
    }
  }
  // Writes seconds, as is usual in CSV, with all six decimals.
  void time(Timestamp time) const {
    constexpr Timestamp second = 1'000'000;
    char digits[8];
    std::to_chars(digits, digits + sizeof digits, second + time % second);  // a leading 1 keeps the zeros
    out << time / second << '.' << std::string_view(digits + 1, 6);
  }
  void record(const PaymentRecord& record) const {
    const Update& update = record.update;
    out << (update.kind == UpdateKind::insert_edge ? "+," : "-,");
    id(update.source);
    out << ',';
    id(update.target);
    out << ',' << update.label << ',' << *update.source_label << ',' << *update.target_label << ',';
    time(*update.time);
    if (amounts) out << ',' << record.amount;
    out << '\n';
  }
};

struct Jsonl {
  TextWriter& out;
  bool amounts;

  void id(const Id& id) const {
    if (id.is_text()) {
      out << '"' << id.text() << '"';
    } else {
      out << id.number();
    }
  }
  void record(const PaymentRecord& record) const {
    const Update& update = record.update;
    out << R"({"op":")" << (update.kind == UpdateKind::insert_edge ? '+' : '-') << R"(","source":)";
    id(update.source);
    out << R"(,"target":)";
    id(update.target);
    out << R"(,"label":")" << update.label << R"(","source_label":")" << *update.source_label << R"(","target_label":")"
        << *update.target_label << R"(","time":)" << *update.time;
    if (amounts) out << R"(,"amount":)" << record.amount;
    out << "}\n";
  }
};

void write_truth(const PaymentsSummary& summary, std::FILE* file) {
  constexpr std::array<std::string_view, 3> ends = {"expired", "recalled", "alive"};
  TextWriter out(file);
  out << "kind,vertices,closes,vanishes,end\n";
  for (const PlantedPattern& pattern : summary.planted) {
    out << planted_name(pattern.kind) << ',';
    for (std::size_t i = 0; i < pattern.vertices.size(); ++i) {
      if (i > 0) out << ' ';
      out << pattern.vertices[i];
    }
    out << ',' << pattern.closes << ',';
    if (pattern.end != PlantedEnd::alive) out << pattern.vanishes;
    out << ',' << ends[static_cast<std::size_t>(pattern.end)] << '\n';
  }
  out.finish();
}

}  // namespace

PaymentsSummary write_payments(const PaymentsOptions& options, std::FILE* stream, std::FILE* truth) {
  TextWriter out(stream);
  PaymentsSummary summary;
  if (options.format == PaymentsFormat::csv) {
    const Csv csv{out, options.amounts};
    validate(options);  // before the header is written
    csv.header();
    summary = generate_payments(options, [&](const PaymentRecord& record) { csv.record(record); });
  } else {
    const Jsonl jsonl{out, options.amounts};
    summary = generate_payments(options, [&](const PaymentRecord& record) { jsonl.record(record); });
  }
  out.finish();
  if (truth != nullptr) write_truth(summary, truth);
  return summary;
}

PaymentsSummary write_payments(const PaymentsOptions& options, const std::filesystem::path& stream,
                               const std::filesystem::path& truth) {
  validate(options);  // before a file is created
  const File stream_file = open_output(stream);
  const File truth_file = truth.empty() ? File() : open_output(truth);
  return write_payments(options, stream_file.get(), truth_file.get());
}

}  // namespace deltamatch::generate
