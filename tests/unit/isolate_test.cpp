// Jobs in child processes: what crashes costs only itself.
#include "device/isolate.hpp"

#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <string>
#include <vector>

namespace roofline {
namespace {

struct Outcome {
  std::map<std::int64_t, std::string> messages;
  std::map<std::int64_t, std::string> lost;
};

Outcome run_jobs(std::int64_t count, const std::function<AfterJob(std::int64_t, const Send&)>& run) {
  Outcome outcome;
  Jobs jobs;
  jobs.count = count;
  jobs.run = run;
  jobs.on_message = [&](std::int64_t job, std::string_view text) { outcome.messages[job] += text; };
  jobs.on_lost = [&](std::int64_t job, const std::string& reason) { outcome.lost[job] = reason; };
  EXPECT_EQ(run_isolated(jobs), JobsEnd::finished);
  return outcome;
}

std::string pid() { return std::to_string(::getpid()); }

TEST(Isolate, RunsAllJobsInOneChild) {
  const Outcome outcome = run_jobs(3, [](std::int64_t, const Send& send) {
    send(pid());
    return AfterJob::next;
  });
  ASSERT_EQ(outcome.messages.size(), 3U);
  EXPECT_EQ(outcome.messages.at(0), outcome.messages.at(2));
  EXPECT_NE(outcome.messages.at(0), pid());
  EXPECT_TRUE(outcome.lost.empty());
}

TEST(Isolate, FreshProcessOnRequest) {
  const Outcome outcome = run_jobs(3, [](std::int64_t job, const Send& send) {
    send(pid());
    return job == 0 ? AfterJob::fresh_process : AfterJob::next;
  });
  EXPECT_NE(outcome.messages.at(0), outcome.messages.at(1));
  EXPECT_EQ(outcome.messages.at(1), outcome.messages.at(2));
  EXPECT_TRUE(outcome.lost.empty());
}

TEST(Isolate, NothingLeftEndsAll) {
  const Outcome outcome = run_jobs(1000, [](std::int64_t job, const Send& send) {
    send(pid());
    return job == 2 ? AfterJob::nothing_left : AfterJob::next;
  });
  EXPECT_EQ(outcome.messages.size(), 3U);
  EXPECT_TRUE(outcome.lost.empty());
}

TEST(Isolate, CrashesCostOnlyTheirOwnJob) {
  const Outcome outcome = run_jobs(5, [](std::int64_t job, const Send& send) {
    if (job == 1) ::raise(SIGKILL);
    if (job == 3) ::_exit(9);
    send("done");
    return AfterJob::next;
  });
  EXPECT_EQ(outcome.messages.size(), 3U);
  ASSERT_EQ(outcome.lost.size(), 2U);
  EXPECT_NE(outcome.lost.at(1).find("signal 9"), std::string::npos) << outcome.lost.at(1);
  EXPECT_NE(outcome.lost.at(3).find("exit code 9"), std::string::npos) << outcome.lost.at(3);
}

TEST(Isolate, EveryJobMayCrash) {
  const Outcome outcome = run_jobs(4, [](std::int64_t, const Send&) -> AfterJob { ::_exit(1); });
  EXPECT_EQ(outcome.lost.size(), 4U);
}

TEST(Isolate, LargeMessagesArriveWhole) {
  const std::string large(3'000'000, 'x');
  const Outcome outcome = run_jobs(2, [&](std::int64_t, const Send& send) {
    send(large);
    send("end");
    return AfterJob::next;
  });
  EXPECT_EQ(outcome.messages.at(0), large + "end");
  EXPECT_EQ(outcome.messages.at(1), large + "end");
}

TEST(Isolate, NoJobsAreFine) {
  EXPECT_TRUE(run_jobs(0, [](std::int64_t, const Send&) { return AfterJob::next; }).messages.empty());
}

}  // namespace
}  // namespace roofline
