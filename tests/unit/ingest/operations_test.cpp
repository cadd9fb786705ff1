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
  for (const char* value : {"remove", "EdgeRemoved", "DELETE_EDGE", "edge.delete", "edge-drop", "DBDelete", "unfriended",
                            "removeEdge", "add_or_remove", "rows deleted"})
    EXPECT_EQ(read_words(value), false) << value;
  for (const char* value : {"add_edge", "EdgeAdded", "edge.create", "follow", "un-deleted add"})
    EXPECT_EQ(read_words(value), true) << value;
  for (const char* value : {"", "d", "PAYS", "down", "edge", "undeleted", "not_deleted", "dropbox", "a_d", "12", "\xff"})
    EXPECT_EQ(read_words(value), std::nullopt) << value;
  for (const char* value : {"down", "link_down", "LinkDown", "user.left", "deleted", "d", "-"})
    EXPECT_EQ(read_state(value), false);
  for (const char* value : {"", "down_payment", "not down", "lefty", "offer"})
    EXPECT_EQ(read_state(value), std::nullopt) << value;
  for (const char* value : {"up", "user.joined", "c", "add_edge"}) EXPECT_EQ(read_state(value), true) << value;
}

TEST(OperationColumns, SayARemovalByTheirKind) {
  for (const char* name : {"is_active", "_fivetran_active", "isCurrent"}) {
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
    for (const char* value : {"", "NULL", "9999-12-31", "infinity"}) EXPECT_FALSE(says_removal(name, value)) << value;
  }
  for (const char* name : {"current", "active_users", "valid_from", "end", "count"})
    EXPECT_FALSE(may_say_operation(name)) << name;
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
