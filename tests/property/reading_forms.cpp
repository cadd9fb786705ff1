#include "property/reading_forms.hpp"

#include <utility>

#include "property/reading_draw.hpp"

namespace deltamatch::property {
namespace {

std::string told_id(const Id& id) { return id.is_text() ? fmt::format("\"{}\"", id.text()) : std::to_string(id.number()); }

std::string told_label(const std::optional<std::string_view>& label) {
  return label ? fmt::format(" {}:{}", label->size(), *label) : std::string(" -");
}

Id id_of(const std::string& id, bool text) { return text ? Id(std::string_view(id)) : Id(std::int64_t{std::stoll(id)}); }

}  // namespace

std::string told(const Update& update) {
  const bool vertex = update.kind == UpdateKind::insert_vertex || update.kind == UpdateKind::delete_vertex;
  std::string text = std::to_string(static_cast<int>(update.kind)) + " " + told_id(update.source);
  if (!vertex) text += " " + told_id(update.target) + told_label(update.label);
  text += told_label(update.source_label);
  if (!vertex) text += told_label(update.target_label);
  return text + (update.time ? " @" + std::to_string(*update.time) : "");
}

Update Fact::update() const {
  Update update;
  update.source = id_of(source, source_text);
  if (vertex) {
    update.kind = inserts ? UpdateKind::insert_vertex : UpdateKind::delete_vertex;
    if (!label.empty()) update.source_label = label;
  } else {
    update.kind = inserts ? UpdateKind::insert_edge : UpdateKind::delete_edge;
    update.target = id_of(target, target_text);
    update.label = label;
    update.source_label = source_label;
    update.target_label = target_label;
  }
  update.time = time;
  return update;
}

std::string Written::text() const {
  std::string all = head;
  for (const Record& record : records) all += record.bytes;
  return all + tail;
}

std::vector<std::string> Written::updates(std::size_t first, std::size_t last) const {
  std::vector<std::string> all;
  for (std::size_t at = first; at < last; ++at) all.insert(all.end(), records[at].updates.begin(), records[at].updates.end());
  return all;
}

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {"edge list", [] { return draw_snap(false); }},
      {"tsv", [] { return draw_tsv(false); }},
      {"csv", [] { return draw_csv(false); }},
      {"Gephi's edge table", draw_gephi},
      {"t/v/e", [] { return draw_tve(false); }},
      {"gSpan's graph", draw_gspan},
      {"jlg", draw_jlg},
      {"Matrix Market", draw_mtx},
      {"binary", [] { return draw_binary(false); }},
      {"JSON lines", [] { return draw_json_rows(false); }},
      {"a JSON array", draw_json_array},
      {"JSON objects over lines", draw_json_objects},
      {"change events", [] { return draw_change_events(false); }},
      {"messages of edge lists", [] { return draw_snap(true); }, true},
      {"messages of tsv", [] { return draw_tsv(true); }, true},
      {"messages of csv", [] { return draw_csv(true); }, true},
      {"messages of t/v/e", [] { return draw_tve(true); }, true},
      {"messages of binary", [] { return draw_binary(true); }, true},
      {"messages of JSON", [] { return draw_json_rows(true); }, true},
      {"messages of change events", [] { return draw_change_events(true); }, true},
  };
  return all;
}

}  // namespace deltamatch::property
