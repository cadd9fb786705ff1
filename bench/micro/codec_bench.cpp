// Records to updates, on one core. `decode` is the codec alone, record by record, as it reads the messages of a queue. `stream`
// is a whole file in memory, up to the batches that the engine takes. All formats must give the same updates before a time is
// printed.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/codec/binary.hpp"
#include "ingest/codec/codec.hpp"
#include "ingest/codec/formats.hpp"
#include "ingest/schema/proto_schema.hpp"
#include "ingest/stream.hpp"

namespace {

using namespace deltamatch;
using namespace deltamatch::ingest;

constexpr std::size_t record_count = 100'000;

struct Payment {
  bool insert;
  std::string source;
  std::string target;
  Timestamp time;
};

const std::vector<Payment>& payments() {
  static const std::vector<Payment> made = [] {
    std::mt19937_64 random(1);
    std::vector<Payment> all;
    for (std::size_t i = 0; i < record_count; ++i) {
      const std::uint64_t draw = random();
      all.push_back({draw % 20 != 0, "acct-" + std::to_string(draw / 32 % 1'000'000),
                     "acct-" + std::to_string(draw / 67'108'864 % 1'000'000),
                     1'700'000'000'000'000 + static_cast<Timestamp>(i) * 997});
    }
    return all;
  }();
  return made;
}

std::string flat_json(const Payment& p) {
  return std::string(R"({"op":")") + (p.insert ? '+' : '-') + R"(","source":")" + p.source + R"(","target":")" + p.target +
         R"(","label":"TRANSFER","time":)" + std::to_string(p.time) + "}";
}

std::string nested_json(const Payment& p) {
  return std::string(R"({"op":")") + (p.insert ? '+' : '-') + R"(","payer":{"id":")" + p.source +
         R"(","kind":"person"},"payee":{"id":")" + p.target + R"("},"amount":12.50,"label":"TRANSFER","time":)" +
         std::to_string(p.time) + "}";
}

std::string change_event(const Payment& p) {
  const std::string row = R"({"id":17,"source":")" + p.source + R"(","target":")" + p.target +
                          R"(","label":"TRANSFER","time":)" + std::to_string(p.time) + "}";
  return R"({"before":)" + (p.insert ? "null" : row) + R"(,"after":)" + (p.insert ? row : "null") +
         R"(,"source":{"version":"2.5.0","connector":"postgresql","name":"bank","ts_ms":1700000000000,"snapshot":"false","db":"bank","schema":"public","table":"payments","txId":571,"lsn":24023128,"xmin":null},"op":")" +
         (p.insert ? 'c' : 'd') + R"(","ts_ms":1700000000003,"transaction":null})";
}

std::string tsv(const Payment& p) {
  return std::string(p.insert ? "+\t" : "-\t") + p.source + '\t' + p.target + "\tTRANSFER\t" + std::to_string(p.time);
}

std::string binary(const Payment& p) {
  Update update;
  update.kind = p.insert ? UpdateKind::insert_edge : UpdateKind::delete_edge;
  update.source = std::string_view(p.source);
  update.target = std::string_view(p.target);
  update.label = "TRANSFER";
  update.time = p.time;
  std::string out;
  append_binary(out, update);
  return out;
}

constexpr std::string_view avro_schema =
    R"({"type":"record","name":"Payment","fields":[{"name":"op","type":"string"},{"name":"source","type":"string"},)"
    R"({"name":"target","type":"string"},{"name":"label","type":"string"},)"
    R"({"name":"time","type":{"type":"long","logicalType":"timestamp-micros"}}]})";
constexpr std::string_view proto_schema =
    R"(syntax = "proto3"; message Payment { string op = 1; string source = 2; string target = 3; string label = 4; int64 time = 5; })";

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80U);
  out += static_cast<char>(value);
}

std::string avro(const Payment& p) {
  std::string out;
  for (const std::string& text : {std::string(p.insert ? "+" : "-"), p.source, p.target, std::string("TRANSFER")}) {
    append_varint(out, text.size() << 1);
    out += text;
  }
  append_varint(out, static_cast<std::uint64_t>(p.time) << 1);
  return out;
}

std::string protobuf(const Payment& p) {
  std::string out;
  unsigned field = 0;
  for (const std::string& text : {std::string(p.insert ? "+" : "-"), p.source, p.target, std::string("TRANSFER")}) {
    append_varint(out, ++field << 3 | 2U);
    append_varint(out, text.size());
    out += text;
  }
  append_varint(out, ++field << 3);
  append_varint(out, static_cast<std::uint64_t>(p.time));
  return out;
}

struct Kind {
  const char* name;
  Format format;
  CodecOptions codec;
  std::string (*record)(const Payment&);
};

CodecOptions codec_options(std::string columns, Envelope envelope = Envelope::none) {
  CodecOptions options;
  options.columns = std::move(columns);
  options.envelope = envelope;
  options.time_unit = TimeUnit::microseconds;
  return options;
}

CodecOptions schema_options(std::string_view schema) {
  CodecOptions options = codec_options("");
  options.schema.text = schema;
  return options;
}

bool same(const Update& update, const Payment& p) {
  return update.kind == (p.insert ? UpdateKind::insert_edge : UpdateKind::delete_edge) &&
         update.source == Id(std::string_view(p.source)) && update.target == Id(std::string_view(p.target)) &&
         update.label == "TRANSFER" && update.time == p.time;
}

void decode(benchmark::State& state, const Kind& kind) {
  std::vector<std::string> records;
  for (const Payment& p : payments()) records.push_back(kind.record(p));
  const auto codec = make_message_codec(kind.format, kind.codec);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Decoded decoded = codec->decode(records[i]);
    if (decoded.updates.size() != 1 || !same(decoded.updates[0], payments()[i])) return state.SkipWithError("a wrong update");
    bytes += static_cast<std::int64_t>(records[i].size());
  }
  for ([[maybe_unused]] auto _ : state) {
    for (const std::string& record : records) benchmark::DoNotOptimize(codec->decode(record).updates.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(record_count));
  state.SetBytesProcessed(state.iterations() * bytes);
}

/// In blocks as `convert` writes them.
std::string binary_stream(std::string_view records) {
  std::string out;
  BinaryStreamWriter ignored(out);  // writes the preamble
  std::uint64_t number = 0;
  for (bool more = true; more; records.remove_prefix(std::min<std::size_t>(records.size(), 1 << 16))) {
    const std::string_view bytes = records.substr(0, 1 << 16);
    const BinaryBlock::Head head = BinaryBlock::head_of(bytes, number++);
    out.append(head.data(), head.size()).append(bytes);
    more = !bytes.empty();
  }
  return out;
}

void stream(benchmark::State& state, const Kind& kind) {
  std::string file;
  for (const Payment& p : payments()) {
    const std::string record = kind.record(p);
    file += kind.format == Format::binary ? static_cast<char>(record.size()) + record : record + '\n';
  }
  if (kind.format == Format::binary) file = binary_stream(file);
  ReadOptions options;
  options.format = kind.format;
  options.codec = kind.codec;
  options.limits.max_updates = 8192;
  options.read_ahead = 0;
  const auto read = [&](bool check) {
    const auto source = open_memory(file, kind.name, options);
    PositionedBatch batch;
    std::size_t count = 0;
    bool good = true;
    while (source->next(batch)) {
      for (std::size_t i = 0; check && i < batch.updates.size(); ++i)
        good = good && same(batch.updates.updates()[i], payments()[count + i]);
      count += batch.updates.size();
    }
    return good && count == record_count;
  };
  if (!read(true)) return state.SkipWithError("a wrong update");
  for ([[maybe_unused]] auto _ : state) {
    if (!read(false)) return state.SkipWithError("an update is missing");
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(record_count));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(file.size()));
}

bool register_all() {
  const std::vector<Kind> kinds = {
      {"json", Format::jsonl, codec_options(""), flat_json},
      {"json-paths", Format::jsonl, codec_options("source=payer.id,target=payee.id"), nested_json},
      {"debezium", Format::jsonl, codec_options("", Envelope::debezium), change_event},
      {"csv", Format::csv, codec_options("op,source,target,label,time"),
       [](const Payment& p) {
         std::string text = tsv(p);
         for (char& c : text) c = c == '\t' ? ',' : c;
         return text;
       }},
      {"tsv", Format::tsv, codec_options("source,target,label,time"), tsv},
      {"binary", Format::binary, {}, binary},
      {"avro", Format::avro, schema_options(avro_schema), avro},
      {"protobuf", Format::protobuf, schema_options(proto_schema), protobuf},
  };
  for (const Kind& kind : kinds) {
    if (kind.format == Format::protobuf && !reads_protobuf()) continue;
    benchmark::RegisterBenchmark((std::string("decode/") + kind.name).c_str(), decode, kind)->Unit(benchmark::kMillisecond);
    if (traits_of(kind.format).has_schema) continue;  // a file of records has their schema
    benchmark::RegisterBenchmark((std::string("stream/") + kind.name).c_str(), stream, kind)->Unit(benchmark::kMillisecond);
  }
  return true;
}

[[maybe_unused]] const bool registered = register_all();

}  // namespace
