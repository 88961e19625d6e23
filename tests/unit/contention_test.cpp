// What disturbs a measurement on a CPU: recorded texts of /proc and of control groups, in a folder that stands in for
// the root, must give the sentences that they mean, and quiet ones none.
#include "model/contention.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "device/cpu/cgroup.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/cpu/system_reading.hpp"
#include "tests/support/files_under_a_root.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using ::testing::SizeIs;

constexpr const char* kStatus =
    "Name:\troofline\nThreads:\t2\nvoluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t{}\n";

/// A root with two CPUs and this process's two threads, pinned to one each.
class SystemFiles : public FilesUnderARoot {
 protected:
  /// Ticks of 10 ms since the start: in programs, and stolen.
  void write_stat(int busy0, int busy1, int stolen0 = 0, int stolen1 = 0) const {
    write("proc/stat", fmt::format("cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 {} 7 3 5000 20 1 4 {} 0 0\n"
                                   "cpu1 {} 0 10 6000 20 1 4 {} 0 0\nintr 9 9\nctxt 99\n",
                                   busy0 - 10, stolen0, busy1 - 10, stolen1));
  }

  /// A thread that ran and waited for so many seconds. The name is of the kind that breaks readers.
  void write_thread(int id, int cpu, double ran_s, double waited_s, int preemptions) const {
    const std::string folder = fmt::format("proc/self/task/{}/", id);
    write(folder + "schedstat", fmt::format("{:.0f} {:.0f} 77\n", 1e9 * ran_s, 1e9 * waited_s));
    write(folder + "status", fmt::format(fmt::runtime(kStatus), 5, preemptions));
    write(
        folder + "stat",
        fmt::format("{} (a) b (c) R 1 2 3 0 -1 4194304 10 0 0 0 11 2 0 0 20 0 2 0 100 4096 25 184467 1 1 0 0 0 0 0 0 0 "
                    "0 0 0 17 {} 0 0 0 0 0\n",
                    id, cpu));
  }

  SystemReading read() const { return read_system(root_.string()); }
};

TEST_F(SystemFiles, AreReadAsTheKernelWritesThem) {
  write_stat(150, 220, 11, 0);
  write_thread(41, 0, 1.25, 0.5, 12);
  write_thread(42, 1, 2.5, 0.125, 3);
  const SystemReading reading = read();
  ASSERT_THAT(reading.cpus, SizeIs(2));
  EXPECT_NEAR(reading.cpus.at(0).busy_s, 1.5, 1e-9);  // user, nice and system; neither idle nor interrupts
  EXPECT_NEAR(reading.cpus.at(0).stolen_s, 0.11, 1e-9);
  EXPECT_NEAR(reading.cpus.at(1).busy_s, 2.2, 1e-9);
  ASSERT_THAT(reading.threads, SizeIs(2));
  EXPECT_EQ(reading.threads.at(42).cpu, 1);
  EXPECT_NEAR(reading.threads.at(41).ran_s, 1.25, 1e-9);
  EXPECT_NEAR(reading.threads.at(41).waited_s, 0.5, 1e-9);
  EXPECT_EQ(reading.threads.at(41).preemptions, 12);
}

TEST_F(SystemFiles, OtherProgramsAreWhatIsBusyAndNotOurs) {
  write_stat(100, 100);
  write_thread(41, 0, 1, 0, 0);
  write_thread(42, 1, 1, 0, 0);
  const SystemReading before = read();
  write_stat(300, 300);  // two seconds on both CPUs, of which we had 1.2 and 0.6
  write_thread(41, 0, 2.2, 0.8, 31);
  write_thread(42, 1, 1.6, 1.4, 40);
  const Contention seen = contention_between(before, read(), 2, {0, 1}, 2);
  EXPECT_NEAR(seen.others_s, 2.2, 1e-9);
  EXPECT_NEAR(seen.worst_cpu_s, 1.4, 1e-9);
  EXPECT_NEAR(seen.waited_s, 1.4, 1e-9);
  EXPECT_EQ(seen.preemptions, 71);
  EXPECT_TRUE(is_significant(seen));
  EXPECT_THAT(describe(seen), mentions("other programs", "1.1 of 2 cores"));
}

/// Two CPUs for a second: what they were busy with, and threads of this process on them.
SystemReading a_second(double busy0, double busy1, double own_s, const std::map<int, ThreadTimes>& threads) {
  return {.cpus = {{0, {.busy_s = busy0}}, {1, {.busy_s = busy1}}}, .threads = threads, .own_s = own_s};
}

TEST(OwnThreads, AreNoOtherProgramsWhereverTheyRan) {
  const SystemReading before = a_second(0, 0, 0, {{41, {.cpu = 0}}});
  const auto others_of = [&](const SystemReading& after) {
    return contention_between(before, after, 1, {0, 1}, 2).others_s;
  };
  // A thread that moved: half a second on each CPU, seen on CPU 1 last.
  EXPECT_NEAR(others_of(a_second(0.5, 0.5, 1, {{41, {.cpu = 1, .ran_s = 1}}})), 0, 0.011);
  // A thread that started and ended in between.
  EXPECT_NEAR(others_of(a_second(1, 1, 2, {{41, {.cpu = 0, .ran_s = 1}}})), 0, 1e-9);
  // The same, with another program for the rest of the time.
  EXPECT_NEAR(others_of(a_second(1, 1, 1.4, {{41, {.cpu = 0, .ran_s = 1}}})), 0.6, 1e-9);
  EXPECT_NEAR(others_of(a_second(1, 1, 1, {{41, {.cpu = 0, .ran_s = 1}}})), 1, 1e-9);
}

TEST(OwnThreads, OnOtherCpusHideNobody) {
  const SystemReading before = a_second(0, 0, 0, {{41, {.cpu = 1}}});
  const SystemReading after = a_second(1, 1, 1, {{41, {.cpu = 1, .ran_s = 1}}});
  EXPECT_NEAR(contention_between(before, after, 1, {0}, 1).others_s, 1, 1e-9);
  EXPECT_NEAR(contention_between(before, after, 1, {1}, 1).others_s, 0, 1e-9);
}

TEST_F(SystemFiles, AQuietMachineIsNotDisturbed) {
  write_stat(100, 100);
  write_thread(41, 0, 1, 0, 0);
  write_thread(42, 1, 1, 0, 0);
  const SystemReading before = read();
  write_stat(302, 299, 0, 2);  // a tick more or less
  write_thread(41, 0, 2.999, 0.004, 2);
  write_thread(42, 1, 2.998, 0.003, 1);
  EXPECT_FALSE(is_significant(contention_between(before, read(), 2, {0, 1}, 2)));
}

/// Each reading is a tick too high on one CPU and too low on the other; over all of them nothing is.
TEST_F(SystemFiles, TicksOfManyShortReadingsDoNotAddUp) {
  const auto sum_of = [&](double others_s) {
    Contention sum;
    int busy[] = {100, 100};
    double ran_s = 1;
    write_stat(busy[0], busy[1]);
    write_thread(41, 0, ran_s, 0, 0);
    write_thread(42, 1, ran_s, 0, 0);
    for (int i = 0; i < 20; ++i) {
      const SystemReading before = read();
      const int tick = i % 2 == 0 ? 1 : -1;
      busy[0] += 4 + tick + static_cast<int>(100 * others_s);
      busy[1] += 4 - tick;
      ran_s += 0.04;
      write_stat(busy[0], busy[1]);
      write_thread(41, 0, ran_s, 0, 0);
      write_thread(42, 1, ran_s, 0, 0);
      sum += contention_between(before, read(), 0.05, {0, 1}, 2);
    }
    return sum;
  };
  EXPECT_NEAR(sum_of(0).others_s, 0, 1e-9);
  EXPECT_FALSE(is_significant(sum_of(0)));
  const Contention disturbed = sum_of(0.01);
  EXPECT_NEAR(disturbed.others_s, 0.2, 1e-9);
  EXPECT_NEAR(disturbed.worst_cpu_s, 0.2, 1e-9);
  EXPECT_TRUE(is_significant(disturbed));
}

/// A tick on each of some CPUs of many, in a time of five ticks.
TEST(Contention, TicksOfManyCpusAreNoOtherPrograms) {
  Contention seen{.wall_s = 0.052, .cpus = 16, .cores = 16, .others_s = 0.06, .worst_cpu_s = 0.009};
  EXPECT_FALSE(is_significant(seen));
  seen.others_s = 0.2;
  EXPECT_TRUE(is_significant(seen));
  seen = {.wall_s = 1.04, .cpus = 16, .cores = 16, .others_s = 0.9, .worst_cpu_s = 0.09};
  EXPECT_TRUE(is_significant(seen));
}

/// Sums of which one part came from a file, which has no CPUs.
TEST(Contention, AddsWhatIsKnown) {
  Contention read{.wall_s = 1, .cpus = 2};
  read.of_cpu = {{0, {.others_s = 0.3, .stolen_s = 0.1}}, {1, {.others_s = -0.1, .stolen_s = 0}}};
  read.sum_cpus();
  EXPECT_NEAR(read.others_s, 0.3, 1e-9);
  EXPECT_NEAR(read.worst_cpu_s, 0.4, 1e-9);
  const Contention loaded{.wall_s = 1, .cpus = 2, .others_s = 0.2, .stolen_s = 0.2, .worst_cpu_s = 0.2};
  Contention sum = read;
  sum += loaded;
  EXPECT_NEAR(sum.others_s, 0.5, 1e-9);
  EXPECT_NEAR(sum.worst_cpu_s, 0.6, 1e-9);
  sum += read;
  EXPECT_NEAR(sum.others_s, 0.8, 1e-9);
  EXPECT_NEAR(sum.stolen_s, 0.4, 1e-9);
}

TEST_F(SystemFiles, OnlyTheCpusOfTheMeasurementCount) {
  write_stat(100, 100);
  write_thread(41, 0, 1, 0, 0);
  const SystemReading before = read();
  write_stat(200, 200);  // another program on CPU 1
  write_thread(41, 0, 2, 0, 0);
  EXPECT_FALSE(is_significant(contention_between(before, read(), 1, {0}, 1)));
  const Contention both = contention_between(before, read(), 1, {0, 1}, 1);  // its SMT sibling
  EXPECT_TRUE(is_significant(both));
  EXPECT_THAT(describe(both), mentions("other programs", "1.0 of 2 logical CPUs"));
}

TEST_F(SystemFiles, WhatTheHypervisorTook) {
  write_stat(100, 100, 5, 5);
  write_thread(41, 0, 1, 0, 0);
  write_thread(42, 1, 1, 0, 0);
  const SystemReading before = read();
  write_stat(177, 177, 28, 28);
  write_thread(41, 0, 2, 0, 0);  // which counts the stolen time as its own
  write_thread(42, 1, 2, 0, 0);
  const Contention seen = contention_between(before, read(), 1, {0, 1}, 2);
  EXPECT_EQ(seen.others_s, 0);
  EXPECT_TRUE(is_significant(seen));
  EXPECT_THAT(describe(seen), mentions("hypervisor", "23 %"));
}

TEST_F(SystemFiles, ASystemThatTellsNothingDisturbsNothing) {
  const SystemReading before = read();
  EXPECT_TRUE(before.cpus.empty() && before.threads.empty());
  EXPECT_FALSE(is_significant(contention_between(before, read(), 1, {0, 1}, 2)));
  write_stat(100, 100);
  const SystemReading busy = read();
  write_stat(200, 200);
  // Without the threads' own times it can't be told whose they are.
  EXPECT_FALSE(is_significant(contention_between(busy, read(), 1, {0, 1}, 2)));
}

TEST_F(SystemFiles, ThrottlingByVersion2) {
  write("proc/self/cgroup", "0::/pod/box\n");
  write("sys/fs/cgroup/pod/box/cpu.stat", "usage_usec 900\nnr_periods 20\nnr_throttled 10\nthrottled_usec 250000\n");
  write("sys/fs/cgroup/pod/cpu.stat", "usage_usec 900\nnr_throttled 2\nthrottled_usec 600000\n");
  EXPECT_NEAR(read_throttled_s(root_.string()), 0.6, 1e-12);
}

TEST_F(SystemFiles, ThrottlingByVersion1) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n");
  write("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 20\nnr_throttled 10\nthrottled_time 1500000000\n");
  const SystemReading before = read();
  EXPECT_NEAR(before.throttled_s, 1.5, 1e-12);
  write("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 40\nnr_throttled 20\nthrottled_time 2000000000\n");
  const Contention seen = contention_between(before, read(), 1, {0, 1}, 2);
  EXPECT_TRUE(is_significant(seen));
  EXPECT_THAT(describe(seen), mentions("quota", "25 %"));
  EXPECT_EQ(read_throttled_s("/no/such/root"), 0);
}

Contention one_second(double others_s, double stolen_s = 0, double waited_s = 0) {
  return {.wall_s = 1,
          .cpus = 2,
          .cores = 2,
          .others_s = others_s,
          .stolen_s = stolen_s,
          .worst_cpu_s = (others_s + stolen_s) / 2,
          .waited_s = waited_s};
}

TEST(SignificantContention, HasItsThresholds) {
  EXPECT_FALSE(is_significant({}));
  EXPECT_FALSE(is_significant(one_second(0.09)));
  EXPECT_TRUE(is_significant(one_second(0.1)));  // 5 % of two CPUs
  EXPECT_FALSE(is_significant(one_second(0, 0.09)));
  EXPECT_TRUE(is_significant(one_second(0.05, 0.05)));
  EXPECT_FALSE(is_significant(one_second(0, 0, 0.049)));
  EXPECT_TRUE(is_significant(one_second(0, 0, 0.05)));
  Contention one_of_many = {.wall_s = 1, .cpus = 64, .cores = 64, .others_s = 0.1, .worst_cpu_s = 0.1};
  EXPECT_TRUE(is_significant(one_of_many));  // the others wait for that one
  one_of_many.worst_cpu_s = 0.05;
  EXPECT_FALSE(is_significant(one_of_many));
}

TEST(SignificantContention, TicksAreTooCoarseForShortTimes) {
  Contention brief = one_second(0.02, 0, 0.02);
  brief.wall_s = 0.05;
  EXPECT_FALSE(is_significant(brief));
  brief.others_s = 0.03;
  EXPECT_TRUE(is_significant(brief));
}

TEST(Contention, SumsAddUp) {
  Contention sum;
  EXPECT_FALSE(is_significant(sum));
  sum += one_second(0.02);
  sum += one_second(0.9, 0.2, 0.3);
  EXPECT_EQ(sum.wall_s, 2);
  EXPECT_EQ(sum.cpus, 2);
  EXPECT_DOUBLE_EQ(sum.others_s, 0.92);
  EXPECT_DOUBLE_EQ(sum.waited_s, 0.3);
  EXPECT_THAT(describe(sum), mentions("other programs", "0.5 of 2 cores", " and ", "hypervisor", "5 %"));
}

TEST(Describe, NamesTheThreadThatWaitedWhereNothingElseIsKnown) {
  EXPECT_THAT(describe(one_second(0, 0, 0.12)), mentions("thread", "12 %"));
  EXPECT_EQ(describe({}), "");
}

TEST(Summarise, SaysTheMostOfSeveralRowsInOneSentence) {
  const std::vector<NamedContention> rows = {{"a", one_second(0.4)}, {"b", one_second(1.1)}, {"c", one_second(0.2)}};
  EXPECT_THAT(summarise(rows, "row"), mentions("3 rows ", "other programs", "up to 1.1 of 2 cores", ": a, b and c"));
  EXPECT_THAT(summarise(std::span(rows).first(1), "row"),
              mentions("1 row ", "other programs", " 0.4 of 2 cores", ": a"));
  EXPECT_EQ(summarise({}, "row"), "");
  const std::vector<NamedContention> many(9, {"x", one_second(0.4, 0.5)});
  EXPECT_THAT(summarise(many, "ceiling"),
              mentions("9 ceilings ", "up to 0.4 of 2 cores", "hypervisor", "up to 25 %", "x, x, x, x, x and 4 more"));
}

TEST(Describe, SpeaksOfAGpuWhereThereAreNoCpus) {
  EXPECT_THAT(describe({.wall_s = 2, .others_s = 0.9, .throttled_s = 0.1}),
              mentions("other programs", "45 % of the GPU", " and ", " 5 %"));
  EXPECT_TRUE(is_significant({.wall_s = 1, .others_s = 0.05}));
  EXPECT_FALSE(is_significant({.wall_s = 1, .others_s = 0.04}));
  EXPECT_TRUE(is_significant({.wall_s = 4, .throttled_s = 0.05}));
}

TEST(ShareLost, IsTheLargestThatAnythingTook) {
  EXPECT_EQ(share_lost({}), 0);
  EXPECT_DOUBLE_EQ(share_lost(one_second(0.4)), 0.2);
  EXPECT_DOUBLE_EQ(share_lost(one_second(0.4, 0, 0.7)), 0.7);
  EXPECT_DOUBLE_EQ(share_lost({.wall_s = 2, .throttled_s = 0.5}), 0.25);
}

TEST(ReferenceRates, AreSummarisedForAllRowsAtOnce) {
  EXPECT_EQ(summarise(std::vector<NamedReferenceRate>()), "");
  EXPECT_THAT(summarise(std::vector<NamedReferenceRate>{{"a", 0.5}, {"b", 0.45}}),
              mentions("2 rows ", "0.45", ": a and b"));
}

TEST(WatchContention, OfARowOnOneThreadWatchesItsCoreOnly) {
  CpuDevice device({});
  EXPECT_EQ(device.watch_contention(1)().cores, 1);
  EXPECT_EQ(device.watch_contention()().cores, device.cores());
}

TEST(WatchContention, WatchesTheCpusOfTheDevice) {
  CpuDevice device(DeviceOptions{1});
  const auto seen = device.watch_contention();
  usleep(2000);
  const Contention contention = seen();
  EXPECT_GE(contention.wall_s, 0.002);
  EXPECT_EQ(contention.cores, 1);
  EXPECT_GE(contention.cpus, 1);
  EXPECT_GE(contention.others_s, 0);
  EXPECT_GE(contention.waited_s, 0);
}

}  // namespace
}  // namespace roofline
