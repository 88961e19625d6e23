// A signal handler that counts, and nothing else: all that is safe there.
#include "host/interrupt.hpp"

#include <csignal>

namespace roofline {
namespace {

volatile std::sig_atomic_t interrupt_count = 0;

void count_interrupt(int) { interrupt_count = interrupt_count + 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = count_interrupt;
  sigemptyset(&action.sa_mask);
  // No SA_RESTART: poll() in the supervisor has to return at once.
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupts() { return interrupt_count; }

}  // namespace roofline
