// SIGSEGV opens the page of an access and sets the trap flag; SIGTRAP, after that instruction, closes it again. What
// the handlers use is set up before: they allocate nothing.
#include "device/cpu/access_trace.hpp"

#include "host/host.hpp"
#include "model/error.hpp"

#if defined(__linux__) && defined(__x86_64__)
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>
#endif

namespace roofline {

#if defined(__linux__) && defined(__x86_64__)
namespace {

constexpr std::uintptr_t kTracePage = 4096;
constexpr long long kTrapFlag = 0x100;
constexpr long long kWriteFault = 2;   // of the page fault's error code
constexpr std::size_t kMostOpen = 64;  // pages that one instruction accesses: a gather of 16 elements, some twice

struct Trace {
  std::span<const std::span<std::byte>> buffers;
  std::vector<TracedAccess> found;
  std::size_t most = 0;
  double end_s = 0;
  pthread_t thread = ::pthread_self();
  bool over = false;
  std::array<std::uintptr_t, kMostOpen> open = {};
  std::size_t open_count = 0;
  struct sigaction old_fault = {}, old_trap = {};
};

/// Trace of the calling thread; handlers have no other argument.
Trace* active_trace = nullptr;

void protect(const std::span<std::byte>& buffer, int protection) {
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data()) & ~(kTracePage - 1);
  const auto end =
      (reinterpret_cast<std::uintptr_t>(buffer.data()) + buffer.size() + kTracePage - 1) & ~(kTracePage - 1);
  if (end > begin) ::mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
}

void open_all(const Trace& trace) {
  for (const auto& buffer : trace.buffers) protect(buffer, PROT_READ | PROT_WRITE);
}

/// True if the page has bytes of a traced buffer, and is protected for that reason.
bool is_traced_page(const Trace& trace, std::uintptr_t page) {
  for (const auto& buffer : trace.buffers) {
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data());
    if (page + kTracePage > begin && page < begin + buffer.size()) return true;
  }
  return false;
}

void record(Trace& trace, std::uintptr_t address, bool is_write) {
  for (std::size_t i = 0; i < trace.buffers.size(); ++i) {
    const auto begin = reinterpret_cast<std::uintptr_t>(trace.buffers[i].data());
    if (address < begin || address >= begin + trace.buffers[i].size()) continue;
    trace.found.push_back({static_cast<std::uint32_t>(i), is_write, address});
    return;
  }
}

void on_fault(int, siginfo_t* info, void* context) {
  const int error = errno;
  Trace& trace = *active_trace;
  auto* state = static_cast<ucontext_t*>(context);
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const std::uintptr_t page = address & ~(kTracePage - 1);
  if (!is_traced_page(trace, page)) {
    ::sigaction(SIGSEGV, &trace.old_fault, nullptr);  // the kernel's own fault: it happens again
  } else if (trace.over || ::pthread_equal(::pthread_self(), trace.thread) == 0 || trace.found.size() == trace.most ||
             trace.open_count == kMostOpen || wall_seconds() > trace.end_s) {
    trace.over = true;
    open_all(trace);
  } else {
    // The second page of an access is no second access.
    if (trace.open_count == 0) record(trace, address, (state->uc_mcontext.gregs[REG_ERR] & kWriteFault) != 0);
    trace.open[trace.open_count++] = page;
    ::mprotect(reinterpret_cast<void*>(page), kTracePage, PROT_READ | PROT_WRITE);
    state->uc_mcontext.gregs[REG_EFL] |= kTrapFlag;
  }
  errno = error;
}

void on_step(int, siginfo_t*, void* context) {
  const int error = errno;
  Trace& trace = *active_trace;
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kTrapFlag;
  for (; trace.open_count > 0; --trace.open_count) {
    if (!trace.over) ::mprotect(reinterpret_cast<void*>(trace.open[trace.open_count - 1]), kTracePage, PROT_NONE);
  }
  errno = error;
}

/// Handlers and protection, taken back whatever the kernel does.
class Tracing {
 public:
  explicit Tracing(Trace& trace) : trace_(trace) {
    active_trace = &trace;
    set(SIGSEGV, on_fault, trace.old_fault);
    set(SIGTRAP, on_step, trace.old_trap);
    for (const auto& buffer : trace.buffers) protect(buffer, PROT_NONE);
  }
  ~Tracing() {
    open_all(trace_);
    ::sigaction(SIGSEGV, &trace_.old_fault, nullptr);
    ::sigaction(SIGTRAP, &trace_.old_trap, nullptr);
    active_trace = nullptr;
  }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

 private:
  static void set(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& old) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    if (::sigaction(signal, &action, &old) != 0) throw Error("no handler for the trace of accesses");
  }

  Trace& trace_;
};

}  // namespace

bool can_trace_accesses() { return ::sysconf(_SC_PAGESIZE) == static_cast<long>(kTracePage); }

std::vector<TracedAccess> trace_accesses(std::span<const std::span<std::byte>> buffers, const TraceLimits& limits,
                                         const std::function<void()>& run) {
  Trace trace;
  trace.buffers = buffers;
  trace.most = limits.accesses;
  trace.end_s = wall_seconds() + limits.seconds;
  trace.found.reserve(limits.accesses);
  {
    const Tracing tracing(trace);
    run();
  }
  return std::move(trace.found);
}
#else
bool can_trace_accesses() { return false; }

std::vector<TracedAccess> trace_accesses(std::span<const std::span<std::byte>>, const TraceLimits&,
                                         const std::function<void()>&) {
  throw Error("accesses are traced on Linux and x86-64 only");
}
#endif

}  // namespace roofline
