// The handful of NVML functions that are used, with prototypes of our own: NVML keeps old entry points
// for good, so what is declared here stays true.
#include "device/cuda/nvml.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "device/cuda/shared_library.hpp"

namespace roofline {
namespace {

using NvmlDevice = void*;
constexpr int kSuccess = 0;
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;

constexpr std::array<std::pair<unsigned long long, const char*>, 6> kReasons = {{
    {0x2, "applications clocks"},
    {0x4, "power cap"},
    {0x8, "hardware slowdown"},
    {0x20, "software thermal"},
    {0x40, "hardware thermal"},
    {0x80, "power brake"},
}};

/// nvmlSample_t: a time in microseconds since 1970, and a union whose active member a separate type tells.
struct RawSample {
  unsigned long long time_us;
  union {
    double real;
    unsigned small;
    unsigned long long large;
  } value;
};
constexpr int kTotalPowerSamples = 0;
constexpr int kUnsignedValue = 1;

/// nvmlFieldValue_t.
struct RawField {
  unsigned id;
  unsigned scope;
  long long time_us;
  long long latency_us;
  int type;
  int status;
  union {
    double real;
    unsigned small;
    unsigned long long large;
  } value;
};
/// nvmlProcessUtilizationSample_t.
struct RawUtilization {
  unsigned pid;
  unsigned long long time_us;
  unsigned sm_percent;
  unsigned memory_percent;
  unsigned encoder_percent;
  unsigned decoder_percent;
};

/// nvmlViolationTime_t.
struct RawViolation {
  unsigned long long now_us;
  unsigned long long violated_ns;
};
constexpr int kThermalPolicy = 1;

/// nvmlPciInfo_t.
struct RawPci {
  std::array<char, 16> legacy_address;
  unsigned domain, bus, device, id, subsystem_id;
  std::array<char, 32> address;
};

constexpr int kP2pOverNvLink = 2;  // of nvmlGpuP2PCapsIndex_t
constexpr int kRemoteIsSwitch = 2;

/// nvmlGpuTopologyLevel_t.
constexpr std::array<std::pair<int, const char*>, 6> kSharedPaths = {{
    {0, "one board"},
    {10, "one PCIe switch"},
    {20, "several PCIe switches"},
    {30, "one host bridge"},
    {40, "one NUMA node's host bridges"},
    {50, "the CPUs' interconnect"},
}};

constexpr unsigned kFieldNvLinkSpeed = 164;  // MB/s of the link that `scope` names
constexpr unsigned kMostNvLinks = 36;  // 18 on every GPU so far; asking for one too many is answered with an error

}  // namespace

struct Nvml::State : SharedLibrary {
  State() : SharedLibrary(std::array<std::string, 1>{"libnvidia-ml.so.1"}) {
    // Renamed in driver 535; the old name stays.
    if (reasons == nullptr) reasons = symbol("nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  ~State() {
    if (initialised) shutdown();
  }

  NvmlDevice device = nullptr;
  bool initialised = false;

  int (*init)() = symbol("nvmlInit_v2");
  int (*shutdown)() = symbol("nvmlShutdown");
  int (*by_pci)(const char*, NvmlDevice*) = symbol("nvmlDeviceGetHandleByPciBusId_v2");
  int (*driver_version)(char*, unsigned) = symbol("nvmlSystemGetDriverVersion");
  int (*clock)(NvmlDevice, unsigned, unsigned*) = symbol("nvmlDeviceGetClockInfo");
  int (*temperature)(NvmlDevice, unsigned, unsigned*) = symbol("nvmlDeviceGetTemperature");
  int (*power_limit)(NvmlDevice, unsigned*) = symbol("nvmlDeviceGetEnforcedPowerLimit");
  int (*energy)(NvmlDevice, unsigned long long*) = symbol("nvmlDeviceGetTotalEnergyConsumption");
  int (*reasons)(NvmlDevice, unsigned long long*) = symbol("nvmlDeviceGetCurrentClocksEventReasons");
  int (*mig_mode)(NvmlDevice, unsigned*, unsigned*) = symbol("nvmlDeviceGetMigMode");
  int (*samples)(NvmlDevice, int, unsigned long long, int*, unsigned*, RawSample*) = symbol("nvmlDeviceGetSamples");
  int (*fields)(NvmlDevice, int, RawField*) = symbol("nvmlDeviceGetFieldValues");
  int (*utilization)(NvmlDevice, RawUtilization*, unsigned*,
                     unsigned long long) = symbol("nvmlDeviceGetProcessUtilization");
  int (*violation)(NvmlDevice, int, RawViolation*) = symbol("nvmlDeviceGetViolationStatus");
  int (*pcie_generation)(NvmlDevice, unsigned*) = symbol("nvmlDeviceGetCurrPcieLinkGeneration");
  int (*pcie_lanes)(NvmlDevice, unsigned*) = symbol("nvmlDeviceGetCurrPcieLinkWidth");
  int (*best_pcie_generation)(NvmlDevice, unsigned*) = symbol("nvmlDeviceGetMaxPcieLinkGeneration");
  int (*best_pcie_lanes)(NvmlDevice, unsigned*) = symbol("nvmlDeviceGetMaxPcieLinkWidth");
  int (*nvlink_state)(NvmlDevice, unsigned, unsigned*) = symbol("nvmlDeviceGetNvLinkState");
  int (*nvlink_remote)(NvmlDevice, unsigned, RawPci*) = symbol("nvmlDeviceGetNvLinkRemotePciInfo_v2");
  int (*nvlink_remote_kind)(NvmlDevice, unsigned, int*) = symbol("nvmlDeviceGetNvLinkRemoteDeviceType");
  int (*p2p_status)(NvmlDevice, NvmlDevice, int, int*) = symbol("nvmlDeviceGetP2PStatus");
  int (*common_ancestor)(NvmlDevice, NvmlDevice, int*) = symbol("nvmlDeviceGetTopologyCommonAncestor");
  int (*pci_info)(NvmlDevice, RawPci*) = symbol("nvmlDeviceGetPciInfo_v3");

  /// Asks the device; false where the driver has no such question, or no answer.
  template <typename Function, typename... Arguments>
  bool ask(Function* function, Arguments... arguments) const {
    return function != nullptr && function(device, arguments...) == kSuccess;
  }

  std::optional<double> clock_hz(unsigned domain) const {
    unsigned mhz = 0;
    return ask(clock, domain, &mhz) ? std::optional(mhz * 1e6) : std::nullopt;
  }

  using Question = int (*)(NvmlDevice, unsigned*);
  std::optional<PcieLink> link(Question generation, Question lanes) const {
    PcieLink link;
    return ask(generation, &link.generation) && ask(lanes, &link.lanes) ? std::optional(link) : std::nullopt;
  }
};

Nvml::Nvml(std::unique_ptr<State> state) : state_(std::move(state)) {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id) {
  auto state = std::make_unique<State>();
  if (state->init == nullptr || state->shutdown == nullptr || state->by_pci == nullptr) return nullptr;
  if (state->init() != kSuccess) return nullptr;
  state->initialised = true;
  if (state->by_pci(pci_bus_id.c_str(), &state->device) != kSuccess) return nullptr;
  return std::unique_ptr<Nvml>(new Nvml(std::move(state)));
}

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (state_->driver_version == nullptr || state_->driver_version(text.data(), text.size()) != kSuccess) {
    return std::nullopt;
  }
  return std::string(text.data());
}

std::optional<double> Nvml::sm_clock_hz() const { return state_->clock_hz(kClockSm); }
std::optional<double> Nvml::memory_clock_hz() const { return state_->clock_hz(kClockMemory); }

std::optional<double> Nvml::temperature_c() const {
  unsigned celsius = 0;
  if (!state_->ask(state_->temperature, kTemperatureGpu, &celsius)) return std::nullopt;
  return celsius;
}

std::optional<double> Nvml::power_limit_w() const {
  unsigned milliwatts = 0;
  if (!state_->ask(state_->power_limit, &milliwatts)) return std::nullopt;
  return milliwatts * 1e-3;
}

std::optional<double> Nvml::energy_j() const {
  unsigned long long millijoules = 0;
  if (!state_->ask(state_->energy, &millijoules)) return std::nullopt;
  return static_cast<double>(millijoules) * 1e-3;
}

std::vector<PowerSample> Nvml::power_samples(double since_s) const {
  const auto since_us = static_cast<unsigned long long>(since_s * 1e6);
  int type = 0;
  unsigned count = 0;
  if (!state_->ask(state_->samples, kTotalPowerSamples, since_us, &type, &count, nullptr) || count == 0) return {};
  std::vector<RawSample> raw(count);
  if (!state_->ask(state_->samples, kTotalPowerSamples, since_us, &type, &count, raw.data())) return {};
  std::vector<PowerSample> samples;
  if (type != kUnsignedValue) return samples;
  for (const RawSample& sample : std::span(raw).first(std::min<std::size_t>(count, raw.size()))) {
    samples.push_back({.time_s = static_cast<double>(sample.time_us) * 1e-6, .watts = sample.value.small * 1e-3});
  }
  return samples;
}

std::optional<PcieLink> Nvml::pcie_link() const { return state_->link(state_->pcie_generation, state_->pcie_lanes); }

std::optional<PcieLink> Nvml::best_pcie_link() const {
  return state_->link(state_->best_pcie_generation, state_->best_pcie_lanes);
}

std::optional<NvLinks> Nvml::nvlinks() const {
  if (state_->nvlink_state == nullptr) return std::nullopt;
  NvLinks all;
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    unsigned active = 0;
    if (!state_->ask(state_->nvlink_state, link, &active)) break;
    if (active == 0) continue;
    ++all.links;
    RawField speed{};
    speed.id = kFieldNvLinkSpeed;
    speed.scope = link;
    if (state_->ask(state_->fields, 1, &speed) && speed.status == kSuccess) all.bytes_per_s = speed.value.small * 1e6;
  }
  return all;
}

std::optional<bool> Nvml::nvlink_to(const Nvml& other) const {
  int status = 0;
  if (!state_->ask(state_->p2p_status, other.state_->device, kP2pOverNvLink, &status)) return std::nullopt;
  return status == kSuccess;
}

std::optional<int> Nvml::nvlinks_to(const Nvml& other) const {
  RawPci there{};
  if (!other.state_->ask(other.state_->pci_info, &there)) return std::nullopt;
  int count = 0;
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    unsigned active = 0;
    if (!state_->ask(state_->nvlink_state, link, &active)) break;
    if (active == 0) continue;
    int kind = 0;
    RawPci remote{};
    if (state_->ask(state_->nvlink_remote_kind, link, &kind) && kind == kRemoteIsSwitch) {
      ++count;
    } else if (!state_->ask(state_->nvlink_remote, link, &remote)) {
      return std::nullopt;
    } else if (std::tuple(remote.domain, remote.bus, remote.device) ==
               std::tuple(there.domain, there.bus, there.device)) {
      ++count;
    }
  }
  return count;
}

std::optional<std::string> Nvml::shared_path(const Nvml& other) const {
  int level = 0;
  if (!state_->ask(state_->common_ancestor, other.state_->device, &level)) return std::nullopt;
  const auto known =
      std::find_if(kSharedPaths.begin(), kSharedPaths.end(), [level](const auto& path) { return path.first == level; });
  return known == kSharedPaths.end() ? std::nullopt : std::optional<std::string>(known->second);
}

std::optional<std::vector<std::string>> Nvml::clock_event_reasons() const {
  unsigned long long bits = 0;
  if (!state_->ask(state_->reasons, &bits)) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& [bit, name] : kReasons) {
    if ((bits & bit) != 0) names.emplace_back(name);
  }
  return names;
}

std::optional<bool> Nvml::mig_enabled() const {
  unsigned current = 0;
  unsigned pending = 0;
  if (!state_->ask(state_->mig_mode, &current, &pending)) return std::nullopt;
  return current != 0;
}

std::optional<double> Nvml::share_of_others(double since_s) const {
  if (state_->utilization == nullptr) return std::nullopt;
  const auto since_us = static_cast<unsigned long long>(since_s * 1e6);
  unsigned count = 0;
  state_->utilization(state_->device, nullptr, &count, since_us);  // how many it may be
  std::vector<RawUtilization> raw(count);
  if (count == 0 || !state_->ask(state_->utilization, raw.data(), &count, since_us)) return std::nullopt;
  const auto own = static_cast<unsigned>(::getpid());
  bool own_is_there = false;
  double others_percent = 0;
  for (const RawUtilization& sample : std::span(raw).first(std::min<std::size_t>(count, raw.size()))) {
    if (sample.pid == own) own_is_there = true;
    if (sample.pid != own && sample.pid != 0) others_percent += sample.sm_percent;
  }
  return own_is_there ? std::optional(std::min(1.0, others_percent / 100)) : std::nullopt;
}

std::optional<double> Nvml::thermal_slowdown_s() const {
  RawViolation violation{};
  if (!state_->ask(state_->violation, kThermalPolicy, &violation)) return std::nullopt;
  return static_cast<double>(violation.violated_ns) * 1e-9;
}

}  // namespace roofline
