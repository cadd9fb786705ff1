// A leader that has read a cut of another one ends, whenever it reads it.
#include <gtest/gtest.h>

#include <cstdint>

#include "ingest/service/workers/leader_protocol.hpp"

namespace deltamatch::ingest::workers {
namespace {

using Kind = LeaderStep::Kind;

Cut cut_of(std::uint64_t batch) {
  Cut cut;
  cut.mark.batch = batch;
  return cut;
}

/// Carries out the steps up to the end of reading, and asserts that they come in this order.
void begin(LeaderProtocol& leader) {
  ASSERT_EQ(leader.next()->kind, Kind::initialise);
  leader.initialised();
  ASSERT_EQ(leader.next()->kind, Kind::read_cuts);
}

TEST(LeaderProtocol, LeadsAfterTheLastCut) {
  LeaderProtocol leader;
  begin(leader);
  leader.cut(cut_of(2));
  leader.cuts_read(cut_of(2));
  EXPECT_TRUE(leader.ready());
  leader.propose(cut_of(3));
  EXPECT_EQ(leader.next()->kind, Kind::commit);
  leader.cut(cut_of(3));  // the worker may read it before the answer comes
  leader.committed();
  EXPECT_TRUE(leader.ready());
  EXPECT_EQ(leader.last()->batch(), 3U);
}

TEST(LeaderProtocol, EndsIfAnotherOneCutsWhileItReads) {
  LeaderProtocol leader;
  begin(leader);
  leader.cut(cut_of(3));  // committed after the end that the leader reads to
  leader.cuts_read(cut_of(2));
  EXPECT_FALSE(leader.ready());
  EXPECT_EQ(leader.next()->kind, Kind::exit);
}

TEST(LeaderProtocol, EndsIfAnotherOneCutsBeforeItsAnswerComes) {
  LeaderProtocol leader;
  begin(leader);
  leader.cuts_read(cut_of(2));
  leader.propose(cut_of(3));
  EXPECT_EQ(leader.next()->kind, Kind::commit);
  leader.cut(cut_of(3));
  leader.cut(cut_of(4));
  leader.committed();
  EXPECT_EQ(leader.next()->kind, Kind::exit);
}

TEST(LeaderProtocol, EndsIfAnotherOneCutsWhileNothingIsUnderWay) {
  LeaderProtocol leader;
  begin(leader);
  leader.cuts_read(cut_of(2));
  leader.cut(cut_of(3));
  EXPECT_EQ(leader.next()->kind, Kind::exit);
}

}  // namespace
}  // namespace deltamatch::ingest::workers
