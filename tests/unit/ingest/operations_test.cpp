#include "ingest/codec/operations.hpp"

#include "ingest/codec/operation_columns.hpp"
#include "ingest/codec/operation_words.hpp"
#include "support.hpp"

namespace deltamatch::ingest {
namespace {

using testing::decode;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

TEST(Operations, TheUsualValues) {
  const Operations usual;
  for (const char* value :
       {"+",      "insert",  "INSERT", "c",      "C",      "r",       "u",     "U",  "i",  "I",
        "create", "Created", "read",   "update", "upsert", "replace", "added", "+I", "+u", "update_postimage"}) {
    EXPECT_EQ(usual.read(value), true) << value;
  }
  for (const char* value : {"-", "delete", "D", "d", "removed", "REMOVE", "-D", "-U", "update_preimage", "del"}) {
    EXPECT_EQ(usual.read(value), false) << value;
  }
  for (const char* value : {"", "t", "m", "x", "true", "1", "-1", "0", "insert ", "insertinsertinsertinsert", "\xff"}) {
    EXPECT_EQ(usual.read(value), std::nullopt) << value;
  }
  for (const char* value : {"true", "TRUE", "t", "1", "yes", "Y"}) EXPECT_EQ(usual.read(value, true), false) << value;
  for (const char* value : {"false", "f", "0", "no", "N"}) EXPECT_EQ(usual.read(value, true), true) << value;
  for (const char* value : {"", "+", "d", "2"}) EXPECT_EQ(usual.read(value, true), std::nullopt) << value;
}

TEST(Operations, AMappingComesFirstAndKeepsTheOthers) {
  const Operations mapped(" a , d=+; gone,t = - ;x=y=-");
  EXPECT_EQ(mapped.read("a"), true);
  EXPECT_EQ(mapped.read("A"), std::nullopt);  // case matters here
  EXPECT_EQ(mapped.read("d"), true);
  EXPECT_EQ(mapped.read("D"), false);
  EXPECT_EQ(mapped.read("gone"), false);
  EXPECT_EQ(mapped.read("t"), false);
  EXPECT_EQ(mapped.read("x=y"), false);
  EXPECT_EQ(mapped.read("insert"), true);
  EXPECT_EQ(mapped.read("gone", true), false);
}

TEST(Operations, AMappingThatCannotBeRead) {
  for (const char* mapping : {" ", "a", "a=", "a=*", "a=+;", ";a=+", ",a=+", "a,=+", "=+", "a=+;a=-", "a,a=+", "a=+,b=-"}) {
    EXPECT_THAT(error_of([&] { Operations{mapping}; }), HasSubstr("op-values: `")) << mapping;
  }
}

TEST(Operations, FlagsAreKnownByTheirNames) {
  for (const char* name : {"deleted", "__deleted", "row.__deleted", "_IS_DELETED", "isDeleted"})
    EXPECT_TRUE(is_deletion_flag(name));
  for (const char* name : {"", "op", "__op", "deleted.op", "undeleted", "deleted_at"}) EXPECT_FALSE(is_deletion_flag(name));
}

TEST(OperationWords, AreReadAloneOrJoined) {
  for (const char* value :
       {"remove", "EdgeRemoved", "DELETE_EDGE", "edge.delete", "edge-drop", "DBDelete", "unfriended", "removeEdge",
        "add_or_remove", "rows deleted", "FOLLOW_REVERTED", "user.follow.undo", "undo_follow", "no longer friends", "undo"})
    EXPECT_EQ(read_words(value), false) << value;
  for (const char* value : {"add_edge", "EdgeAdded", "edge.create", "follow", "un-deleted add"})
    EXPECT_EQ(read_words(value), true) << value;
  for (const char* value : {"", "d", "PAYS", "down", "edge", "undeleted", "not_deleted", "dropbox", "a_d", "12", "\xff",
                            "undo delete", "no longest"})
    EXPECT_EQ(read_words(value), std::nullopt) << value;
  for (const char* value : {"down", "link_down", "LinkDown", "user.left", "deleted", "d", "-"})
    EXPECT_EQ(read_state(value), false);
  for (const char* value : {"", "down_payment", "not down", "lefty", "offer"})
    EXPECT_EQ(read_state(value), std::nullopt) << value;
  for (const char* value : {"up", "user.joined", "c", "add_edge"}) EXPECT_EQ(read_state(value), true) << value;
}

TEST(OperationColumns, SayARemovalByTheirKind) {
  for (const char* name : {"is_active", "_fivetran_active", "isCurrent", "exists", "present", "live", "connected", "isFriend",
                           "current", "valid"}) {
    EXPECT_TRUE(may_say_operation(name));
    for (const char* value : {"false", "0", "N", "F"}) EXPECT_TRUE(says_removal(name, value)) << value;
    for (const char* value : {"true", "1", "y", "", "2"}) EXPECT_FALSE(says_removal(name, value)) << value;
    EXPECT_TRUE(counts_something(name, "17"));
    EXPECT_FALSE(counts_something(name, "null"));
  }
  for (const char* name : {"voided", "is_cancelled", "deleted"}) {
    EXPECT_TRUE(says_removal(name, "true")) << name;
    EXPECT_FALSE(says_removal(name, "false")) << name;
  }
  for (const char* name : {"valid_to", "dbtValidTo", "deleted_at"}) {
    EXPECT_TRUE(says_removal(name, "2024-01-02")) << name;
    for (const char* value : {"", "NULL", "9999-12-31", "infinity", "2099-12-31", "4712-12-31", "31/12/9999"})
      EXPECT_FALSE(says_removal(name, value)) << value;
  }
  for (const char* name : {"currently", "active_users", "valid_from", "end", "count"})
    EXPECT_FALSE(may_say_operation(name)) << name;
}

TEST(OperationColumns, SignsMarksAndEndsInSomeRows) {
  for (const char* name : {"sign", "_sign", "diff", "mz_diff", "delta"}) {
    EXPECT_TRUE(is_change_sign(name) && may_say_operation(name)) << name;
    EXPECT_TRUE(says_removal(name, "-1")) << name;
    for (const char* value : {"1", "+1", "2", "-2"}) EXPECT_FALSE(says_removal(name, value)) << value;
    EXPECT_TRUE(counts_something(name, "2")) << name;
    EXPECT_FALSE(counts_something(name, "-1")) << name;
  }
  for (const char* name : {"ended_at", "endDate", "left_at", "unfollowed_at"}) {
    EXPECT_TRUE(is_end_in_some_rows(name) && says_removal(name, "2024-01-02")) << name;
    EXPECT_FALSE(says_removal(name, "2099-12-31")) << name;
  }
  for (const char* value : {"x", "X", "2024-01-02"}) EXPECT_TRUE(says_removal("archived", value)) << value;
  for (const char* value : {"", "7", "no"}) EXPECT_FALSE(says_removal("archived", value)) << value;
  for (const char* name : {"_op", "$op", "op_", "opcode", "kind"}) EXPECT_TRUE(may_say_operation(name)) << name;
  EXPECT_TRUE(says_removal("kind", "delete"));
  for (const char* value : {"left", "down", "turn_left"}) EXPECT_FALSE(says_removal("kind", value)) << value;
  EXPECT_TRUE(is_free_text("Comment", ""));
  EXPECT_TRUE(is_free_text("event", "please delete this edge"));
  EXPECT_FALSE(is_free_text("event", "no longer friends"));
}

TEST(OperationColumns, ARemedyNamesBothWords) {
  const auto remedy = [](std::string_view name, std::string_view value, std::string_view insertions) {
    return remedy_of_operation({}, "", name, value, insertions);
  };
  EXPECT_THAT(remedy("event", "EdgeRemoved", "EdgeAdded"), HasSubstr("--op-values 'EdgeAdded=+;EdgeRemoved=-'"));
  EXPECT_THAT(remedy("status", "deleted", "active"), HasSubstr("--op-values active=+"));
  EXPECT_THAT(remedy("action", "R", "A"), HasSubstr("--op-values 'A=+;R=-'"));
  EXPECT_THAT(remedy("diff", "-1", "1"), HasSubstr("--op-values '1=+;-1=-'"));
  EXPECT_THAT(remedy("delta", "-1", "+1"), HasSubstr("--op-values '+1=+;-1=-'"));
  EXPECT_THAT(remedy("archived", "x", ""), HasSubstr("--columns deleted=archived and --op-values x=-"));
  EXPECT_THAT(remedy("end_date", "2021-01-01", ""), HasSubstr("leave such records out"));
}

TEST(Operations, ARefusedSignIsMappedInOneRound) {
  const Operations plain;
  EXPECT_THAT(plain.refusal("sign", "1", false), HasSubstr("--op-values '1=+;-1=-'"));
  EXPECT_THAT(plain.refusal("op", "-1", false), HasSubstr("--op-values '1=+;-1=-'"));
  EXPECT_THAT(plain.refusal("op", "+1", false), HasSubstr("--op-values '+1=+;-1=-'"));
  EXPECT_THAT(Operations("1=+;-1=-").refusal("op", "+1", false), HasSubstr("--op-values '1=+;-1=-;+1=+'"));
  EXPECT_THAT(plain.refusal("__$operation", "1", false), HasSubstr("--op-values '1=-'"));
}

/// The codes of the doubts about records.
std::vector<std::string> doubts_of(Format format, const std::vector<std::string>& records) {
  Doubts doubts;
  CodecOptions options;
  options.doubts = &doubts;
  const auto codec = make_codec(format, options);
  for (std::size_t line = 0; line < records.size(); ++line) {
    doubts.at({line + 1, 0});
    (void)codec->decode(records[line]);
  }
  std::vector<std::string> codes;
  for (const Doubts::Doubt& doubt : doubts.all(0)) codes.push_back(doubt.code);
  return codes;
}

TEST(UnreadOperations, OfTables) {
  const auto found = [](const std::string& name, const std::vector<std::string>& values) {
    std::vector<std::string> records = {"source,target," + name};
    for (const std::string& value : values) records.push_back("a,b," + value);
    return doubts_of(Format::csv, records);
  };
  using Case = std::pair<std::string, std::vector<std::string>>;
  for (const auto& [name, values] : {Case{"_sign", {"1", "1", "-1"}},
                                     {"diff", {"1", "-1"}},
                                     {"delta", {"+1", "-1"}},
                                     {"exists", {"true", "false"}},
                                     {"archived", {"", "x"}},
                                     {"end_date", {"", "2021-01-01"}},
                                     {"left_at", {"2021-01-01", ""}},
                                     {"action", {"A", "A", "R"}},
                                     {"event", {"add", "no longer friends"}},
                                     {"what", {"EdgeAdded", "EdgeRemoved"}}})
    EXPECT_THAT(found(name, values), ElementsAre("operation_unread")) << name;
  for (const auto& [name, values] : {Case{"diff", {"1", "-1", "2"}},
                                     {"delta", {"5", "-1"}},
                                     {"diff", {"1", "1"}},
                                     {"current", {"17", "0"}},
                                     {"current", {"0", "0", "17"}},
                                     {"end_date", {"2021-01-01", "2022-01-01"}},
                                     {"valid_to", {"2099-12-31", "4712-12-31"}},
                                     {"action", {"R", "R"}},
                                     {"comment", {"please delete", "removed"}},
                                     {"words", {"please delete this edge", "remove it at once now"}}})
    EXPECT_THAT(found(name, values), ::testing::IsEmpty()) << name;
}

TEST(UnreadOperations, OfFields) {
  const auto found = [](const std::vector<std::string>& fields) {
    std::vector<std::string> records;
    for (const std::string& field : fields)
      records.push_back(R"({"source":"a","target":"b")" + (field.empty() ? "" : "," + field) + "}");
    return doubts_of(Format::jsonl, records);
  };
  for (const std::vector<std::string>& fields : {std::vector<std::string>{R"("mz_diff":1)", R"("mz_diff":-1)"},
                                                 {R"("_op":"delete")"},
                                                 {R"("$op":"remove")"},
                                                 {R"("opcode":"ADD")", R"("opcode":"REMOVE")"},
                                                 {R"("live":true)", R"("live":false)"},
                                                 {"", R"("ended_at":"2021-01-01")"},
                                                 {R"("action":"A")", R"("action":"R")"}})
    EXPECT_THAT(found(fields), ElementsAre("operation_unread")) << fields[0];
  for (const std::vector<std::string>& fields : {std::vector<std::string>{R"("diff":-1)", R"("diff":3)"},
                                                 {R"("diff":3)", R"("diff":-1)"},
                                                 {R"("diff":3,"delta":5)", R"("diff":-1,"delta":-1)"},
                                                 {R"("current":0)", R"("current":17)"},
                                                 {R"("ended_at":"2021-01-01","left_at":"2021-01-01")"},
                                                 {R"("kind":"PAYS")", R"("kind":"left")"},
                                                 {R"("ended_at":"2021-01-01")", R"("ended_at":"2022-01-01")"},
                                                 {R"("action":"R")"}})
    EXPECT_THAT(found(fields), ::testing::IsEmpty()) << fields[0];
}

TEST(UnreadOperations, SignsBeforeSources) {
  EXPECT_THAT(doubts_of(Format::snap, {"+1 2", "+2 3", "-1 2"}), ElementsAre("sign_in_id"));
  EXPECT_THAT(doubts_of(Format::tsv, {"+1\t2", "-1\t2"}), ElementsAre("sign_in_id"));
  for (const std::vector<std::string>& records :
       {std::vector<std::string>{"+1 2", "+2 3"}, {"-1 2", "1 2"}, {"+1 -2", "-1 +2"}, {"+ 1 2", "- 1 2"}})
    EXPECT_THAT(doubts_of(Format::snap, records), ::testing::IsEmpty()) << records[0];
}

TEST(Operations, InEveryFormatWithColumns) {
  CodecOptions options;
  options.op_values = "7=-";
  EXPECT_THAT(decode(Format::jsonl, {R"({"source":1,"target":2,"op":7})", R"({"source":1,"target":2,"__op":"7"})"}, options),
              ElementsAre("- 1 -> 2", "- 1 -> 2"));
  EXPECT_THAT(decode(Format::csv, {"source,target,__op", "1,2, 7 ", "1,2,c"}, options), ElementsAre("- 1 -> 2", "+ 1 -> 2"));
  options.columns = "op,source,target";
  EXPECT_THAT(decode(Format::snap, {"7 1 2", "d 1 2"}, options), ElementsAre("- 1 -> 2", "- 1 -> 2"));
  EXPECT_THAT(decode(Format::tsv, {"7\t1\t2", "+\t1\t2"}, options), ElementsAre("- 1 -> 2", "+ 1 -> 2"));
  options.columns = "source,target,deleted";
  EXPECT_THAT(decode(Format::snap, {"1 2 true", "1 2 f", "1 2 7", "1 2 d"}, options),
              ElementsAre("- 1 -> 2", "+ 1 -> 2", "- 1 -> 2", HasSubstr("! bad_operation: deleted `d` is unknown: true")));
  options.columns.clear();
  for (const Format format : {Format::tve, Format::jlg, Format::mtx, Format::binary}) {
    EXPECT_THAT(error_of([&] { (void)make_codec(format, options); }), HasSubstr("op-values")) << format_name(format);
  }
  options.envelope = Envelope::debezium;
  EXPECT_THAT(error_of([&] { (void)make_codec(Format::jsonl, options); }), HasSubstr("a change event has its own operations"));
}

TEST(Operations, OfAVertexToo) {
  EXPECT_THAT(decode(Format::jsonl, {R"({"vertex":1,"__deleted":true})", R"({"vertex":1,"label":"A","__op":"u"})"}),
              ElementsAre("- 1", "+ 1 (A)"));
}

}  // namespace
}  // namespace deltamatch::ingest
