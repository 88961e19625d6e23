// Sums of host samples, their JSON, and their stacks for flame graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "profile/host_sums.hpp"
#include "render/host_exports.hpp"
#include "report/json/host_json.hpp"
#include "report/profile_answer.hpp"
#include "report/profile_findings.hpp"
#include "report/runs.hpp"
#include "report/work_source.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

/// Frames: 0 main:5 (own), 1 load:31 (own), 2 decode in a library, 3 memcpy, 4 main:9 (own).
HostSamples planted() {
  HostSamples samples;
  samples.frames = {{"main", "/home/u/train.py", 5, true, true},
                    {"load", "/home/u/data.py", 31, true, true},
                    {"decode", "/venv/lib/python3.11/site-packages/pil.py", 7, true, false},
                    {"memcpy", "/usr/lib/libc.so.6", 0, false, false},
                    {"main", "/home/u/train.py", 9, true, true}};
  samples.stacks = {{3, 2, 1, 0}, {1, 1, 0}, {4}, {3}};
  samples.threads = {{10, 10, 1, "python3", "python3 train.py", true},
                     {10, 11, 1, "pin", "python3 train.py", false},
                     {20, 20, 10, "python3", "python3 worker;x", true}};
  const auto add = [&](int thread, int stack, ThreadState state, float seconds) {
    samples.samples.push_back({samples.samples.size() * 1000, thread, stack, state, -1, seconds});
  };
  add(0, 0, ThreadState::running, 3);
  add(0, 1, ThreadState::running, 1);
  add(0, 2, ThreadState::sleep, 2);
  add(1, 2, ThreadState::gil, 5);
  add(2, 3, ThreadState::running, 0.5);
  add(2, -1, ThreadState::lock, 0.25);
  samples.rate_hz = 99;
  samples.end = 8'000'000'000;
  return samples;
}

TEST(HostSums, TimeIsChargedToTheInnermostLineOfTheProgram) {
  const HostSamples samples = planted();
  EXPECT_EQ(charged_frame(samples, {3, 2, 1, 0}), 1);
  EXPECT_EQ(charged_frame(samples, {3}), 3);
  EXPECT_EQ(charged_frame(samples, {}), -1);
  const HostProfile host = host_profile(samples);
  EXPECT_DOUBLE_EQ(host.wall_s, 8);
  EXPECT_DOUBLE_EQ(host.times.on_cpu(), 4.5);
  EXPECT_DOUBLE_EQ(host.times.total(), 11.75);
  EXPECT_EQ(host.times.main_wait(), ThreadState::gil);
  ASSERT_EQ(host.lines.size(), 4U);
  EXPECT_EQ(host.lines[0].place.line, 31);
  EXPECT_DOUBLE_EQ(host.lines[0].times.on_cpu(), 4);
  EXPECT_EQ(host.lines[1].place.function, "memcpy");
  EXPECT_EQ(host.lines[2].place.line, 9);
  EXPECT_DOUBLE_EQ(host.lines[2].times.of(ThreadState::gil), 5);
  EXPECT_DOUBLE_EQ(host.lines[2].times.of(ThreadState::sleep), 2);
}

TEST(HostSums, FunctionsByThemselvesAndWithWhatTheyCall) {
  const HostProfile host = host_profile(planted());
  const auto function = [&](const std::string& name) {
    for (const HostFunctionSum& sum : host.functions) {
      if (sum.place.function == name) return sum;
    }
    return HostFunctionSum();
  };
  EXPECT_DOUBLE_EQ(function("memcpy").times.on_cpu(), 3.5);
  EXPECT_DOUBLE_EQ(function("decode").times.on_cpu(), 0);
  EXPECT_DOUBLE_EQ(function("decode").inclusive_cpu_s, 3);
  EXPECT_DOUBLE_EQ(function("load").times.on_cpu(), 1);
  EXPECT_DOUBLE_EQ(function("load").inclusive_cpu_s, 4);  // recursion counts once
  EXPECT_DOUBLE_EQ(function("main").inclusive_cpu_s, 4);
  EXPECT_EQ(function("main").place.line, 0);
}

TEST(HostSums, ThreadsAndProcesses) {
  const HostProfile host = host_profile(planted());
  ASSERT_EQ(host.threads.size(), 3U);
  EXPECT_EQ(host.threads[0].thread.tid, 10);
  ASSERT_GE(host.threads[0].hottest_line, 0);
  EXPECT_EQ(host.lines.at(static_cast<std::size_t>(host.threads[0].hottest_line)).place.line, 31);
  EXPECT_DOUBLE_EQ(host.threads[0].hottest_s, 4);
  EXPECT_EQ(host.lines.at(static_cast<std::size_t>(host.threads[0].longest_wait)).place.line, 9);
  EXPECT_EQ(host.threads[2].thread.tid, 11);
  EXPECT_EQ(host.threads[2].hottest_line, -1);
  EXPECT_EQ(host.thread_count, 3);
  ASSERT_EQ(host.processes.size(), 2U);
  EXPECT_EQ(host.process_count, 2);
  EXPECT_EQ(host.processes[0].pid, 10);
  EXPECT_EQ(host.processes[0].threads, 2);
  EXPECT_DOUBLE_EQ(host.processes[0].times.total(), 11);
}

TEST(HostSums, AnIdleTeamWaitsForNoLock) {
  HostSamples samples = planted();
  samples.frames.push_back({"syscall", "/usr/lib/x86_64-linux-gnu/libc.so.6", 0, false, false});
  samples.frames.push_back({"[unknown]", "/venv/lib/python3.12/site-packages/torch/lib/libgomp.so.1", 0, false, false});
  samples.frames.push_back({"pthread_mutex_lock", "/usr/lib/x86_64-linux-gnu/libc.so.6", 0, false, false});
  samples.stacks.push_back({5, 6});
  samples.stacks.push_back({7, 4});
  samples.samples.push_back({50'000, 1, 4, ThreadState::lock, -1, 90});
  samples.samples.push_back({51'000, 1, 5, ThreadState::lock, -1, 3});
  const HostProfile host = host_profile(samples);
  EXPECT_DOUBLE_EQ(host.times.of(ThreadState::lock), 3.25);
  EXPECT_DOUBLE_EQ(host.times.of(ThreadState::other), 90);
}

TEST(HostSums, APartOfTheTime) {
  HostSamples samples = planted();
  samples.start = 100;
  const HostSamples part = cut(samples, 1000, 3000);
  ASSERT_EQ(part.samples.size(), 3U);
  EXPECT_EQ(part.samples.front().time, 1000U);
  EXPECT_EQ(part.start, 1000U);
  EXPECT_EQ(part.end, 3000U);
  EXPECT_TRUE(cut(samples, 9'000'000'000, 9'000'000'001).samples.empty());
}

TEST(HostSums, AWarmUpLongerThanTheRunLeavesNothingAndSaysSo) {
  HostSamples samples = planted();
  const HostSamples rest = after_warmup(samples, 1e-6, 0, 3000);
  EXPECT_EQ(rest.start, 1000U);
  EXPECT_FALSE(rest.samples.empty());
  EXPECT_TRUE(rest.why_none.empty());
  const HostSamples none = after_warmup(samples, 60, 0, 3000);
  EXPECT_TRUE(none.samples.empty());
  EXPECT_FALSE(none.why_none.empty());
  EXPECT_LE(none.start, none.end);
}

TEST(HostSums, NoSamplesAreSaidWithTheirReason) {
  HostSamples none;
  none.why_none = "the program ended";
  const HostProfile host = host_profile(none);
  EXPECT_EQ(host.why_none, none.why_none);
  EXPECT_TRUE(host.lines.empty());
  EXPECT_FALSE(host_answer(host).empty());
}

/// A program of one thread that is so long in that state, and on a CPU otherwise.
HostProfile of_one_thread(ThreadState state, double seconds, bool python) {
  HostProfile host;
  host.wall_s = 10;
  host.process_count = 1;
  HostLineSum line;
  line.place = {.function = "work", .file = python ? "train.py" : "solver.c", .line = 5, .python = python, .own = true};
  host.lines = {line};
  HostThreadSum thread;
  thread.thread.main = true;
  thread.times.of(state) = seconds;
  thread.times.of(ThreadState::running) += 10 - seconds;
  thread.hottest_line = thread.longest_wait = 0;
  thread.hottest_s = thread.times.on_cpu();
  host.times = thread.times;
  host.threads = {thread};
  return host;
}

/// Threads of 80 ms that take turns: none stands for the program. A long one beside them does.
TEST(HostAnswer, SpeaksOfManyShortThreadsTogether) {
  for (const double first_s : {0.08, 5.0}) {
    HostProfile host = of_one_thread(ThreadState::lock, 9.99, false);
    host.thread_count = 41;
    host.lines[0].times.of(ThreadState::running) = 3;
    for (int i = 0; i < 20; ++i) {
      HostThreadSum thread;
      thread.thread.tid = 100 + i;
      thread.times.of(ThreadState::running) = i == 0 ? first_s : 0.08;
      thread.hottest_line = 0;
      thread.hottest_s = thread.times.on_cpu();
      host.threads.push_back(thread);
    }
    host.times.of(ThreadState::running) = 6;
    const std::string answer = host_answer(host);
    EXPECT_EQ(answer.find("40 threads") != std::string::npos, first_s < 1) << answer;
    EXPECT_EQ(answer.find("Thread 100") != std::string::npos, first_s > 1) << answer;
  }
}

/// A function of three lines, and one line of it; the thread has nearly all CPU time, or half of it.
TEST(HostAnswer, HasTheShareOfAFunctionWhoseTimeIsInSeveralLines) {
  for (const double others_s : {0., 10.}) {
    HostProfile host = of_one_thread(ThreadState::lock, 0, false);
    host.threads[0].hottest_s = 4;
    host.lines[0].times.of(ThreadState::running) = 4;
    for (const int number : {6, 7}) {
      HostLineSum line = host.lines[0];
      line.place.line = number;
      line.times.of(ThreadState::running) = 2.5;
      host.lines.push_back(line);
    }
    host.times.of(ThreadState::running) += others_s;
    const std::string answer = host_answer(host);
    EXPECT_THAT(answer, HasSubstr("40.0 %"));
    EXPECT_THAT(answer, HasSubstr("solver.c:5"));
    EXPECT_EQ(answer.find("90.0 %") != std::string::npos, others_s == 0) << answer;
    host.lines.resize(1);
    EXPECT_THAT(host_answer(host), HasSubstr("40.0 % of that in solver.c:5 work"));
  }
}

TEST(HostAnswer, SaysWhatToDoAboutWaits) {
  const auto about = [](ThreadState state, double seconds, bool python) {
    return host_answer(of_one_thread(state, seconds, python));
  };
  EXPECT_THAT(about(ThreadState::lock, 9, true), testing::HasSubstr("Hold the lock"));
  EXPECT_THAT(about(ThreadState::read, 9, true), testing::HasSubstr("another program"));
  EXPECT_THAT(about(ThreadState::sleep, 9, false), testing::HasSubstr("sleeping"));
  // A server that waits for its clients has nothing to mend.
  EXPECT_THAT(about(ThreadState::request, 9, true), testing::EndsWith("work."));
}

Report report_of_host() {
  Report report;
  report.profile.emplace();
  report.profile->program = {"python3", "train.py"};
  report.profile->host = host_profile(planted());
  return report;
}

TEST(HostSums, AProgramWithoutKernelsIsAnsweredByItsHost) {
  const Report report = report_of_host();
  EXPECT_TRUE(is_of_host(report));
  EXPECT_THAT(answer(report), HasSubstr("data.py:31"));
  EXPECT_TRUE(why_no_roofs(report).empty());
  Report of_gpu = report;
  of_gpu.profile->devices.emplace_back();
  EXPECT_FALSE(is_of_host(of_gpu));
}

TEST(HostJson, RoundTrip) {
  const auto json = json_of(host_profile(planted()));
  HostProfile again;
  read_json(JsonValue(json), again);
  EXPECT_EQ(json_of(again), json);
  EXPECT_EQ(json["threads"][0]["seconds"]["running"], 4.0);
  EXPECT_FALSE(json["threads"][0]["seconds"].contains("gil"));
}

TEST(HostJson, WhatRefersToNothingIsRefused) {
  const auto good = json_of(host_profile(planted()));
  const auto refused = [&](const auto& change) {
    auto json = good;
    change(json);
    HostProfile read;
    EXPECT_THROW(read_json(JsonValue(json), read), UsageError);
  };
  refused([](auto& json) { json["stacks"][0]["thread"] = 3; });
  refused([](auto& json) { json["stacks"][0]["frames"][0] = 99; });
  refused([](auto& json) { json["stacks"][0]["state"] = "dancing"; });
  refused([](auto& json) { json["threads"][0]["hottest"]["line"] = 77; });
  refused([](auto& json) { json["lines"][0]["seconds"]["running"] = -1; });
  refused([](auto& json) { json["seconds"]["dancing"] = 1; });
}

TEST(HostExports, CollapsedStacks) {
  const Report report = report_of_host();
  const std::string text = render_stacks(report);
  EXPECT_THAT(text, HasSubstr("python3 10;python3 10;main (train.py:5);load (data.py:31);decode (pil.py:7);"
                              "memcpy (libc.so.6) 3000000\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
  for (std::size_t at = 0; at < text.size();) {  // each line ends in a whole number
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    EXPECT_EQ(line.substr(line.rfind(' ') + 1).find_first_not_of("0123456789"), std::string::npos) << line;
    at = end + 1;
  }
}

TEST(HostExports, Speedscope) {
  const Report report = report_of_host();
  const auto json = nlohmann::json::parse(render_speedscope(report));
  ASSERT_EQ(json["profiles"].size(), 3U);
  const std::size_t frames = json["shared"]["frames"].size();
  for (const auto& profile : json["profiles"]) {
    EXPECT_EQ(profile["samples"].size(), profile["weights"].size());
    double sum = 0;
    for (const auto& weight : profile["weights"]) sum += weight.get<double>();
    EXPECT_DOUBLE_EQ(sum, profile["endValue"].get<double>());
    for (const auto& sample : profile["samples"]) {
      for (const auto& frame : sample) EXPECT_LT(frame.get<std::size_t>(), frames);
    }
  }
}

TEST(HostExports, AReportWithoutHostSamplesHasNone) {
  Report report;
  report.profile.emplace();
  EXPECT_THROW(render_stacks(report), UsageError);
  EXPECT_THROW(render_speedscope(report), UsageError);
}

}  // namespace
}  // namespace roofline
