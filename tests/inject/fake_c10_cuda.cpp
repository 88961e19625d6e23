// As much of PyTorch's caching allocator as reports what it does. Its blocks are no memory.
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace c10 {
struct Device {
  std::int8_t type, index;
};
void reportMemoryUsageToProfiler(void* address, std::int64_t bytes, std::size_t allocated, std::size_t reserved,
                                 Device device);
void reportOutOfMemoryToProfiler(std::int64_t bytes, std::size_t allocated, std::size_t reserved, Device device);
}  // namespace c10

namespace {
constexpr c10::Device kGpu = {1, 0}, kHost = {0, 0};
constexpr std::size_t kReserved = std::size_t{1} << 33;
std::mutex mutex;
std::size_t allocated;
}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT void fake_allocate(std::uintptr_t address, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  allocated += bytes;
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(address), static_cast<std::int64_t>(bytes), allocated,
                                   kReserved, kGpu);
}
FAKE_EXPORT void fake_free(std::uintptr_t address, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  allocated -= bytes;
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(address), -static_cast<std::int64_t>(bytes), allocated,
                                   kReserved, kGpu);
}
FAKE_EXPORT void fake_run_out(std::size_t bytes) {
  const std::lock_guard lock(mutex);
  c10::reportOutOfMemoryToProfiler(static_cast<std::int64_t>(bytes), allocated, kReserved, kGpu);
}
/// PyTorch's allocator of the host reports to the same function.
FAKE_EXPORT void fake_allocate_on_host(std::uintptr_t address, std::size_t bytes) {
  c10::reportMemoryUsageToProfiler(reinterpret_cast<void*>(address), static_cast<std::int64_t>(bytes), bytes, 0, kHost);
}
