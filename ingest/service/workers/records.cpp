#include "ingest/service/workers/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "deltamatch/error.hpp"
#include "ingest/service/state/digest_text.hpp"
#include "ingest/text/json_text.hpp"

namespace deltamatch::ingest::workers {
namespace {

// The beginning tells the kinds of records apart. None is that of a mark, of the progress of a batch, or of a note.
constexpr std::string_view cut_beginning = R"({"v":1,"workers":)";
constexpr std::string_view progress_beginning = R"({"v":1,"slot":)";
constexpr std::string_view claim_beginning = R"({"v":1,"worker":)";

std::string name_text(const std::string& name) {
  try {
    return nlohmann::json(name).dump();
  } catch (const nlohmann::json::exception&) {
    std::string shown;
    append_json_string(shown, name);
    throw Error(ErrorKind::configuration, shown, "the name of the worker is not UTF-8", "rename it");
  }
}

/// The slots whose place came by this change.
nlohmann::json slots_of(const std::vector<Place>& places, Change change) {
  nlohmann::json slots = nlohmann::json::array();
  for (Slot slot = 0; slot < places.size(); ++slot) {
    if (places[slot].change == change) slots.push_back(slot);
  }
  return slots;
}

/// Reads a record with `read` if it begins as given. What `read` cannot read is damage.
template <class Record, class Read>
std::optional<Record> parse(std::string_view json, std::string_view beginning, std::string_view where, std::string_view kind,
                            Read read) {
  if (!json.starts_with(beginning)) return std::nullopt;
  try {
    return read(nlohmann::json::parse(json));
  } catch (const nlohmann::json::exception& error) {
    throw Error(where, fmt::format("this is not {}: {}", kind, error.what()));
  }
}

template <class Number>
Number number(const nlohmann::json& value, std::string_view where, std::string_view kind) {
  if (!value.is_number_unsigned() || !std::in_range<Number>(value.get<std::uint64_t>())) {
    throw Error(where, fmt::format("this is not {}: {} is not a number of this kind", kind, value.dump()));
  }
  return value.get<Number>();
}

/// The elements of an array. A number would pass for an array of one element.
std::vector<Slot> slots(const nlohmann::json& array, std::string_view where, std::string_view kind) {
  if (!array.is_array()) throw Error(where, fmt::format("this is not {}: {} is not an array", kind, array.dump()));
  std::vector<Slot> slots;
  for (const nlohmann::json& value : array) slots.push_back(number<Slot>(value, where, kind));
  return slots;
}

void mark_changes(Cut& cut, const nlohmann::json& array, Change change, std::string_view where) {
  for (const Slot slot : slots(array, where, "a cut")) {
    if (slot >= cut.places.size() || cut.places[slot].change != Change::none) {
      throw Error(where, fmt::format("this is not a cut: slot {} cannot have changed so", slot));
    }
    cut.places[slot].change = change;
  }
}

}  // namespace

std::string to_json(const Cut& cut) {
  std::string workers;
  for (const Place& place : cut.places) workers += (workers.empty() ? "" : ",") + name_text(place.worker);
  return fmt::format(R"({}[{}],"moves":{},"take_overs":{},"first":{},"mark":{}}})", cut_beginning, workers,
                     slots_of(cut.places, Change::move).dump(), slots_of(cut.places, Change::take_over).dump(), cut.first,
                     to_json(cut.mark));
}

std::string to_json(const SlotProgress& progress) {
  std::string text = fmt::format(R"({}{},"batch":{})", progress_beginning, progress.slot, progress.batch);
  if (progress.digest) text += R"(,"digest":)" + ingest::to_json(*progress.digest);
  return text + "}";
}

std::string to_json(const Claim& claim) {
  return fmt::format(R"({}{},"applied":{},"spare":{},"leaves":{},"gone":{},"semantics":{}}})", claim_beginning,
                     name_text(claim.worker), claim.applied, claim.spare, claim.leaves, claim.gone, claim.semantics);
}

std::optional<Cut> parse_cut(std::string_view json, std::string_view where) {
  return parse<Cut>(json, cut_beginning, where, "a cut", [&](const nlohmann::json& object) {
    Cut cut{.mark = parse_mark(object.at("mark").dump(), where),
            .first = number<std::uint64_t>(object.at("first"), where, "a cut"),
            .places = {}};
    for (std::string& worker : object.at("workers").get<std::vector<std::string>>()) {
      cut.places.push_back({.worker = std::move(worker), .change = Change::none});
    }
    mark_changes(cut, object.at("moves"), Change::move, where);
    mark_changes(cut, object.at("take_overs"), Change::take_over, where);
    if (cut.places.empty()) throw Error(where, "this is not a cut: it has no slots");
    if (cut.first == 0 || cut.first > cut.batch()) throw Error(where, "this is not a cut: it is before the first one");
    return cut;
  });
}

std::optional<SlotProgress> parse_slot_progress(std::string_view json, std::string_view where) {
  constexpr std::string_view kind = "the progress of a slot";
  return parse<SlotProgress>(json, progress_beginning, where, kind, [&](const nlohmann::json& object) {
    SlotProgress progress{.slot = number<Slot>(object.at("slot"), where, kind),
                          .batch = number<std::uint64_t>(object.at("batch"), where, kind)};
    if (object.contains("digest")) progress.digest = parse_digest(object.at("digest").dump(), where);
    return progress;
  });
}

std::optional<Claim> parse_claim(std::string_view json, std::string_view where) {
  constexpr std::string_view kind = "the claim of a worker";
  return parse<Claim>(json, claim_beginning, where, kind, [&](const nlohmann::json& object) {
    Claim claim{.worker = object.at("worker").get<std::string>(),
                .applied = number<std::uint64_t>(object.at("applied"), where, kind)};
    claim.spare = object.at("spare").get<bool>();
    claim.leaves = object.at("leaves").get<bool>();
    claim.gone = object.at("gone").get<bool>();
    claim.semantics = number<std::uint32_t>(object.at("semantics"), where, kind);
    return claim;
  });
}

}  // namespace deltamatch::ingest::workers
