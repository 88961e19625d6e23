#include "device/cuda/nvml_library.hpp"

#include <fmt/format.h>

#include "model/error.hpp"

namespace roofline {
namespace {

constexpr const char* kNoNvml = "the driver's monitoring library was not found (libnvidia-ml.so.1)";
constexpr const char* kNoNvmlHint =
    "install the NVIDIA driver; a container needs --gpus all, or NVIDIA_DRIVER_CAPABILITIES=utility";

}  // namespace

namespace nvml {

std::string words_of(int status) {
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
      return "this driver lacks the function";
    case 15:
      return "the GPU is lost: it fell off the bus or can't be reached";
    case 16:
      return "the GPU must be reset";
    case 17:
      return "the operating system denies access (a cgroup without the device?)";
    case 18:
      return "the versions of driver and library differ: reboot, or load the new driver";
    default:
      return fmt::format("NVML error {}", status);
  }
}

double number_of(const RawField& field) {
  switch (field.type) {
    case kDoubleValue:
      return field.value.real;
    case kUnsignedValue:
      return field.value.small;
    default:  // unsigned long, unsigned long long
      return static_cast<double>(field.value.large);
  }
}

}  // namespace nvml

std::unique_ptr<Nvml::State> Nvml::State::started() {
  auto state = std::make_unique<State>();
  if (state->init == nullptr || state->shutdown == nullptr || state->by_pci == nullptr) {
    throw Error(kNoNvml, kNoNvmlHint);
  }
  if (const int status = state->init(); status != nvml::kSuccess) {
    throw Error("NVML does not start: " + nvml::words_of(status));
  }
  state->initialised = true;
  return state;
}

std::optional<nvml::RawField> Nvml::State::field(unsigned id, unsigned scope) const {
  nvml::RawField raw{};
  raw.id = id;
  raw.scope = scope;
  if (!ask(fields, 1, &raw)) return std::nullopt;
  if (raw.status == nvml::kSuccess) return raw;
  refused = raw.status;
  return std::nullopt;
}

std::optional<double> Nvml::State::fraction(int (*question)(nvml::Handle, unsigned*, unsigned*)) const {
  unsigned percent = 0;
  unsigned period_us = 0;
  return ask(question, &percent, &period_us) ? std::optional(percent * 0.01) : std::nullopt;
}

std::optional<double> Nvml::State::violated_s(int policy) const {
  nvml::RawViolation violated{};
  if (!ask(violation, policy, &violated)) return std::nullopt;
  return static_cast<double>(violated.violated_ns) * 1e-9;
}

Nvml::Nvml(std::unique_ptr<State> state) : state_(std::move(state)) {}
Nvml::~Nvml() = default;

std::unique_ptr<Nvml> Nvml::require(const std::string& pci_bus_id) {
  auto state = State::started();
  if (const int status = state->by_pci(pci_bus_id.c_str(), &state->device); status != nvml::kSuccess) {
    throw Error(fmt::format("NVML can't open the GPU at {}: {}", pci_bus_id, nvml::words_of(status)));
  }
  return std::unique_ptr<Nvml>(new Nvml(std::move(state)));
}

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id) try {
  return require(pci_bus_id);
} catch (const Error&) {
  return nullptr;
}

std::vector<GpuIdentity> Nvml::list() {
  const auto state = State::started();
  unsigned count = 0;
  const int status = state->device_count == nullptr ? nvml::kFunctionNotFound : state->device_count(&count);
  if (status != nvml::kSuccess) throw Error("NVML can't list the GPUs: " + nvml::words_of(status));
  std::vector<GpuIdentity> gpus;
  for (unsigned index = 0; index < count; ++index) {
    if (state->by_index == nullptr || state->by_index(index, &state->device) != nvml::kSuccess) continue;
    nvml::RawPci pci{};
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

std::string Nvml::refusal() const { return nvml::words_of(state_->refused); }

}  // namespace roofline
