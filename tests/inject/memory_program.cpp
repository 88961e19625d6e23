// Programs that allocate: memory_program SCENARIO LIBRARY, the library with a fake of PyTorch's caching allocator.
#include <cuda.h>
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fake_gpu.hpp"

namespace {

FakeFunction plain = {"plain", 0, {}, false};

__attribute__((noinline)) void launch(unsigned grid = 1) {
  cuLaunchKernel(reinterpret_cast<CUfunction>(&plain), grid, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr);
}

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

constexpr std::uintptr_t kBase = 0x7f0000000000;
constexpr std::size_t kMiB = 1 << 20;

/// As Python's import loads it: its symbols are not global.
struct Allocator {
  explicit Allocator(const char* path)
      : library(dlopen(path, RTLD_LOCAL | RTLD_LAZY)),
        allocate(reinterpret_cast<decltype(allocate)>(dlsym(library, "fake_allocate"))),
        free(reinterpret_cast<decltype(free)>(dlsym(library, "fake_free"))),
        run_out(reinterpret_cast<decltype(run_out)>(dlsym(library, "fake_run_out"))),
        allocate_on_host(reinterpret_cast<decltype(allocate_on_host)>(dlsym(library, "fake_allocate_on_host"))),
        reports(reinterpret_cast<decltype(reports)>(dlsym(library, "fake_c10_reports"))),
        reported(reinterpret_cast<decltype(reported)>(dlsym(library, "fake_c10_reported"))) {}

  void* library;
  void (*allocate)(std::uintptr_t, std::size_t);
  void (*free)(std::uintptr_t, std::size_t);
  void (*run_out)(std::size_t);
  void (*allocate_on_host)(std::uintptr_t, std::size_t);
  int (*reports)();
  std::size_t (*reported)();
};

void check(bool holds) {
  if (!holds) std::_Exit(9);
}

void allocates(const char* library) {
  const Allocator torch(library);
  torch.allocate(kBase, kMiB);  // before the driver is opened: nothing is recorded
  cuInit(0);
  launch(1);
  torch.allocate(kBase + kMiB, 2 * kMiB);
  launch(2);
  torch.allocate_on_host(kBase + 9 * kMiB, 5 * kMiB);
  torch.allocate(kBase + 4 * kMiB, 4 * kMiB);
  torch.allocate(kBase + 8 * kMiB, 8 * kMiB);
  launch(3);
  torch.free(kBase + kMiB, 2 * kMiB);
  torch.free(kBase, kMiB);
  check(torch.reports() == 7 && torch.reported() == 12 * kMiB);  // nothing is kept from PyTorch
}

void loads_late(const char* library) {
  cuInit(0);
  launch();
  const Allocator torch(library);
  torch.allocate(kBase, kMiB);  // may be missed
  sleep_ms(800);
  torch.allocate(kBase + kMiB, kMiB);
  launch();
  check(torch.reports() == 2);
}

void runs_out(const char* library) {
  const Allocator torch(library);
  cuInit(0);
  torch.allocate(kBase, 3 * kMiB);
  launch();
  torch.run_out(7 * kMiB);
  kill(getpid(), SIGKILL);
}

void steps(const Allocator& torch, bool recorded, int most, int& step) {
  const auto since = std::chrono::steady_clock::now();
  while (most-- > 0 && fake_cupti_records() == recorded &&
         std::chrono::steady_clock::now() - since < std::chrono::minutes(1)) {
    const std::uintptr_t address = kBase + static_cast<std::uintptr_t>(++step) * kMiB;
    torch.allocate(address, kMiB);
    const char data[16] = {};
    cuMemcpyHtoDAsync_v2(0x302000000, data, sizeof data, nullptr);
    for (unsigned grid = 1; grid <= 20; ++grid) launch(grid);
    torch.free(address, kMiB);
    sleep_ms(1);
  }
}

/// A block of the recorded part is freed while nothing is recorded, and others come and go.
void frees_while_quiet(const char* library) {
  const Allocator torch(library);
  cuInit(0);
  launch();
  torch.allocate(kBase, 5 * kMiB);
  int step = 0;
  steps(torch, true, 1 << 30, step);
  steps(torch, false, 50, step);
  torch.free(kBase, 5 * kMiB);
  steps(torch, false, 100, step);
}

void in_threads(const char* library) {
  const Allocator torch(library);
  cuInit(0);
  std::vector<std::thread> threads;
  for (std::uintptr_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&torch, thread] {
      for (std::uintptr_t i = 0; i < 1000; ++i) {
        const std::uintptr_t address = kBase + (thread * 1000 + i) * kMiB;
        torch.allocate(address, kMiB);
        if (i % 10 == 0) launch();
        torch.free(address, kMiB);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void allocates_with_cuda(const char*) {
  cuInit(0);
  launch();
  CUdeviceptr first = 0, second = 0, third = 0;
  cuMemAlloc_v2(&first, 3 * kMiB);
  cuMemAlloc_v2(&second, 5 * kMiB);
  cuMemFree_v2(first);
  check(cuMemAlloc_v2(&third, std::size_t{1} << 45) == CUDA_ERROR_OUT_OF_MEMORY);
  cuMemFree_v2(0x1234);  // of an allocation that nobody saw
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::map<std::string, void (*)(const char*)> scenarios = {
      {"allocates", allocates},   {"loads_late", loads_late},
      {"runs_out", runs_out},     {"frees_while_quiet", frees_while_quiet},
      {"in_threads", in_threads}, {"allocates_with_cuda", allocates_with_cuda}};
  const auto scenario = scenarios.find(arguments[1]);
  if (scenario == scenarios.end()) return 2;
  scenario->second(arguments[2]);
  return 0;
}
