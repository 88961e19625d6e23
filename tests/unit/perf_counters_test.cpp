// perf_event_open: the machinery on software events, which every Linux has, and the refusals in words.
#include "device/cpu/perf_counters.hpp"

#include <gmock/gmock.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

#include <cerrno>
#include <vector>

#include "model/error.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

TEST(PerfCounters, CountsWhatALaunchDoes) {
  const std::vector<PerfEvent> events = {{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1}};
  std::unique_ptr<CounterReader> reader;
  try {
    reader = make_perf_reader(events);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  constexpr std::size_t kPages = 500;
  // Mapped by hand: an allocator may hand out pages that were touched before.
  const auto touch = [](std::size_t pages) {
    const std::size_t size = pages * 65536;
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    for (std::size_t i = 0; i < size; i += 4096) static_cast<volatile char*>(memory)[i] = 1;
    munmap(memory, size);
  };
  const Counters few = reader->count({[&](std::int64_t) {}}).front();
  const Counters many = reader->count({[&](std::int64_t) { touch(kPages); }}).front();
  EXPECT_EQ(many.source, "perf_event_open");
  EXPECT_LT(*few.find("faults"), 50);
  EXPECT_GT(*many.find("faults"), kPages / 2);
}

TEST(PerfCounters, AnEventThatIsNotThereIsReportedAndTheRestIsCounted) {
  const std::vector<PerfEvent> events = {{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
                                         {"nonsense", 0xFFFF, 0xFFFF}};
  std::unique_ptr<CounterReader> reader;
  try {
    reader = make_perf_reader(events);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const Counters counters = reader->count({[](std::int64_t) {}}).front();
  EXPECT_TRUE(counters.find("faults").has_value());
  EXPECT_FALSE(counters.find("nonsense").has_value());
  EXPECT_TRUE(counters.missing.contains("nonsense"));
}

TEST(PerfCounters, NothingAtAllIsAnErrorWithTheReason) {
  const std::vector<PerfEvent> events = {{"nonsense", 0xFFFF, 0xFFFF}};
  try {
    make_perf_reader(events);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("hardware event"));
  }
}

TEST(PerfCounters, RefusalsSayWhatWouldHelp) {
  EXPECT_THAT(perf_refusal(EACCES, 3), HasSubstr("perf_event_paranoid is 3"));
  EXPECT_THAT(perf_refusal(ENOENT, 2), HasSubstr("virtual machine"));
  EXPECT_THAT(perf_refusal(ENOSYS, 2), HasSubstr("perf_event_open"));
}

TEST(PerfCounters, EveryCpuIsAskedForTheBasics) {
  std::vector<std::string> ids;
  for (const PerfEvent& event : perf_events(CounterSet::standard)) ids.push_back(event.id);
  EXPECT_THAT(ids, testing::IsSupersetOf({"cycles", "instructions", "l3.miss_bytes"}));
  EXPECT_GT(perf_events(CounterSet::full).size(), ids.size());
}

}  // namespace
}  // namespace roofline
