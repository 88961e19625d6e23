// The gate and the clock stamps (stamps.hpp).
#include "device/cuda/stamps.hpp"

#include <cstring>
#include <vector>

#include "measure/statistics.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kGateLimitNs = 20'000'000;

__device__ std::uint64_t globaltimer() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void gate_kernel(const volatile unsigned* flag, unsigned ticket) {
  const std::uint64_t start = globaltimer();
  while (*flag != ticket && globaltimer() - start < kGateLimitNs) {
  }
}

__global__ void stamp_kernel(ClockStamp* stamps, unsigned slots) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (sm >= slots) return;
  const std::uint64_t now = globaltimer();
  const std::uint64_t cycles = static_cast<std::uint64_t>(clock64());
  // Two blocks may share an SM; a 16-byte store keeps each pair whole.
  reinterpret_cast<ulonglong2*>(stamps)[sm] = make_ulonglong2(now, cycles);
}

}  // namespace

Gate::Gate() : flag_(make_pinned_memory(sizeof(unsigned))) { open(); }

void Gate::open() noexcept { *static_cast<volatile unsigned*>(flag_.get()) = ticket_; }

void Gate::close(cudaStream_t stream) {
  ++ticket_;
  gate_kernel<<<1, 1, 0, stream>>>(static_cast<const unsigned*>(flag_.get()), ticket_);
  check_launch("gate kernel");
}

ClockStamps::ClockStamps(int sm_count)
    : sm_count_(sm_count), stamps_(make_pinned_memory(2 * kMaxSms * sizeof(ClockStamp))) {}

void ClockStamps::enqueue(cudaStream_t stream, int side) {
  ClockStamp* const stamps = static_cast<ClockStamp*>(stamps_.get()) + side * kMaxSms;
  std::memset(static_cast<void*>(stamps), 0, kMaxSms * sizeof(ClockStamp));
  // Twice as many blocks as SMs: an idle GPU deals them out evenly, so that each SM gets one at least.
  stamp_kernel<<<2 * sm_count_, 32, 0, stream>>>(stamps, kMaxSms);
  check_launch("clock stamp kernel");
}

std::optional<double> ClockStamps::clock_hz() const {
  const ClockStamp* const before = static_cast<const ClockStamp*>(stamps_.get());
  const ClockStamp* const after = before + kMaxSms;
  std::vector<double> clocks;
  for (int sm = 0; sm < kMaxSms; ++sm) {
    if (before[sm].nanoseconds == 0 || after[sm].nanoseconds <= before[sm].nanoseconds) continue;
    if (after[sm].cycles <= before[sm].cycles) continue;
    clocks.push_back(1e9 * static_cast<double>(after[sm].cycles - before[sm].cycles) /
                     static_cast<double>(after[sm].nanoseconds - before[sm].nanoseconds));
  }
  if (clocks.empty()) return std::nullopt;
  return upper_median(std::move(clocks));
}

}  // namespace roofline
