// Handlers that count, return, or end the process without running destructors: they only do what is safe in a handler.
#include "host/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

#include "host/unfinished_file.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

volatile std::sig_atomic_t interrupt_count = 0;
volatile std::sig_atomic_t interrupt_signal = 0;
volatile std::sig_atomic_t interrupt_by_terminal = 0;

std::atomic<const char*> interrupt_answer = nullptr;
static_assert(std::atomic<const char*>::is_always_lock_free);  // a handler reads it

void count_interrupt(int signal, siginfo_t* about, void*) {
  interrupt_signal = signal;
  interrupt_by_terminal = about != nullptr && about->si_code == SI_KERNEL ? 1 : 0;
  interrupt_count = interrupt_count + 1;
}

void let_write_fail(int) {}

/// For each signal that requests an end. SIGHUP stays ignored where it is.
void on_request_to_end(const struct sigaction& action) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    const bool ignored = sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
    if (signal != SIGHUP || !ignored) sigaction(signal, &action, nullptr);
  }
}

void write_in_handler(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(file, text.data(), text.size());
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void end_process(int) {
  remove_unfinished_files();
  write_in_handler(STDERR_FILENO, "roofline: interrupted\n");
  if (const char* answer = interrupt_answer) write_in_handler(STDOUT_FILENO, answer);
  ::_exit(static_cast<int>(ExitCode::cancelled));
}

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_sigaction = count_interrupt;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: poll() in the supervisor has to return at once.
  on_request_to_end(action);
  // A handler, not SIG_IGN: executed programs would inherit that.
  struct sigaction sizes = {};
  if (sigaction(SIGXFSZ, nullptr, &sizes) == 0 && sizes.sa_handler == SIG_DFL) {
    sizes.sa_handler = let_write_fail;
    sigaction(SIGXFSZ, &sizes, nullptr);
  }
}

void end_at_interrupts() {
  struct sigaction action = {};
  action.sa_handler = end_process;
  sigemptyset(&action.sa_mask);
  on_request_to_end(action);
}

void set_interrupt_answer(const char* text) { interrupt_answer = text; }

int interrupts() { return interrupt_count; }

Interrupt last_interrupt() { return {.signal = interrupt_signal, .by_terminal = interrupt_by_terminal != 0}; }

}  // namespace roofline
