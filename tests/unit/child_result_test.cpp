// Text made in a child process, and what is said where the child fails.
#include "host/child_result.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#include "model/error.hpp"

namespace roofline {
namespace {

/// The message of the error that `make` ends with.
std::string failure_of(const std::function<std::string()>& make) {
  try {
    result_of_child("it can't be made", make);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ChildResult, ArrivesWholeHoweverLongItIs) {
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{5'000'000}}) {
    const std::string bytes(length, '\0');
    EXPECT_EQ(result_of_child("", [&] { return bytes; }), bytes);
  }
}

TEST(ChildResult, IsMadeInAnotherProcess) {
  int here = 0;
  const std::string pid = result_of_child("", [&] {
    here = 1;
    return std::to_string(::getpid());
  });
  EXPECT_NE(pid, std::to_string(::getpid()));
  EXPECT_EQ(here, 0);
}

TEST(ChildResult, ItsErrorsAreThrownHere) {
  try {
    result_of_child("", []() -> std::string { throw Error("no font", "install one"); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no font");
    EXPECT_EQ(error.hint(), "install one");
  }
  EXPECT_EQ(failure_of([]() -> std::string { throw std::runtime_error("odd"); }), "odd");
  EXPECT_THROW(result_of_child("", []() -> std::string { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST(ChildResult, ACrashIsAnErrorThatNamesTheSignal) {
  const std::string failure = failure_of([]() -> std::string {
    std::signal(SIGABRT, SIG_DFL);  // a sanitizer's handler would print
    std::abort();
  });
  EXPECT_NE(failure.find("it can't be made"), std::string::npos) << failure;
  EXPECT_NE(failure.find("signal 6"), std::string::npos) << failure;
  EXPECT_NE(failure_of([]() -> std::string { ::_exit(3); }).find("exit code 3"), std::string::npos);
}

TEST(ChildResult, LeavesNoProcess) {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }  // of earlier tests in this process
  result_of_child("", [] { return std::string("text"); });
  failure_of([]() -> std::string { ::_exit(3); });
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace roofline
