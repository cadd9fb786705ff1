#include <charconv>

#include "generate/payments.hpp"
#include "generate/text_writer.hpp"

namespace deltamatch::generate {
namespace {

// Writes units and two digits, as in 1200.00.
void write_amount(TextWriter& out, std::uint64_t cents) {
  out << cents / 100 << '.' << static_cast<char>('0' + cents / 10 % 10) << static_cast<char>('0' + cents % 10);
}

// The ids, labels and channels of this stream need no quoting in CSV or JSON.
struct Csv {
  TextWriter& out;

  void header() const { out << "op,txn_id,source,target,label,source_label,target_label,time,amount,channel\n"; }
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
    const bool insert = update.kind == UpdateKind::insert_edge;
    out << (insert ? "+," : "-,");
    id(*update.key());
    out << ',';
    id(update.source);
    out << ',';
    id(update.target);
    out << ',' << update.label << ',' << *update.source_label << ',' << *update.target_label << ',';
    time(*update.time);
    out << ',';
    if (insert) write_amount(out, record.amount);
    out << ',' << record.channel << '\n';
  }
};

struct Jsonl {
  TextWriter& out;

  void id(const Id& id) const {
    if (id.is_text()) {
      out << '"' << id.text() << '"';
    } else {
      out << id.number();
    }
  }
  void record(const PaymentRecord& record) const {
    const Update& update = record.update;
    const bool insert = update.kind == UpdateKind::insert_edge;
    out << R"({"op":")" << (insert ? '+' : '-') << R"(","txn_id":)";
    id(*update.key());
    out << R"(,"source":)";
    id(update.source);
    out << R"(,"target":)";
    id(update.target);
    out << R"(,"label":")" << update.label << R"(","source_label":")" << *update.source_label << R"(","target_label":")"
        << *update.target_label << R"(","time":)" << *update.time;
    if (insert) {
      out << R"(,"amount":")";
      write_amount(out, record.amount);
      out << R"(","channel":")" << record.channel << '"';
    }
    out << "}\n";
  }
};

void write_keys(TextWriter& out, const std::vector<std::string>& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i > 0) out << ' ';
    out << keys[i];
  }
}

void write_truth(const PaymentsSummary& summary, std::FILE* file) {
  TextWriter out(file);
  out << "name,pattern,kind,misses,keys,counted,closes,recalled\n";
  for (const PlantedPattern& pattern : summary.planted) {
    out << pattern.name << ',' << planted_name(pattern.kind) << ',' << (pattern.misses == Miss::nothing ? "planted" : "decoy")
        << ',' << miss_name(pattern.misses) << ',';
    write_keys(out, pattern.keys);
    out << ',';
    write_keys(out, pattern.counted);
    out << ',' << pattern.closes << ',';
    if (pattern.recalled != 0) out << pattern.recalled;
    out << '\n';
  }
  out.finish();
}

}  // namespace

PaymentsSummary write_payments(const PaymentsOptions& options, std::FILE* stream, std::FILE* truth) {
  TextWriter out(stream);
  PaymentsSummary summary;
  if (options.format == PaymentsFormat::csv) {
    const Csv csv{out};
    validate(options);  // before the header is written
    csv.header();
    summary = generate_payments(options, [&](const PaymentRecord& record) { csv.record(record); });
  } else {
    const Jsonl jsonl{out};
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
