// The handful of NVML functions that are used, with prototypes of our own: NVML keeps old entry points
// for good, so what is declared here stays true.
#include "device/cuda/nvml.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
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

constexpr unsigned kFieldNvLinkSpeed = 164;  // MB/s of the link that `scope` names
constexpr unsigned kMostNvLinks = 36;  // 18 on every GPU so far; asking for one too many is answered with an error

}  // namespace

struct Nvml::State {
  std::unique_ptr<SharedLibrary> library;
  NvmlDevice device = nullptr;
  bool initialised = false;

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_pci)(const char*, NvmlDevice*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*temperature)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*power_limit)(NvmlDevice, unsigned*) = nullptr;
  int (*energy)(NvmlDevice, unsigned long long*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  int (*mig_mode)(NvmlDevice, unsigned*, unsigned*) = nullptr;
  int (*samples)(NvmlDevice, int, unsigned long long, int*, unsigned*, RawSample*) = nullptr;
  int (*fields)(NvmlDevice, int, RawField*) = nullptr;
  int (*utilization)(NvmlDevice, RawUtilization*, unsigned*, unsigned long long) = nullptr;
  int (*violation)(NvmlDevice, int, RawViolation*) = nullptr;
  int (*pcie_generation)(NvmlDevice, unsigned*) = nullptr;
  int (*pcie_lanes)(NvmlDevice, unsigned*) = nullptr;
  int (*best_pcie_generation)(NvmlDevice, unsigned*) = nullptr;
  int (*best_pcie_lanes)(NvmlDevice, unsigned*) = nullptr;
  int (*nvlink_state)(NvmlDevice, unsigned, unsigned*) = nullptr;

  ~State() {
    if (initialised) shutdown();
  }

  /// Binds everything; false when what all else needs is missing.
  bool bind() {
    library->bind(driver_version, "nvmlSystemGetDriverVersion");
    library->bind(clock, "nvmlDeviceGetClockInfo");
    library->bind(temperature, "nvmlDeviceGetTemperature");
    library->bind(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    library->bind(energy, "nvmlDeviceGetTotalEnergyConsumption");
    library->bind(mig_mode, "nvmlDeviceGetMigMode");
    library->bind(samples, "nvmlDeviceGetSamples");
    library->bind(fields, "nvmlDeviceGetFieldValues");
    library->bind(utilization, "nvmlDeviceGetProcessUtilization");
    library->bind(violation, "nvmlDeviceGetViolationStatus");
    library->bind(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration");
    library->bind(pcie_lanes, "nvmlDeviceGetCurrPcieLinkWidth");
    library->bind(best_pcie_generation, "nvmlDeviceGetMaxPcieLinkGeneration");
    library->bind(best_pcie_lanes, "nvmlDeviceGetMaxPcieLinkWidth");
    library->bind(nvlink_state, "nvmlDeviceGetNvLinkState");
    // Renamed in driver 535; the old name stays.
    if (!library->bind(reasons, "nvmlDeviceGetCurrentClocksEventReasons")) {
      library->bind(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    }
    return library->bind(init, "nvmlInit_v2") && library->bind(shutdown, "nvmlShutdown") &&
           library->bind(by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
  }

  std::optional<double> clock_hz(unsigned domain) const {
    unsigned mhz = 0;
    if (clock == nullptr || clock(device, domain, &mhz) != kSuccess) return std::nullopt;
    return mhz * 1e6;
  }

  using Question = int (*)(NvmlDevice, unsigned*);
  std::optional<PcieLink> link(Question generation, Question lanes) const {
    PcieLink link;
    if (generation == nullptr || generation(device, &link.generation) != kSuccess) return std::nullopt;
    if (lanes == nullptr || lanes(device, &link.lanes) != kSuccess) return std::nullopt;
    return link;
  }
};

Nvml::Nvml(std::unique_ptr<State> state) : state_(std::move(state)) {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id) {
  auto state = std::make_unique<State>();
  const std::array<std::string, 1> names = {"libnvidia-ml.so.1"};
  state->library = SharedLibrary::open(names);
  if (!state->library || !state->bind() || state->init() != kSuccess) return nullptr;
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
  if (state_->temperature == nullptr || state_->temperature(state_->device, kTemperatureGpu, &celsius) != kSuccess) {
    return std::nullopt;
  }
  return celsius;
}

std::optional<double> Nvml::power_limit_w() const {
  unsigned milliwatts = 0;
  if (state_->power_limit == nullptr || state_->power_limit(state_->device, &milliwatts) != kSuccess) {
    return std::nullopt;
  }
  return milliwatts * 1e-3;
}

std::optional<double> Nvml::energy_j() const {
  unsigned long long millijoules = 0;
  if (state_->energy == nullptr || state_->energy(state_->device, &millijoules) != kSuccess) return std::nullopt;
  return static_cast<double>(millijoules) * 1e-3;
}

std::vector<PowerSample> Nvml::power_samples(double since_s) const {
  if (state_->samples == nullptr) return {};
  const auto since_us = static_cast<unsigned long long>(since_s * 1e6);
  int type = 0;
  unsigned count = 0;
  if (state_->samples(state_->device, kTotalPowerSamples, since_us, &type, &count, nullptr) != kSuccess) return {};
  std::vector<RawSample> raw(count);
  if (count == 0 ||
      state_->samples(state_->device, kTotalPowerSamples, since_us, &type, &count, raw.data()) != kSuccess) {
    return {};
  }
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
    if (state_->nvlink_state(state_->device, link, &active) != kSuccess) break;
    if (active == 0) continue;
    ++all.links;
    RawField speed{};
    speed.id = kFieldNvLinkSpeed;
    speed.scope = link;
    const bool told = state_->fields != nullptr && state_->fields(state_->device, 1, &speed) == kSuccess;
    if (told && speed.status == kSuccess) all.bytes_per_s = speed.value.small * 1e6;
  }
  return all;
}

std::optional<std::vector<std::string>> Nvml::clock_event_reasons() const {
  unsigned long long bits = 0;
  if (state_->reasons == nullptr || state_->reasons(state_->device, &bits) != kSuccess) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& [bit, name] : kReasons) {
    if ((bits & bit) != 0) names.emplace_back(name);
  }
  return names;
}

std::optional<bool> Nvml::mig_enabled() const {
  unsigned current = 0;
  unsigned pending = 0;
  if (state_->mig_mode == nullptr || state_->mig_mode(state_->device, &current, &pending) != kSuccess) {
    return std::nullopt;
  }
  return current != 0;
}

std::optional<double> Nvml::share_of_others(double since_s) const {
  if (state_->utilization == nullptr) return std::nullopt;
  const auto since_us = static_cast<unsigned long long>(since_s * 1e6);
  unsigned count = 0;
  state_->utilization(state_->device, nullptr, &count, since_us);  // how many it may be
  std::vector<RawUtilization> raw(count);
  if (count == 0 || state_->utilization(state_->device, raw.data(), &count, since_us) != kSuccess) return std::nullopt;
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
  if (state_->violation == nullptr || state_->violation(state_->device, kThermalPolicy, &violation) != kSuccess) {
    return std::nullopt;
  }
  return static_cast<double>(violation.violated_ns) * 1e-9;
}

}  // namespace roofline
