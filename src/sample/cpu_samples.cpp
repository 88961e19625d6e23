#include "sample/cpu_samples.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "host/clock.hpp"
#include "sample/bytes.hpp"

namespace roofline {
namespace {

constexpr std::size_t kRingPages = 32;
constexpr std::uint32_t kStackBytes = 16384;
/// Nobody waits for samples of instructions: they are drained by the clock.
constexpr std::uint32_t kNeverWakeUp = 1U << 30U;

// Registers by their numbers in asm/perf_regs.h, in the order in which a record has them.
#if defined(__aarch64__)
constexpr std::uint64_t kRegisters = 1ULL << 29U | 1ULL << 30U | 1ULL << 31U | 1ULL << 32U;  // x29, lr, sp, pc
#else
constexpr std::uint64_t kRegisters = 1ULL << 6U | 1ULL << 7U | 1ULL << 8U;  // bp, sp, ip
#endif

std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
std::size_t ring_bytes() { return (kRingPages + 1) * page_size(); }

perf_event_attr attributes_of(CpuSampleContent content, int rate_hz) {
  perf_event_attr attributes = {};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attributes.inherit = 1;
  attributes.exclude_hv = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  attributes.wakeup_events = content == CpuSampleContent::stack ? 1 : kNeverWakeUp;
  if (content == CpuSampleContent::fault) {
    attributes.config = PERF_COUNT_SW_PAGE_FAULTS;
    attributes.freq = 1;
    attributes.sample_freq = static_cast<std::uint64_t>(rate_hz);
  } else {
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.sample_period = kNsPerSecond / static_cast<std::uint64_t>(rate_hz);
  }
  if (content == CpuSampleContent::instruction) {
    attributes.sample_type |= PERF_SAMPLE_IP;
    return attributes;
  }
  attributes.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attributes.sample_regs_user = kRegisters;
  attributes.sample_stack_user = kStackBytes;
  return attributes;
}

}  // namespace

bool parse_cpu_sample(std::string_view record, CpuSample& sample, CpuSampleContent content) {
  ByteCursor cursor(record);
  const bool instruction = content == CpuSampleContent::instruction;
  if (instruction) sample.registers.program_counter = cursor.number<std::uint64_t>();
  sample.pid = cursor.number<std::int32_t>();
  sample.tid = cursor.number<std::int32_t>();
  sample.time = cursor.number<std::uint64_t>();
  if (instruction) return cursor.good();
  const auto abi = cursor.number<std::uint64_t>();
  if (!cursor.good() || abi != PERF_SAMPLE_REGS_ABI_64) return false;
  Registers& registers = sample.registers;
  registers.frame_pointer = cursor.number<std::uint64_t>();
#if defined(__aarch64__)
  registers.return_address = cursor.number<std::uint64_t>();
#endif
  registers.stack_pointer = cursor.number<std::uint64_t>();
  registers.program_counter = cursor.number<std::uint64_t>();
  const auto reserved = cursor.number<std::uint64_t>();
  const std::string_view stack = cursor.bytes(reserved);
  const std::uint64_t filled = reserved > 0 ? cursor.number<std::uint64_t>() : 0;
  sample.stack = stack.substr(0, filled);
  return cursor.good();
}

CpuSampling::CpuSampling(const std::vector<pid_t>& threads, int rate_hz, CpuSampleContent content)
    : content_(content), sees_kernel_(content == CpuSampleContent::stack) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (threads.empty() || ::sched_getaffinity(threads.front(), sizeof allowed, &allowed) != 0) {
    why_not_ = "the program has ended";
    return;
  }
  // An event that is inherited by new threads has a ring only if it is bound to a CPU.
  const long configured = std::min<long>(::sysconf(_SC_NPROCESSORS_CONF), CPU_SETSIZE);
  for (int cpu = 0; cpu < configured; ++cpu) {
    if (!CPU_ISSET(static_cast<unsigned>(cpu), &allowed)) continue;
    if (open(threads.front(), cpu, rate_hz)) continue;
    if (!rings_.empty()) continue;
    const bool may_lack_permission = std::exchange(sees_kernel_, false);
    if (!may_lack_permission || !open(threads.front(), cpu, rate_hz)) return;
  }
  for (std::size_t i = 1; i < threads.size(); ++i) {
    for (int cpu = 0; cpu < configured; ++cpu) {
      if (CPU_ISSET(static_cast<unsigned>(cpu), &allowed)) open(threads[i], cpu, rate_hz);
    }
  }
  if (!rings_.empty()) why_not_.clear();
}

CpuSampling::~CpuSampling() {
  for (const Ring& ring : rings_) ::munmap(ring.memory, ring_bytes());
}

bool CpuSampling::open(pid_t thread, int cpu, int rate_hz) {
  perf_event_attr attributes = attributes_of(content_, rate_hz);
  attributes.exclude_kernel = sees_kernel_ ? 0 : 1;
  Descriptor event(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, thread, cpu, -1, static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC))));
  if (event.get() < 0) {
    why_not_ = fmt::format("perf_event_open is not permitted here ({})", std::strerror(errno));
    return false;
  }
  void* const memory = ::mmap(nullptr, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, event.get(), 0);
  if (memory == MAP_FAILED) {
    why_not_ = fmt::format("the kernel's sample buffer can't be mapped ({})", std::strerror(errno));
    return false;
  }
  rings_.push_back({std::move(event), memory});
  return true;
}

bool CpuSampling::wait(std::chrono::nanoseconds patience) const {
  std::vector<pollfd> waiting;
  for (const Ring& ring : rings_) waiting.push_back({ring.event.get(), POLLIN, 0});
  constexpr auto kSecond = static_cast<std::int64_t>(kNsPerSecond);
  const timespec time = {static_cast<time_t>(patience.count() / kSecond), patience.count() % kSecond};
  return ::ppoll(waiting.data(), waiting.size(), &time, nullptr) > 0;
}

void CpuSampling::drain(const std::function<void(const CpuSample&)>& take) {
  for (const Ring& ring : rings_) drain(ring, take);
}

void CpuSampling::drain(const Ring& ring, const std::function<void(const CpuSample&)>& take) {
  auto& head = *static_cast<perf_event_mmap_page*>(ring.memory);
  const char* const data = static_cast<const char*>(ring.memory) + page_size();
  const std::size_t size = kRingPages * page_size();
  const std::uint64_t end = std::atomic_ref(head.data_head).load(std::memory_order_acquire);
  std::uint64_t at = head.data_tail;
  while (at < end) {
    perf_event_header header = {};
    const auto copy = [&](std::uint64_t from, char* to, std::size_t count) {
      const std::size_t first = from % size, part = std::min(count, size - first);
      std::memcpy(to, data + first, part);
      std::memcpy(to + part, data, count - part);
    };
    copy(at, reinterpret_cast<char*>(&header), sizeof header);
    if (header.size < sizeof header) break;
    if (header.type == PERF_RECORD_SAMPLE) {
      record_.resize(header.size - sizeof header);
      copy(at + sizeof header, record_.data(), record_.size());
      CpuSample sample;
      sample.kernel = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
      if (parse_cpu_sample(record_, sample, content_)) take(sample);
    }
    at += header.size;
  }
  std::atomic_ref(head.data_tail).store(end, std::memory_order_release);
}

}  // namespace roofline
