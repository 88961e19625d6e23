// Child processes: what they send, how they end, and what is left of them.
#include "host/process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>
#include <vector>

namespace roofline {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong(60'000);

std::string all_of(int fd) {
  std::string bytes;
  while (read_some(fd, bytes, kLong) != Arrival::closed) {
  }
  return bytes;
}

struct RunOutput {
  std::string text;
  std::optional<int> status;
};
RunOutput run(std::vector<std::string> argv, std::optional<std::vector<std::string>> environment = std::nullopt) {
  Channel channel = Channel::pipe();
  Process process = Process::execute({.argv = std::move(argv),
                                      .environment = std::move(environment),
                                      .standard_output = channel.child.get(),
                                      .standard_error = channel.child.get()});
  channel.child.close();
  RunOutput output{all_of(channel.parent.get()), {}};
  output.status = process.reap(kLong);
  return output;
}

TEST(Process, AProgramsOutputAndExitCodeArrive) {
  const RunOutput output = run({"sh", "-c", "echo out; echo error >&2; exit 3"});
  EXPECT_EQ(output.text, "out\nerror\n");
  ASSERT_TRUE(output.status);
  EXPECT_TRUE(WIFEXITED(*output.status));
  EXPECT_EQ(WEXITSTATUS(*output.status), 3);
}

TEST(Process, AProgramGetsTheEnvironmentOfItsCommand) {
  EXPECT_EQ(run({"sh", "-c", "echo $ROOFLINE_TEST"}, std::vector<std::string>{"ROOFLINE_TEST=here"}).text, "here\n");
}

TEST(Process, WhatCannotBeExecutedIsAnErrorWithItsReason) {
  try {
    Process::execute({.argv = {"/nowhere/program"}});
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
  }
}

TEST(Process, AGroupEndsAsAWhole) {
  Channel channel = Channel::pipe();
  Process shell = Process::execute(
      {.argv = {"sh", "-c", "sleep 600 & sleep 600"}, .standard_output = channel.child.get(), .own_group = true});
  channel.child.close();
  std::string bytes;
  EXPECT_EQ(read_some(channel.parent.get(), bytes, milliseconds(10)), Arrival::none);
  shell.signal(SIGKILL);
  EXPECT_EQ(all_of(channel.parent.get()), "") << "nothing holds the pipe open";
  const std::optional<int> status = shell.reap(kLong);
  ASSERT_TRUE(status);
  EXPECT_EQ(WTERMSIG(*status), SIGKILL);
}

TEST(Process, AForkedChildEndsWithItsResultAndAnExceptionIsOne) {
  Process seven = Process::fork([] { return 7; });
  const std::optional<int> status = seven.reap(kLong);
  ASSERT_TRUE(status);
  EXPECT_EQ(WEXITSTATUS(*status), 7);
  Process throwing = Process::fork([]() -> int { throw 1; });
  EXPECT_EQ(WEXITSTATUS(throwing.reap(kLong).value_or(0)), 1);
}

TEST(Process, ADestroyedOneIsKilledAndReaped) {
  pid_t pid = 0;
  {
    const Process endless = Process::fork([]() -> int {
      for (;;) ::pause();
    });
    pid = endless.pid();
    EXPECT_FALSE(endless.ended());
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(Process, OneThatIsNotOverIsNotReaped) {
  Process endless = Process::fork([]() -> int {
    for (;;) ::pause();
  });
  EXPECT_FALSE(endless.reap(milliseconds(1)));
  endless.signal(SIGTERM);
  EXPECT_TRUE(endless.reap(kLong));
}

TEST(Process, AClosedEndIsNoSignal) {
  Channel channel = Channel::sockets();
  channel.child.close();
  EXPECT_FALSE(write_all(channel.parent.get(), "x"));
}

TEST(Process, MessagesAreTakenWhole) {
  const std::string bytes = encode(1, 5, "first") + encode(2, 6, "");
  std::string received;
  std::vector<Message> messages;
  for (const char byte : bytes) {
    received += byte;
    while (auto message = take_message(received)) messages.push_back(*message);
  }
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].text, "first");
  EXPECT_EQ(messages[0].number, 5);
  EXPECT_EQ(messages[1].kind, 2U);
  EXPECT_TRUE(received.empty());
}

TEST(ProcessIdentity, IsThatOfADescendantAlone) {
  Process child = Process::execute({.argv = {"sleep", "600"}});
  const std::optional<ProcessIdentity> found = find_descendant(child.pid());
  ASSERT_TRUE(found);
  EXPECT_TRUE(exists(*found));
  EXPECT_FALSE(find_descendant(::getpid()));
  EXPECT_FALSE(find_descendant(::getppid()));
  EXPECT_FALSE(find_descendant(1));
}

TEST(ProcessIdentity, AGrandchildIsADescendant) {
  Channel channel = Channel::pipe();
  Process child = Process::execute({.argv = {"sh", "-c", "sleep 600 >&2 & echo $!; wait"},
                                    .standard_output = channel.child.get(),
                                    .own_group = true});
  std::string text;
  while (text.find('\n') == std::string::npos) read_some(channel.parent.get(), text, kLong);
  const std::optional<ProcessIdentity> found = find_descendant(static_cast<pid_t>(std::stol(text)));
  ASSERT_TRUE(found);
  EXPECT_TRUE(exists(*found));
}

TEST(ProcessIdentity, AnotherProcessWithTheSamePidGetsNoSignal) {
  Process child = Process::execute({.argv = {"sleep", "600"}});
  const ProcessIdentity found = find_descendant(child.pid()).value();
  const ProcessIdentity earlier = {found.pid, found.start - 1};
  EXPECT_FALSE(exists(earlier));
  EXPECT_FALSE(send_signal(earlier, SIGKILL));
  EXPECT_FALSE(child.ended());
  EXPECT_TRUE(send_signal(found, SIGTERM));
  const std::optional<int> status = child.reap(kLong);
  ASSERT_TRUE(status);
  EXPECT_EQ(WTERMSIG(*status), SIGTERM);
  EXPECT_FALSE(exists(found));
  EXPECT_FALSE(send_signal(found, SIGTERM));
}

}  // namespace
}  // namespace roofline
