// The handful of NVML functions that are used, with prototypes of our own: NVML keeps old entry points
// for good, so what is declared here stays true.
#include "device/cuda/nvml.hpp"

#include <array>
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

}  // namespace roofline
