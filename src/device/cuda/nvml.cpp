// Bindings for the NVML functions that are used, with prototypes declared here: NVML never removes or changes an
// entry point.
#include "device/cuda/nvml.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "host/shared_library.hpp"
#include "model/error.hpp"
#include "model/find.hpp"

namespace roofline {
namespace {

using NvmlDevice = void*;
constexpr int kSuccess = 0;
constexpr unsigned kClockSm = 1;
constexpr unsigned kClockMemory = 2;
constexpr unsigned kTemperatureGpu = 0;

constexpr std::array<std::pair<unsigned long long, std::string_view>, 6> kReasons = {{
    {0x2, "applications clocks"},
    {0x4, kPowerCap},
    {0x8, "hardware slowdown"},
    {0x20, "software thermal"},
    {0x40, "hardware thermal"},
    {0x80, "power brake"},
}};

/// nvmlSample_t: time in microseconds since 1970, and a union whose active member is given by a separate type.
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
constexpr int kPowerPolicy = 0;
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
constexpr std::array<std::pair<int, PciePath>, 6> kSharedPaths = {{
    {0, PciePath::board},
    {10, PciePath::one_switch},
    {20, PciePath::several_switches},
    {30, PciePath::host_bridge},
    {40, PciePath::numa_node},
    {50, PciePath::interconnect},
}};

/// nvmlUtilization_t.
struct RawRates {
  unsigned gpu_percent;
  unsigned memory_percent;
};

/// nvmlMemory_v2_t: the version is that of the structure and its size.
struct RawMemory {
  unsigned version = 0x02000000 | 40;
  unsigned long long total = 0;
  unsigned long long reserved = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

/// nvmlProcessInfo_v2_t, of versions 2 and 3 of the functions.
struct RawProcess {
  unsigned pid;
  unsigned long long memory_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

constexpr unsigned kFieldNvLinkSpeed = 164;  // MB/s of the link that `scope` names
constexpr unsigned kFieldMemoryTemperature = 82;
constexpr unsigned kFieldNvLinkDataTransmitted = 138;  // KiB; the other direction is the next number, here and below
constexpr unsigned kFieldPcieTransmitted = 197;
constexpr unsigned kFieldNvLinkTransmitted = 202;  // bytes, of newer GPUs
constexpr unsigned kFieldNvLinkReceived = 204;
constexpr unsigned kAllLinks = std::numeric_limits<unsigned>::max();
constexpr int kDoubleValue = 0;
constexpr int kUnsignedLongValue = 2;
constexpr int kUnsignedLongLongValue = 3;
constexpr unsigned kMostNvLinks = 36;  // GPUs so far have at most 18; a query for a missing link returns an error

/// Description of an nvmlReturn_t.
std::string nvml_words(int status) {
  switch (status) {
    case 1:
      return "NVML was not started";
    case 3:
      return "not supported by this GPU or driver";
    case 4:
      return "no permission";
    case 6:
      return "the driver does not know this GPU";
    case 9:
      return "the NVIDIA driver is not loaded";
    case 10:
      return "the driver did not answer in time";
    case 13:
      return "this driver has no such question";
    case 15:
      return "the GPU is lost: it has fallen off the bus, or can't be reached";
    case 16:
      return "the GPU must be reset";
    case 17:
      return "the system refuses (a cgroup without the device?)";
    case 18:
      return "the driver and its libraries are of different versions: reboot, or load the new driver";
    default:
      return fmt::format("NVML error {}", status);
  }
}
constexpr int kNoSuchQuestion = 13;

double number_of(const RawField& field) {
  switch (field.type) {
    case kDoubleValue:
      return field.value.real;
    case kUnsignedValue:
      return field.value.small;
    case kUnsignedLongValue:
    case kUnsignedLongLongValue:
    default:
      return static_cast<double>(field.value.large);
  }
}

}  // namespace

double nvml_clock_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

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

  int (*device_count)(unsigned*) = symbol("nvmlDeviceGetCount_v2");
  int (*by_index)(unsigned, NvmlDevice*) = symbol("nvmlDeviceGetHandleByIndex_v2");
  int (*pci_info)(NvmlDevice, RawPci*) = symbol("nvmlDeviceGetPciInfo_v3");
  int (*name)(NvmlDevice, char*, unsigned) = symbol("nvmlDeviceGetName");
  int (*uuid)(NvmlDevice, char*, unsigned) = symbol("nvmlDeviceGetUUID");
  int (*max_clock)(NvmlDevice, unsigned, unsigned*) = symbol("nvmlDeviceGetMaxClockInfo");
  int (*power)(NvmlDevice, unsigned*) = symbol("nvmlDeviceGetPowerUsage");
  int (*rates)(NvmlDevice, RawRates*) = symbol("nvmlDeviceGetUtilizationRates");
  int (*encoder)(NvmlDevice, unsigned*, unsigned*) = symbol("nvmlDeviceGetEncoderUtilization");
  int (*decoder)(NvmlDevice, unsigned*, unsigned*) = symbol("nvmlDeviceGetDecoderUtilization");
  int (*fan)(NvmlDevice, unsigned*) = symbol("nvmlDeviceGetFanSpeed");
  int (*memory_info)(NvmlDevice, RawMemory*) = symbol("nvmlDeviceGetMemoryInfo_v2");
  int (*pcie_throughput)(NvmlDevice, int, unsigned*) = symbol("nvmlDeviceGetPcieThroughput");
  int (*ecc)(NvmlDevice, int, int, unsigned long long*) = symbol("nvmlDeviceGetTotalEccErrors");
  int (*compute_processes)(NvmlDevice, unsigned*, RawProcess*) = symbol("nvmlDeviceGetComputeRunningProcesses_v3");
  int (*graphics_processes)(NvmlDevice, unsigned*, RawProcess*) = symbol("nvmlDeviceGetGraphicsRunningProcesses_v3");

  mutable int refused = kSuccess;  ///< status of the last failed query

  /// Queries the device; false if the driver lacks the function or returns an error.
  template <typename Function, typename... Arguments>
  bool ask(Function* function, Arguments... arguments) const {
    const int status = function == nullptr ? kNoSuchQuestion : function(device, arguments...);
    if (status != kSuccess) refused = status;
    return status == kSuccess;
  }

  std::optional<RawField> field(unsigned id, unsigned scope = 0) const {
    RawField raw{};
    raw.id = id;
    raw.scope = scope;
    if (!ask(fields, 1, &raw)) return std::nullopt;
    if (raw.status == kSuccess) return raw;
    refused = raw.status;
    return std::nullopt;
  }

  std::optional<double> fraction(int (*question)(NvmlDevice, unsigned*, unsigned*)) const {
    unsigned percent = 0;
    unsigned period_us = 0;
    return ask(question, &percent, &period_us) ? std::optional(percent * 0.01) : std::nullopt;
  }

  /// A number that the driver answers with, in a unit of `scale`.
  template <typename Number, typename Function, typename... Arguments>
  std::optional<double> value(double scale, Function* question, Arguments... arguments) const {
    Number number = 0;
    if (!ask(question, arguments..., &number)) return std::nullopt;
    return static_cast<double>(number) * scale;
  }

  std::optional<double> violated_s(int policy) const {
    RawViolation violated{};
    if (!ask(violation, policy, &violated)) return std::nullopt;
    return static_cast<double>(violated.violated_ns) * 1e-9;
  }

  /// SM utilisation by process id: the mean of the samples since `since_us`. The driver samples about once a second.
  std::map<unsigned, std::pair<double, int>> sm_shares(double since_s) const {
    const auto since_us = static_cast<unsigned long long>(since_s * 1e6);
    std::map<unsigned, std::pair<double, int>> shares;
    unsigned count = 0;
    if (utilization == nullptr) return shares;
    utilization(device, nullptr, &count, since_us);  // upper bound of the number of samples
    std::vector<RawUtilization> raw(count);
    if (count == 0 || !ask(utilization, raw.data(), &count, since_us)) return shares;
    for (const RawUtilization& sample : std::span(raw).first(std::min<std::size_t>(count, raw.size()))) {
      auto& [sum, seen] = shares[sample.pid];
      sum += sample.sm_percent * 0.01;
      ++seen;
    }
    return shares;
  }

  using ProcessQuestion = int (*)(NvmlDevice, unsigned*, RawProcess*);
  bool add_processes(ProcessQuestion question, std::vector<RawProcess>& all) const {
    // Processes may start between the query of the count and the query of the list.
    constexpr unsigned kRoom = 64;
    unsigned count = kRoom;
    std::vector<RawProcess> raw(count);
    constexpr int kInsufficientSize = 7;
    const bool done = ask(question, &count, raw.data());
    if (!done && refused == kInsufficientSize) {
      count += kRoom;
      raw.resize(count);
      if (!ask(question, &count, raw.data())) return false;
    } else if (!done) {
      return false;
    }
    raw.resize(std::min<std::size_t>(count, raw.size()));
    all.insert(all.end(), raw.begin(), raw.end());
    return true;
  }

  using Question = int (*)(NvmlDevice, unsigned*);
  std::optional<PcieLink> link(Question generation, Question lanes) const {
    PcieLink link;
    return ask(generation, &link.generation) && ask(lanes, &link.lanes) ? std::optional(link) : std::nullopt;
  }
};

Nvml::Nvml(std::unique_ptr<State> state) : state_(std::move(state)) {}
Nvml::~Nvml() = default;

namespace {

constexpr const char* kNoNvml = "the driver's monitoring library was not found (libnvidia-ml.so.1)";
constexpr const char* kNoNvmlHint =
    "install the NVIDIA driver; a container needs --gpus all, or NVIDIA_DRIVER_CAPABILITIES=utility";

/// Throws Error if NVML cannot be initialised.
template <class State>
std::unique_ptr<State> started() {
  auto state = std::make_unique<State>();
  if (state->init == nullptr || state->shutdown == nullptr || state->by_pci == nullptr) {
    throw Error(kNoNvml, kNoNvmlHint);
  }
  if (const int status = state->init(); status != kSuccess) throw Error("NVML does not start: " + nvml_words(status));
  state->initialised = true;
  return state;
}

}  // namespace

std::unique_ptr<Nvml> Nvml::require(const std::string& pci_bus_id) {
  auto state = started<State>();
  if (const int status = state->by_pci(pci_bus_id.c_str(), &state->device); status != kSuccess) {
    throw Error(fmt::format("NVML can't open the GPU at {}: {}", pci_bus_id, nvml_words(status)));
  }
  return std::unique_ptr<Nvml>(new Nvml(std::move(state)));
}

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id) try {
  return require(pci_bus_id);
} catch (const Error&) {
  return nullptr;
}

std::vector<GpuIdentity> Nvml::list() {
  const auto state = started<State>();
  unsigned count = 0;
  const int status = state->device_count == nullptr ? kNoSuchQuestion : state->device_count(&count);
  if (status != kSuccess) throw Error("NVML does not say which GPUs there are: " + nvml_words(status));
  std::vector<GpuIdentity> gpus;
  for (unsigned index = 0; index < count; ++index) {
    if (state->by_index == nullptr || state->by_index(index, &state->device) != kSuccess) continue;
    RawPci pci{};
    if (!state->ask(state->pci_info, &pci)) continue;
    std::array<char, 96> name{};
    std::array<char, 96> uuid{};
    state->ask(state->name, name.data(), static_cast<unsigned>(name.size()));
    state->ask(state->uuid, uuid.data(), static_cast<unsigned>(uuid.size()));
    GpuIdentity gpu;
    gpu.address.pci = pci.address.data();
    gpu.name = name.data();
    gpu.uuid = uuid.data();
    gpus.push_back(std::move(gpu));
  }
  if (gpus.empty()) throw Error("the NVIDIA driver shows no GPU", "check nvidia-smi");
  return gpus;
}

std::string Nvml::refusal() const { return nvml_words(state_->refused); }

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (state_->driver_version == nullptr || state_->driver_version(text.data(), text.size()) != kSuccess) {
    return std::nullopt;
  }
  return std::string(text.data());
}

std::optional<double> Nvml::sm_clock_hz() const { return state_->value<unsigned>(1e6, state_->clock, kClockSm); }
std::optional<double> Nvml::memory_clock_hz() const {
  return state_->value<unsigned>(1e6, state_->clock, kClockMemory);
}

std::optional<double> Nvml::temperature_c() const {
  return state_->value<unsigned>(1, state_->temperature, kTemperatureGpu);
}

std::optional<double> Nvml::power_limit_w() const { return state_->value<unsigned>(1e-3, state_->power_limit); }

std::optional<double> Nvml::energy_j() const { return state_->value<unsigned long long>(1e-3, state_->energy); }

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
    if (const auto speed = state_->field(kFieldNvLinkSpeed, link)) all.bytes_per_s = speed->value.small * 1e6;
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

std::optional<PciePath> Nvml::shared_path(const Nvml& other) const {
  int level = 0;
  if (!state_->ask(state_->common_ancestor, other.state_->device, &level)) return std::nullopt;
  const auto* known = find_in(kSharedPaths, [level](const auto& path) { return path.first == level; });
  return known == nullptr ? std::nullopt : std::optional(known->second);
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
  const auto own = static_cast<unsigned>(::getpid());
  bool own_is_there = false;
  double others = 0;
  for (const auto& [pid, share] : state_->sm_shares(since_s)) {
    if (pid == own) own_is_there = true;
    if (pid != own && pid != 0) others += share.first;
  }
  return own_is_there ? std::optional(std::min(1.0, others)) : std::nullopt;
}

std::optional<double> Nvml::thermal_slowdown_s() const { return state_->violated_s(kThermalPolicy); }
std::optional<double> Nvml::power_slowdown_s() const { return state_->violated_s(kPowerPolicy); }

std::optional<double> Nvml::max_sm_clock_hz() const {
  return state_->value<unsigned>(1e6, state_->max_clock, kClockSm);
}

std::optional<double> Nvml::power_w() const { return state_->value<unsigned>(1e-3, state_->power); }

std::optional<double> Nvml::memory_temperature_c() const {
  const auto field = state_->field(kFieldMemoryTemperature);
  return field ? std::optional(number_of(*field)) : std::nullopt;
}

std::optional<double> Nvml::busy_fraction() const {
  RawRates rates{};
  return state_->ask(state_->rates, &rates) ? std::optional(rates.gpu_percent * 0.01) : std::nullopt;
}

std::optional<double> Nvml::encoder_fraction() const { return state_->fraction(state_->encoder); }
std::optional<double> Nvml::decoder_fraction() const { return state_->fraction(state_->decoder); }

std::optional<double> Nvml::fan_fraction() const { return state_->value<unsigned>(0.01, state_->fan); }

std::optional<MemoryUse> Nvml::memory() const {
  RawMemory memory;
  if (!state_->ask(state_->memory_info, &memory)) return std::nullopt;
  return MemoryUse{static_cast<double>(memory.used), static_cast<double>(memory.total)};
}

std::optional<WrappingCounter> Nvml::pcie_bytes(Direction direction) const {
  const auto field = state_->field(kFieldPcieTransmitted + (direction == Direction::received ? 1 : 0));
  if (!field || field->type == kUnsignedValue) return std::nullopt;
  return WrappingCounter{number_of(*field), 0};
}

std::optional<double> Nvml::pcie_bytes_per_second(Direction direction) const {
  constexpr double kKilo = 1000;
  return state_->value<unsigned>(kKilo, state_->pcie_throughput, direction == Direction::received ? 1 : 0);
}

std::optional<WrappingCounter> Nvml::nvlink_bytes(Direction direction) const {
  constexpr double kKibi = 1024;
  const bool received = direction == Direction::received;
  if (const auto all = state_->field(kFieldNvLinkDataTransmitted + (received ? 1 : 0), kAllLinks)) {
    return WrappingCounter{number_of(*all) * kKibi, 0};
  }
  // Per link, on GPUs whose counters are in bytes.
  std::optional<WrappingCounter> sum;
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    const auto one = state_->field(received ? kFieldNvLinkReceived : kFieldNvLinkTransmitted, link);
    if (!one) break;
    if (!sum) sum.emplace();
    sum->value += number_of(*one);
  }
  return sum;
}

std::optional<double> Nvml::ecc_errors(bool corrected) const {
  constexpr int kSinceLoaded = 0;
  return state_->value<unsigned long long>(1, state_->ecc, corrected ? 0 : 1, kSinceLoaded);
}

std::optional<std::vector<GpuProcess>> Nvml::processes(double since_s) const {
  std::vector<RawProcess> raw;
  if (!state_->add_processes(state_->compute_processes, raw)) return std::nullopt;
  state_->add_processes(state_->graphics_processes, raw);
  const auto shares = state_->sm_shares(since_s);
  constexpr auto kUnknown = std::numeric_limits<unsigned long long>::max();
  std::vector<GpuProcess> processes;
  for (const RawProcess& one : raw) {
    const bool seen = std::any_of(processes.begin(), processes.end(), [&](const GpuProcess& other) {
      return other.pid == static_cast<std::int64_t>(one.pid);
    });
    if (seen) continue;
    GpuProcess process;
    process.pid = static_cast<std::int64_t>(one.pid);
    if (one.memory_bytes != kUnknown) process.memory_bytes = static_cast<double>(one.memory_bytes);
    if (const auto share = shares.find(one.pid); share != shares.end()) {
      process.sm_fraction = share->second.first / share->second.second;
    }
    processes.push_back(process);
  }
  return processes;
}

}  // namespace roofline
