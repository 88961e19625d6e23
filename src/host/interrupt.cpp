// A signal handler that counts, and nothing else: all that is safe there.
#include "host/interrupt.hpp"

#include <csignal>

namespace roofline {
namespace {

volatile std::sig_atomic_t interrupt_count = 0;
volatile std::sig_atomic_t interrupt_signal = 0;
volatile std::sig_atomic_t interrupt_by_terminal = 0;

void count_interrupt(int signal, siginfo_t* about, void*) {
  interrupt_signal = signal;
  interrupt_by_terminal = about != nullptr && about->si_code == SI_KERNEL ? 1 : 0;
  interrupt_count = interrupt_count + 1;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_sigaction = count_interrupt;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: poll() in the supervisor has to return at once.
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupts() { return interrupt_count; }

Interrupt last_interrupt() { return {.signal = interrupt_signal, .by_terminal = interrupt_by_terminal != 0}; }

}  // namespace roofline
