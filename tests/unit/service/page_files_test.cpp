#include "ingest/service/http/page_files.hpp"

#include <gmock/gmock.h>

namespace deltamatch::ingest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PageFiles, AreWholeAndNeedNothingFromElsewhere) {
  for (const char* path : {"/", "/app.js", "/app.css", "/icon.svg", "/licences.txt"}) {
    const PageFile* const file = page_file(path);
    ASSERT_NE(file, nullptr) << path;
    EXPECT_EQ(unpacked(*file).size(), file->size);
    EXPECT_LT(file->gzip.size(), file->size);
    EXPECT_TRUE(is_known(*file, file->etag));
  }
  EXPECT_EQ(page_file("/index.html"), nullptr);
  EXPECT_EQ(page_file(""), nullptr);
  const std::string index = unpacked(*page_file("/"));
  EXPECT_THAT(index, HasSubstr("app.js"));
  EXPECT_THAT(index, Not(HasSubstr("//"))) << "nothing comes from elsewhere";
  EXPECT_THAT(index, Not(HasSubstr("style="))) << "the policy forbids it";
  EXPECT_THAT(unpacked(*page_file("/licences.txt")), HasSubstr("preact"));
}

TEST(PageFiles, HeadersOfRequestsAreUnderstood) {
  for (const char* yes : {"gzip", "deflate, gzip;q=1.0, *;q=0.5", "br,GZIP", "gzip;q=0.001"})
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
  for (const char* no : {"", "br", "gzip;q=0", "gzip; q=0.000", "xgzip", "identity"}) EXPECT_FALSE(accepts_gzip(no)) << no;
  const PageFile file{.path = "/", .type = {}, .etag = "\"ab\"", .gzip = {}};
  for (const char* yes : {"\"ab\"", "\"x\", \"ab\"", "W/\"ab\"", "*"}) EXPECT_TRUE(is_known(file, yes)) << yes;
  for (const char* no : {"", "ab", "\"abc\"", "\"x\""}) EXPECT_FALSE(is_known(file, no)) << no;
}

}  // namespace
}  // namespace deltamatch::ingest
