// The CPU device: who it is (DeviceInfo from topology, cgroup and cpuinfo) and how a batch is timed.
#include "device/cpu/cpu_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "device/cpu/amx.hpp"
#include "device/cpu/cgroup.hpp"
#include "device/cpu/core_clock.hpp"
#include "device/cpu/mapped_buffer.hpp"
#include "device/cpu/placement.hpp"
#include "device/cpu/power_sensors.hpp"
#include "device/cpu/system_reading.hpp"
#include "device/slug.hpp"
#include "host/files.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kPageBytes = 4096;
constexpr std::size_t kHugePagesTrial = std::size_t{4} << 20;  // 1 ms
constexpr std::int64_t kAloneBytes = std::int64_t{1} << 16;    // 3 to 10 µs for one core

std::optional<double> max_core_hz(int cpu) {
  const auto kilohertz = number_in(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/cpuinfo_max_freq", cpu));
  if (kilohertz && *kilohertz > 0) return *kilohertz * 1e3;
  return std::nullopt;  // common in virtual machines
}

/// The most SMT siblings that a core has: performance cores may have two where efficiency cores have one.
std::size_t threads_a_core(const Topology& topology) {
  std::size_t most = 1;
  for (const std::vector<int>& core : topology.cores) most = std::max(most, core.size());
  return most;
}

/// Text for the share of a buffer that the system backed with huge pages, if it asked for them.
std::string huge_pages_text(double share) {
  if (share >= 1) return "granted to large buffers";
  const std::string setting = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  if (share > 0) return fmt::format("granted to {:.0f} % of a large buffer", 100 * share);
  return setting.empty() ? "not granted: this kernel has no transparent huge pages"
                         : "not granted: the system's setting is " + setting;
}

std::vector<Attribute> describe(const Topology& topology, const CpuName& name, const CgroupLimits& limits,
                                const Placement& placement, Isa isa) {
  const std::size_t siblings = threads_a_core(topology);
  std::vector<Attribute> attributes = {
    {AttributeKey::packages, fmt::format("{}", topology.packages)},
    {AttributeKey::numa_nodes, fmt::format("{}", std::max<std::size_t>(1, topology.numa_nodes.size()))},
    {AttributeKey::physical_cores, fmt::format("{}", topology.cores.size())},
    {AttributeKey::logical_cpus, fmt::format("{}", topology.cpus())},
    {AttributeKey::smt, siblings > 1 ? fmt::format("{} threads per core", siblings) : "not visible"},
    {AttributeKey::pinned_to, "CPU " + cpu_list(placement.cpus)},
#if defined(__aarch64__)
    {AttributeKey::part, name.version},
#else
    {AttributeKey::model, name.version},
#endif
    {AttributeKey::virtual_machine, !name.hypervisor   ? "not visible"
                                    : *name.hypervisor ? "yes"
                                                       : "no"},
  };
  const std::string lacking = lacking_levels(cpu_isa(), kHighestIsa);
  if (!lacking.empty()) attributes.push_back({AttributeKey::build, lacking});
  // Asks for the tiles: before there are threads that use them, for State makes its description before its pool.
  if (const auto amx = describe_amx(isa)) attributes.push_back({AttributeKey::amx, *amx});
  for (const std::string& note : placement.notes) attributes.push_back({AttributeKey::threads, note});
  if (limits.cpus) attributes.push_back({AttributeKey::cpu_quota, fmt::format("{:.2f} CPUs", *limits.cpus)});
  const std::string governor =
      first_line(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", placement.cpus.front()));
  if (!governor.empty()) attributes.push_back({AttributeKey::governor, governor});
  return attributes;
}

DeviceInfo describe_device(const Topology& topology, const CpuName& name, const CgroupLimits& limits,
                           const Placement& placement, Isa isa) {
  const std::vector<int>& cpus = placement.cpus;
  DeviceInfo info;
  info.kind = DeviceKind::cpu;
  info.name = name.name;
  info.identity = slug(
      fmt::format("cpu {} {} {}c {}t {}", name.name, name.version, topology.cores.size(), cpus.size(), to_string(isa)));
  if (placement.chosen) info.identity += "-cpus-" + cpu_set_name(cpus);
  info.units = static_cast<std::int64_t>(cpus.size());
  info.memory_bytes = std::min(topology.memory_bytes, limits.memory_bytes.value_or(topology.memory_bytes));
  info.caches = caches_under(topology, cpus);
  info.max_core_hz = max_core_hz(cpus.front());
  info.isa = to_string(isa);
  info.attributes = describe(topology, name, limits, placement, isa);
  return info;
}

/// The smallest step that the clock is seen to make, reading it as fast as it can be read.
double measure_resolution_s() {
  auto least = Clock::duration::max();
  for (int i = 0; i < 1000; ++i) {
    const auto first = Clock::now();
    auto next = first;
    while (next == first) next = Clock::now();
    least = std::min(least, next - first);
  }
  return std::chrono::duration<double>(least).count();
}

class CpuTimer final : public Timer {
 public:
  CpuTimer(LaunchFunction launch, const ThreadPool& pool) : launch_(std::move(launch)), pool_(pool) {}

  Reading time(std::int64_t launches) override {
    const ThreadPool::PinnedCaller pinned(pool_);
    const auto start = Clock::now();
    for (std::int64_t launch = 0; launch < launches; ++launch) launch_(launch);
    const auto stop = Clock::now();
    // At once after the batch: the core is still in the power state that the launches put it into.
    return {std::chrono::duration<double>(stop - start).count(), measure_core_hz()};
  }

 private:
  LaunchFunction launch_;
  const ThreadPool& pool_;
};

}  // namespace

struct CpuDevice::State {
  State(const DeviceOptions& options, Isa level, const Topology& machine)
      : topology(machine),
        limits(read_cgroup_limits()),
        placement(place_threads(topology, {options.threads, options.cpus, limits.cpus.value_or(0)})),
        isa(level),
        name(parse_cpu_name(text_of("/proc/cpuinfo"), placement.cpus.front())),
        info(describe_device(topology, name, limits, placement, isa)),
        resolution_s(measure_resolution_s()),
        pool(placement.cpus) {
    const MappedBuffer trial(kHugePagesTrial, pool);
    info.huge_page_share = std::min(1.0, trial.huge_page_bytes() / static_cast<double>(trial.size()));
    info.attributes.push_back({AttributeKey::huge_pages, huge_pages_text(*info.huge_page_share)});
  }

  Topology topology;
  CgroupLimits limits;
  Placement placement;
  Isa isa;
  CpuName name;
  DeviceInfo info;
  std::optional<double> measured_cache_bytes;
  double resolution_s;
  ThreadPool pool;
  PowerSensors sensors;
  double free_at_opening = 0;
  std::shared_ptr<Buffer> scratch;
  Pages pages = Pages::huge;

  /// On all workers, or by the caller alone what it has done before they are awake: a busy machine takes milliseconds
  /// to give each of them its CPU, and a case has dozens of guards and small tensors to set and to look at.
  void in_shares(std::size_t bytes, const std::function<void(std::int64_t begin, std::int64_t end)>& work) {
    const auto count = static_cast<std::int64_t>(bytes);
    if (count <= kAloneBytes) {
      work(0, count);
    } else {
      pool.for_range(count, kPageBytes, work);
    }
  }

  /// Mapped but unused: counts as free.
  bool scratch_is_idle() const { return scratch.use_count() == 1; }
};

CpuDevice::CpuDevice(const DeviceOptions& options, Isa isa, const Topology& topology)
    : state_(std::make_unique<State>(options, isa, topology)) {
  state_->free_at_opening = std::min(free_memory_bytes(), topology.memory_bytes);
}
CpuDevice::~CpuDevice() = default;

const DeviceInfo& CpuDevice::info() const { return state_->info; }
void CpuDevice::use_huge_pages(bool use) { state_->pages = use ? Pages::huge : Pages::small; }
ThreadPool& CpuDevice::pool() { return state_->pool; }
Isa CpuDevice::isa() const { return state_->isa; }
const CpuName& CpuDevice::name() const { return state_->name; }
const Topology& CpuDevice::topology() const { return state_->topology; }
const std::vector<int>& CpuDevice::cpus() const { return state_->placement.cpus; }
PowerReading CpuDevice::power() { return state_->sensors.read(); }
int CpuDevice::cores() const { return cores_under(state_->topology, state_->placement.cpus); }
double CpuDevice::free_memory_at_opening() const { return state_->free_at_opening; }
std::optional<double> CpuDevice::measured_cache_bytes() const { return state_->measured_cache_bytes; }

void CpuDevice::set_measured_cache_bytes(double bytes) {
  const double inner = nearer_cache_bytes(info(), Level::l3);
  state_->measured_cache_bytes.reset();
  if (bytes < last_level_cache_bytes()) state_->measured_cache_bytes = std::max(bytes, inner);
}

double CpuDevice::timer_resolution_s() const { return state_->resolution_s; }

double CpuDevice::free_memory_bytes() const {
  const double available = available_memory_bytes(text_of("/proc/meminfo"));
  const double allowed = std::min(available, read_cgroup_limits().free_memory_bytes.value_or(available));
  return allowed + (state_->scratch_is_idle() ? static_cast<double>(state_->scratch->size()) : 0);
}

std::unique_ptr<Buffer> CpuDevice::allocate(std::size_t bytes) {
  // Linux promises more than it has, and kills a process that takes it at its word: ask before.
  const double free = free_memory_bytes();
  if (static_cast<double>(bytes) > free) {
    throw Error(fmt::format("{:.1f} MiB of memory requested, {:.1f} MiB free", static_cast<double>(bytes) / 1048576,
                            free / 1048576),
                "use smaller sizes, or stop other programs");
  }
  if (state_->scratch_is_idle() && static_cast<double>(bytes + state_->scratch->size()) > free) state_->scratch.reset();
  return std::make_unique<MappedBuffer>(bytes, state_->pool, state_->pages);
}

std::shared_ptr<Buffer> CpuDevice::scratch(std::size_t bytes) {
  if (state_->scratch == nullptr || state_->scratch->size() < bytes) {
    state_->scratch.reset();
    state_->scratch = allocate(bytes);
  }
  return state_->scratch;
}

void CpuDevice::upload(void* device, const void* host, std::size_t bytes) { copy(device, host, bytes); }
void CpuDevice::download(void* host, const void* device, std::size_t bytes) { copy(host, device, bytes); }

void CpuDevice::copy(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  state_->in_shares(bytes, [=](std::int64_t begin, std::int64_t end) {
    std::memcpy(target + begin, source + begin, static_cast<std::size_t>(end - begin));
  });
}

void CpuDevice::fill(void* device, std::byte value, std::size_t bytes) {
  auto* target = static_cast<std::byte*>(device);
  state_->in_shares(bytes, [=](std::int64_t begin, std::int64_t end) {
    std::memset(target + begin, std::to_integer<int>(value), static_cast<std::size_t>(end - begin));
  });
}

std::unique_ptr<Timer> CpuDevice::timer(LaunchFunction launch) {
  return std::make_unique<CpuTimer>(std::move(launch), state_->pool);
}

Clocks CpuDevice::clocks() {
  const ThreadPool::PinnedCaller pinned(state_->pool);
  return {measure_core_hz(), std::nullopt};
}

void CpuDevice::run_as_timed(const std::function<void()>& launch) {
  const ThreadPool::PinnedCaller pinned(state_->pool);
  launch();
}

std::function<Contention()> CpuDevice::watch_contention(int threads) {
  std::vector<int> used = cpus();
  if (threads > 0 && static_cast<std::size_t>(threads) < used.size()) used.resize(static_cast<std::size_t>(threads));
  return [watched = with_siblings(state_->topology, used), cores = cores_under(state_->topology, used),
          start = Clock::now(), before = read_system()] {
    const double wall_s = std::chrono::duration<double>(Clock::now() - start).count();
    return contention_between(before, read_system(), wall_s, watched, cores);
  };
}

const CpuDevice& as_cpu(const Device& device) {
  const auto* cpu = dynamic_cast<const CpuDevice*>(&device);
  if (cpu == nullptr) throw Error("a CPU kernel was given to " + device.info().name);
  return *cpu;
}

CpuDevice& as_cpu(Device& device) { return const_cast<CpuDevice&>(as_cpu(static_cast<const Device&>(device))); }

}  // namespace roofline
