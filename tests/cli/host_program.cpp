// A program without a GPU whose time is known: planted::heavy has 70 % of the work, planted::light 30 %; another thread
// waits in planted::idle. Both call planted::iterate, which is inlined. Its argument is how many seconds it runs.
#include <chrono>
#include <cstdlib>
#include <thread>

namespace planted {

volatile double sum = 1;  // NOLINT: keeps the work

__attribute__((always_inline)) inline double iterate(double own, int rounds) {
  for (int i = 0; i < rounds; ++i) own = own * 1.0000001 + 1e-9;
  return own;
}

__attribute__((noinline)) void heavy(int rounds) { sum = iterate(sum, rounds); }

__attribute__((noinline)) void light(int rounds) {
  sum = iterate(sum, rounds) + 1;  // unlike heavy(): equal functions may be made one
}

__attribute__((noinline)) void idle() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace planted

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 1;
  std::thread(planted::idle).detach();
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    planted::heavy(700'000);
    planted::light(300'000);
  }
  std::quick_exit(0);
}
