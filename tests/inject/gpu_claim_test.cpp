// Claims on a GPU, between processes.
#include "inject/gpu_claim.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <string>

namespace roofline::inject {
namespace {

const std::string kName = "roofline-test-" + std::to_string(getpid());

/// What a forked child finds.
bool in_child(const std::function<bool()>& ask) {
  const pid_t child = fork();
  if (child == 0) _exit(ask() ? 1 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

bool another_takes() {
  GpuClaim claim;
  return claim.take(kName);
}

TEST(GpuClaim, IsOfOneProcessAtATime) {
  GpuClaim claim;
  ASSERT_TRUE(claim.take(kName));
  EXPECT_TRUE(claim.take(kName)) << "it has it already";
  EXPECT_FALSE(in_child(another_takes));
  claim.give();
  EXPECT_TRUE(in_child(another_takes));
  EXPECT_TRUE(claim.take(kName)) << "the child has ended";
}

TEST(GpuClaim, IsNotKeptByAForkedChild) {
  GpuClaim claim;
  ASSERT_TRUE(claim.take(kName));
  const pid_t worker = fork();
  if (worker == 0) {
    pause();
    _exit(0);
  }
  claim.give();
  EXPECT_TRUE(in_child(another_takes));
  kill(worker, SIGKILL);
  waitpid(worker, nullptr, 0);
}

}  // namespace
}  // namespace roofline::inject
