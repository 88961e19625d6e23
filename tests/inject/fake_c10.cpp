// As much of PyTorch's libc10 as its caching allocator reports to.
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace c10 {

struct Device {
  std::int8_t type, index;
};

namespace {
std::atomic<int> reports;
std::atomic<std::size_t> reported;
}  // namespace

__attribute__((visibility("default"))) void reportMemoryUsageToProfiler(void*, std::int64_t, std::size_t allocated,
                                                                        std::size_t, Device) {
  ++reports;
  reported = allocated;
}
__attribute__((visibility("default"))) void reportOutOfMemoryToProfiler(std::int64_t, std::size_t, std::size_t,
                                                                        Device) {
  ++reports;
}

}  // namespace c10

/// What reached PyTorch.
extern "C" __attribute__((visibility("default"))) int fake_c10_reports() { return c10::reports; }
extern "C" __attribute__((visibility("default"))) std::size_t fake_c10_reported() { return c10::reported; }
