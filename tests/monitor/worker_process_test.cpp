// Child processes that answer, fail, die and hang.
#include "host/worker_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "host/host.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;

/// Answers with what a function says.
class Says final : public Handler {
 public:
  explicit Says(std::function<std::string(int)> answer) : answer_(std::move(answer)) {}
  void idle() override { ++idled_; }
  std::string reply() override { return answer_(idled_); }

 private:
  std::function<std::string(int)> answer_;
  int idled_ = 0;
};

WorkerProcess says(std::function<std::string(int)> answer) {
  return WorkerProcess([answer] { return std::make_unique<Says>(answer); });
}

std::optional<std::string> asked(WorkerProcess& worker, double patience_s = 20) {
  WorkerProcess* const all[] = {&worker};
  worker.request();
  WorkerProcess::wait_for(all, patience_s);
  return worker.reply();
}

TEST(WorkerProcess, AnswersFromAProcessOfItsOwn) {
  WorkerProcess worker = says([](int) { return std::to_string(::getpid()); });
  const auto first = asked(worker);
  ASSERT_TRUE(first);
  EXPECT_NE(*first, std::to_string(::getpid()));
  EXPECT_EQ(asked(worker), first);
  EXPECT_FALSE(worker.reply()) << "an answer is given once";
}

TEST(WorkerProcess, LongAnswersComeWhole) {
  const std::string text(3'000'000, 'x');
  WorkerProcess worker = says([&](int) { return text; });
  WorkerProcess* const all[] = {&worker};
  worker.request();
  std::optional<std::string> answer;
  while (!answer && worker.lost().empty()) {
    WorkerProcess::wait_for(all, 1);
    answer = worker.reply();
  }
  EXPECT_TRUE(answer == text);
}

TEST(WorkerProcess, IdlesBetweenQuestions) {
  WorkerProcess worker = says([](int idled) { return std::to_string(idled); });
  int idled = 0;
  for (int i = 0; i < 500 && idled == 0; ++i) {
    ::usleep(200'000);
    idled = std::stoi(asked(worker).value_or("0"));
  }
  EXPECT_GT(idled, 0);
}

TEST(WorkerProcess, WhatItCouldNotBeginIsWhyItIsGone) {
  WorkerProcess worker([]() -> std::unique_ptr<Handler> { throw Error("no such GPU", "look again"); });
  EXPECT_FALSE(asked(worker));
  EXPECT_EQ(worker.lost(), "no such GPU: look again");
  worker.request();  // harmless
  EXPECT_FALSE(worker.requested_s() && worker.lost().empty());
}

TEST(WorkerProcess, AnErrorInAnAnswerEndsIt) {
  WorkerProcess worker = says([](int) -> std::string { throw Error("the sensor broke"); });
  EXPECT_FALSE(asked(worker));
  EXPECT_EQ(worker.lost(), "the sensor broke");
}

TEST(WorkerProcess, ADeathIsSeenAndNamed) {
  WorkerProcess worker = says([](int) {
    std::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
    return std::string();
  });
  EXPECT_FALSE(asked(worker));
  EXPECT_THAT(worker.lost(), HasSubstr("signal 11"));
}

TEST(WorkerProcess, OneThatHangsKeepsNobodyWaiting) {
  WorkerProcess hangs = says([](int) -> std::string {
    for (;;) ::pause();
  });
  WorkerProcess answers = says([](int) { return std::string("here"); });
  std::array<WorkerProcess*, 2> all = {&hangs, &answers};
  for (WorkerProcess* worker : all) worker->request();
  WorkerProcess::wait_for(all, 0.3);
  EXPECT_FALSE(hangs.reply());
  EXPECT_TRUE(hangs.lost().empty());
  EXPECT_TRUE(hangs.requested_s());
  WorkerProcess* const rest[] = {&answers};
  WorkerProcess::wait_for(rest, 20);
  EXPECT_EQ(answers.reply(), "here");
}

}  // namespace
}  // namespace roofline
