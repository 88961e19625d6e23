// Jobs in child processes: what crashes costs only itself.
#include "device/isolate.hpp"

#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

struct Ending {
  std::map<std::int64_t, std::string> messages;
  std::map<std::int64_t, std::string> lost;
};

Ending run_jobs(std::int64_t count, const std::function<AfterJob(std::int64_t, const Send&)>& run) {
  Ending outcome;
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
  const Ending outcome = run_jobs(3, [](std::int64_t, const Send& send) {
    send(pid());
    return AfterJob::next;
  });
  ASSERT_EQ(outcome.messages.size(), 3U);
  EXPECT_EQ(outcome.messages.at(0), outcome.messages.at(2));
  EXPECT_NE(outcome.messages.at(0), pid());
  EXPECT_TRUE(outcome.lost.empty());
}

TEST(Isolate, FreshProcessOnRequest) {
  const Ending outcome = run_jobs(3, [](std::int64_t job, const Send& send) {
    send(pid());
    return job == 0 ? AfterJob::fresh_process : AfterJob::next;
  });
  EXPECT_NE(outcome.messages.at(0), outcome.messages.at(1));
  EXPECT_EQ(outcome.messages.at(1), outcome.messages.at(2));
  EXPECT_TRUE(outcome.lost.empty());
}

TEST(Isolate, NothingLeftEndsAll) {
  const Ending outcome = run_jobs(1000, [](std::int64_t job, const Send& send) {
    send(pid());
    return job == 2 ? AfterJob::nothing_left : AfterJob::next;
  });
  EXPECT_EQ(outcome.messages.size(), 3U);
  EXPECT_TRUE(outcome.lost.empty());
}

TEST(Isolate, CrashesCostOnlyTheirOwnJob) {
  const Ending outcome = run_jobs(5, [](std::int64_t job, const Send& send) {
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
  const Ending outcome = run_jobs(4, [](std::int64_t, const Send&) -> AfterJob { ::_exit(1); });
  EXPECT_EQ(outcome.lost.size(), 4U);
}

TEST(Isolate, LargeMessagesArriveWhole) {
  const std::string large(3'000'000, 'x');
  const Ending outcome = run_jobs(2, [&](std::int64_t, const Send& send) {
    send(large);
    send("end");
    return AfterJob::next;
  });
  EXPECT_EQ(outcome.messages.at(0), large + "end");
  EXPECT_EQ(outcome.messages.at(1), large + "end");
}

/// A job that never ends, in each way: it costs itself alone, and its process is gone when run_isolated() returns.
TEST(Isolate, WhatHangsIsEndedAtItsLimit) {
  std::map<std::int64_t, pid_t> pids;
  std::map<std::int64_t, std::string> lost;
  Jobs jobs;
  jobs.count = 4;
  jobs.run = [](std::int64_t job, const Send& send) {
    send(pid());
    if (job == 0) ::raise(SIGSTOP);
    while (job == 1) ::pause();
    for (volatile unsigned spin = 0; job == 2;) spin = spin + 1;
    return AfterJob::next;
  };
  jobs.on_message = [&](std::int64_t job, std::string_view text) { pids[job] = std::stoi(std::string(text)); };
  jobs.on_lost = [&](std::int64_t job, const std::string& reason) { lost[job] = reason; };
  jobs.limit_s = [](std::int64_t job) { return job < 3 ? std::optional(1.0) : std::nullopt; };
  EXPECT_EQ(run_isolated(jobs), JobsEnd::finished);
  EXPECT_EQ(pids.size(), 4U);
  ASSERT_EQ(lost.size(), 3U);
  for (const auto& [job, reason] : lost) EXPECT_THAT(reason, mentions("1 s"));
  for (const auto& [job, id] : pids) EXPECT_NE(::kill(id, 0), 0) << "the process of job " << job << " stays behind";
}

/// It holds the pipe open, and outlives its parent.
TEST(Isolate, WhatAJobHasStartedEndsWithIt) {
  const Ending outcome = run_jobs(2, [](std::int64_t job, const Send& send) {
    const pid_t started = ::fork();
    if (started == 0) {
      if (::fork() == 0) ::setsid();
      for (;;) ::pause();
    }
    send(std::to_string(started));
    if (job == 0) ::raise(SIGKILL);
    return AfterJob::next;
  });
  EXPECT_EQ(outcome.lost.size(), 1U);
  ASSERT_EQ(outcome.messages.size(), 2U);
  for (const auto& [job, id] : outcome.messages) EXPECT_NE(::kill(std::stoi(id), 0), 0) << job;
}

/// A parent that was stopped itself (Ctrl-Z) has not watched its child, and does not hold the time against it.
TEST(Isolate, TheLimitDoesNotRunWhileTheParentIsStopped) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    bool lost = false;
    Jobs jobs;
    jobs.count = 1;
    jobs.run = [](std::int64_t, const Send& send) {
      send("begun");
      ::usleep(2'500'000);
      return AfterJob::next;
    };
    jobs.on_message = [](std::int64_t, std::string_view) { ::raise(SIGSTOP); };
    jobs.on_lost = [&](std::int64_t, const std::string&) { lost = true; };
    jobs.limit_s = [](std::int64_t) { return 2.0; };
    run_isolated(jobs);
    ::_exit(lost ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, WUNTRACED), parent);
  ASSERT_TRUE(WIFSTOPPED(status));
  ::usleep(2'700'000);
  ::kill(parent, SIGCONT);
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Isolate, EnoughIsAskedBeforeEachProcess) {
  int started = 0, lost = 0;
  Jobs jobs;
  jobs.count = 10;
  jobs.run = [](std::int64_t, const Send&) -> AfterJob { ::_exit(1); };
  jobs.on_message = [](std::int64_t, std::string_view) {};
  jobs.on_lost = [&](std::int64_t, const std::string&) { ++lost; };
  jobs.enough = [&] { return started++ == 3; };
  EXPECT_EQ(run_isolated(jobs), JobsEnd::finished);
  EXPECT_EQ(lost, 3);
}

TEST(Isolate, NoJobsAreFine) {
  EXPECT_TRUE(run_jobs(0, [](std::int64_t, const Send&) { return AfterJob::next; }).messages.empty());
}

}  // namespace
}  // namespace roofline
