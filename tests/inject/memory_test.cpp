// Memory as the injected library records it, of a fake of PyTorch's caching allocator and of the fake driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>

#include "injected.hpp"

namespace roofline::inject {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kMiB = 1 << 20;

std::vector<spool::Allocation> of(const Spool& spool, spool::MemoryEvent event,
                                  spool::MemoryPool pool = spool::MemoryPool::torch) {
  std::vector<spool::Allocation> found;
  std::copy_if(spool.allocations.begin(), spool.allocations.end(), std::back_inserter(found),
               [&](const spool::Allocation& record) { return record.event == event && record.pool == pool; });
  return found;
}

std::vector<std::uint64_t> bytes_of(const std::vector<spool::Allocation>& records) {
  std::vector<std::uint64_t> bytes;
  for (const spool::Allocation& record : records) bytes.push_back(record.bytes / kMiB);
  return bytes;
}

class MemoryInjected : public Injected {
 protected:
  Spool memory_spool(const std::string& scenario, const char* library, int signal = 0, const Environment& more = {}) {
    const Outcome outcome = run({ROOFLINE_MEMORY_PROGRAM, scenario, library}, more);
    if (signal == 0) {
      EXPECT_EQ(outcome.status, 0);
    } else {
      EXPECT_TRUE(WIFSIGNALED(outcome.status) && WTERMSIG(outcome.status) == signal);
    }
    EXPECT_EQ(outcome.spools.size(), 1U);
    return outcome.spools.empty() ? Spool() : outcome.spools[0];
  }
};

/// A library may bind its calls at their first time or when it is loaded, and then its table is read-only.
class BoundInEitherWay : public MemoryInjected, public testing::WithParamInterface<const char*> {};

TEST_P(BoundInEitherWay, AllocationsHaveThePlaceOfTheNextLaunch) {
  const Spool spool = memory_spool("allocates", GetParam());
  const auto allocated = of(spool, spool::MemoryEvent::allocated), freed = of(spool, spool::MemoryEvent::freed);
  EXPECT_THAT(bytes_of(allocated), ElementsAre(2, 4, 8)) << "not the first one, and not the host's";
  EXPECT_THAT(bytes_of(freed), ElementsAre(2)) << "the first block was not recorded";
  ASSERT_EQ(allocated.size(), 3U);
  EXPECT_EQ(allocated[0].allocated, 3 * kMiB);
  EXPECT_EQ(allocated[2].allocated, 15 * kMiB);
  EXPECT_EQ(allocated[2].reserved, std::uint64_t{1} << 33);
  EXPECT_LE(allocated[0].time, spool.launches[1].start);
  EXPECT_GE(allocated[1].time, spool.launches[1].end);
  for (std::size_t i = 0; i < 3; ++i) {
    const spool::Launch& launch = spool.launches[i == 0 ? 1 : 2];
    EXPECT_EQ(allocated[i].place, spool.kinds.at(launch.kind).place);
  }
  ASSERT_FALSE(spool.memory_uses.empty());
  EXPECT_EQ(spool.memory_uses.back().allocated, 12 * kMiB);
  EXPECT_EQ(spool.memory_uses.back().pool, spool::MemoryPool::torch);
  std::uint64_t most = 0;
  for (const spool::MemoryUse& use : spool.memory_uses) most = std::max(most, use.most_allocated);
  EXPECT_EQ(most, 15 * kMiB);
}

TEST_P(BoundInEitherWay, LibrariesMayBeLoadedLater) {
  const Spool spool = memory_spool("loads_late", GetParam());
  const auto allocated = of(spool, spool::MemoryEvent::allocated);
  ASSERT_FALSE(allocated.empty());
  EXPECT_EQ(allocated.back().allocated, 2 * kMiB);
}

INSTANTIATE_TEST_SUITE_P(Libraries, BoundInEitherWay, testing::Values(ROOFLINE_FAKE_LAZY, ROOFLINE_FAKE_NOW));

TEST_F(MemoryInjected, AFailureIsWrittenBeforeTheProgramDies) {
  const Spool spool = memory_spool("runs_out", ROOFLINE_FAKE_NOW, SIGKILL);
  const auto failed = of(spool, spool::MemoryEvent::failed);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].bytes, 7 * kMiB);
  EXPECT_EQ(failed[0].allocated, 3 * kMiB);
  EXPECT_THAT(bytes_of(of(spool, spool::MemoryEvent::allocated)), ElementsAre(3));
}

TEST_F(MemoryInjected, RecordedBlocksAreFollowedWhileNothingIsRecorded) {
  const Spool spool = memory_spool("frees_while_quiet", ROOFLINE_FAKE_NOW, 0, {{"ROOFLINE_RECORD", "sample"}});
  const auto ended = std::find_if(spool.notes.begin(), spool.notes.end(),
                                  [](const auto& note) { return note.first.code == spool::NoteCode::recording_ended; });
  ASSERT_NE(ended, spool.notes.end());
  const auto freed = of(spool, spool::MemoryEvent::freed);
  const auto kept = std::find_if(freed.begin(), freed.end(),
                                 [](const spool::Allocation& record) { return record.bytes == 5 * kMiB; });
  ASSERT_NE(kept, freed.end());
  EXPECT_GT(kept->time, ended->first.time);
  for (const spool::Allocation& record : of(spool, spool::MemoryEvent::allocated)) {
    EXPECT_LT(record.time, kept->time) << "recorded while nothing is";
  }
  EXPECT_EQ(spool.memory_uses.back().allocated, 0U);
}

TEST_F(MemoryInjected, ThreadsAllocateAtOnce) {
  const Spool spool = memory_spool("in_threads", ROOFLINE_FAKE_NOW);
  const auto allocated = of(spool, spool::MemoryEvent::allocated), freed = of(spool, spool::MemoryEvent::freed);
  EXPECT_GE(freed.size(), 4000U - 4 * 16);
  EXPECT_GE(allocated.size(), 4000U - 4 * 16) << "the last ones of a thread wait for its next launch";
}

TEST_F(MemoryInjected, MemoryOfCudaHasPlacesAndFailures) {
  const Spool spool = memory_spool("allocates_with_cuda", ROOFLINE_FAKE_NOW);
  const auto device = spool::MemoryPool::device;
  EXPECT_THAT(bytes_of(of(spool, spool::MemoryEvent::allocated, device)), ElementsAre(3, 5));
  const auto freed = of(spool, spool::MemoryEvent::freed, device),
             failed = of(spool, spool::MemoryEvent::failed, device);
  ASSERT_EQ(freed.size(), 1U);
  EXPECT_EQ(freed[0].allocated, 5 * kMiB);
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].bytes, std::uint64_t{1} << 45);
  EXPECT_THAT(of(spool, spool::MemoryEvent::allocated), IsEmpty());
}

}  // namespace
}  // namespace roofline::inject
