// Child processes that answer, fail, die and hang.
#include "device/companion.hpp"

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
class Says final : public Errand {
 public:
  explicit Says(std::function<std::string(int)> answer) : answer_(std::move(answer)) {}
  void idle() override { ++idled_; }
  std::string answer() override { return answer_(idled_); }

 private:
  std::function<std::string(int)> answer_;
  int idled_ = 0;
};

Companion says(std::function<std::string(int)> answer) {
  return Companion([answer] { return std::make_unique<Says>(answer); });
}

std::optional<std::string> asked(Companion& companion, double patience_s = 20) {
  Companion* const all[] = {&companion};
  companion.ask();
  Companion::wait_for(all, patience_s);
  return companion.answer();
}

TEST(Companion, AnswersFromAProcessOfItsOwn) {
  Companion companion = says([](int) { return std::to_string(::getpid()); });
  const auto first = asked(companion);
  ASSERT_TRUE(first);
  EXPECT_NE(*first, std::to_string(::getpid()));
  EXPECT_EQ(asked(companion), first);
  EXPECT_FALSE(companion.answer()) << "an answer is given once";
}

TEST(Companion, LongAnswersComeWhole) {
  const std::string text(3'000'000, 'x');
  Companion companion = says([&](int) { return text; });
  Companion* const all[] = {&companion};
  companion.ask();
  std::optional<std::string> answer;
  while (!answer && companion.lost().empty()) {
    Companion::wait_for(all, 1);
    answer = companion.answer();
  }
  EXPECT_TRUE(answer == text);
}

TEST(Companion, IdlesBetweenQuestions) {
  Companion companion = says([](int idled) { return std::to_string(idled); });
  int idled = 0;
  for (int i = 0; i < 500 && idled == 0; ++i) {
    ::usleep(200'000);
    idled = std::stoi(asked(companion).value_or("0"));
  }
  EXPECT_GT(idled, 0);
}

TEST(Companion, WhatItCouldNotBeginIsWhyItIsGone) {
  Companion companion([]() -> std::unique_ptr<Errand> { throw Error("no such GPU", "look again"); });
  EXPECT_FALSE(asked(companion));
  EXPECT_EQ(companion.lost(), "no such GPU: look again");
  companion.ask();  // harmless
  EXPECT_FALSE(companion.asked_s() && companion.lost().empty());
}

TEST(Companion, AnErrorInAnAnswerEndsIt) {
  Companion companion = says([](int) -> std::string { throw Error("the sensor broke"); });
  EXPECT_FALSE(asked(companion));
  EXPECT_EQ(companion.lost(), "the sensor broke");
}

TEST(Companion, ADeathIsSeenAndNamed) {
  Companion companion = says([](int) {
    std::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
    return std::string();
  });
  EXPECT_FALSE(asked(companion));
  EXPECT_THAT(companion.lost(), HasSubstr("signal 11"));
}

TEST(Companion, OneThatHangsKeepsNobodyWaiting) {
  Companion hangs = says([](int) -> std::string {
    for (;;) ::pause();
  });
  Companion answers = says([](int) { return std::string("here"); });
  std::array<Companion*, 2> all = {&hangs, &answers};
  for (Companion* companion : all) companion->ask();
  Companion::wait_for(all, 0.3);
  EXPECT_FALSE(hangs.answer());
  EXPECT_TRUE(hangs.lost().empty());
  EXPECT_TRUE(hangs.asked_s());
  Companion* const rest[] = {&answers};
  Companion::wait_for(rest, 20);
  EXPECT_EQ(answers.answer(), "here");
}

}  // namespace
}  // namespace roofline
