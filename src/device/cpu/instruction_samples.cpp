// SIGPROF of the process's CPU-time timer. The handler writes to an array that exists before, and allocates nothing.
#include "device/cpu/instruction_samples.hpp"

#include "host/host.hpp"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#endif

namespace roofline {

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
namespace {

constexpr std::size_t kMostSamples = 4096;
constexpr long kPeriodUs = 1000;

std::array<std::uintptr_t, kMostSamples> sampled;
std::atomic<std::size_t> sampled_count{0};

void on_timer(int, siginfo_t*, void* context) {
  const auto* state = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  const auto address = static_cast<std::uintptr_t>(state->uc_mcontext.gregs[REG_RIP]);
#else
  const auto address = static_cast<std::uintptr_t>(state->uc_mcontext.pc);
#endif
  if (const std::size_t at = sampled_count++; at < kMostSamples) sampled[at] = address;
}

/// Sends SIGPROF as long as it exists.
class ProfilingTimer {
 public:
  ProfilingTimer() {
    struct sigaction action = {};
    action.sa_sigaction = on_timer;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigaction(SIGPROF, &action, &old_);
    const itimerval every = {.it_interval = {0, kPeriodUs}, .it_value = {0, kPeriodUs}};
    ::setitimer(ITIMER_PROF, &every, nullptr);
  }
  ~ProfilingTimer() {
    const itimerval never = {};
    ::setitimer(ITIMER_PROF, &never, nullptr);
    ::signal(SIGPROF, SIG_IGN);  // drops one that is pending
    ::sigaction(SIGPROF, &old_, nullptr);
  }
  ProfilingTimer(const ProfilingTimer&) = delete;
  ProfilingTimer& operator=(const ProfilingTimer&) = delete;

 private:
  struct sigaction old_ = {};
};

}  // namespace

std::vector<std::uintptr_t> sample_instructions(double seconds, const std::function<void()>& run) {
  sampled_count = 0;
  {
    const ProfilingTimer timer;
    const double end = wall_seconds() + seconds;
    do run();
    while (wall_seconds() < end);
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(sampled_count.load(), kMostSamples));
  return {sampled.begin(), sampled.begin() + count};
}
#else
std::vector<std::uintptr_t> sample_instructions(double, const std::function<void()>&) { return {}; }
#endif

}  // namespace roofline
