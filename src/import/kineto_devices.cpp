#include "import/kineto_devices.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "report/titles.hpp"

namespace roofline::kineto {
namespace {

/// A GPU of AMD by HIP's compute capability and its CUs; more than one product has some of them.
struct AmdChip {
  std::uint32_t major, minor, cus;
  double gibibytes;  ///< of its memory
  std::string_view chip, name;
};

// ROCm's "Accelerator and GPU hardware specifications".
constexpr AmdChip kAmdChips[] = {
    {9, 0, 120, 32, "gfx908", "AMD Instinct MI100"},   {9, 0, 104, 64, "gfx90a", ""},  // MI210, or a die of an MI250
    {9, 0, 110, 64, "gfx90a", "AMD Instinct MI250X"},  {9, 4, 228, 128, "gfx942", "AMD Instinct MI300A"},
    {9, 4, 304, 192, "gfx942", "AMD Instinct MI300X"}, {9, 4, 304, 256, "gfx942", "AMD Instinct MI325X"},
};

void identify_amd_gpu(DeviceFacts& device) {
  constexpr double kGibi = 1024.0 * 1024 * 1024, kExactness = 0.1;
  for (const AmdChip& known : kAmdChips) {
    if (device.compute_major != known.major || device.compute_minor != known.minor || device.sms != known.cus) continue;
    device.chip = known.chip;
    const double bytes = known.gibibytes * kGibi;
    if (std::abs(device.memory_bytes - bytes) < kExactness * bytes) device.name = known.name;
  }
}

/// "hipLaunchKernel"; "hipster" is none.
bool is_hip_call(std::string_view name) {
  constexpr std::string_view kHip = "hip";
  return name.starts_with(kHip) && name.size() > kHip.size() &&
         std::isupper(static_cast<unsigned char>(name[kHip.size()])) != 0;
}

bool is_of_rocm(const Events& events) {
  return events.is_hip || events.categories.has_prefix("hip_") ||
         std::any_of(events.calls.begin(), events.calls.end(),
                     [&](const Call& call) { return is_hip_call(events.words[call.name]); });
}

void add_unlisted(std::vector<DeviceFacts>& devices, const std::set<std::uint32_t>& used) {
  std::set<std::uint32_t> known;
  for (const DeviceFacts& device : devices) known.insert(device.index);
  // A GPU that is not listed is of the same model where all listed ones are.
  const bool one_model = std::all_of(devices.begin(), devices.end(),
                                     [&](const DeviceFacts& device) { return device.name == devices.front().name; });
  const DeviceFacts like = devices.empty() || !one_model ? DeviceFacts{} : devices.front();
  for (const std::uint32_t index : used) {
    if (known.contains(index)) continue;
    devices.push_back(like);
    devices.back().index = index;
  }
}

}  // namespace

std::vector<DeviceFacts> devices_of(const Events& events) {
  std::vector<DeviceFacts> devices = events.devices;
  std::set<std::uint32_t> used;
  for (const GpuEvent& event : events.gpu) used.insert(event.device);
  add_unlisted(devices, used);
  std::erase_if(devices, [&](const DeviceFacts& device) { return !used.contains(device.index); });
  const bool rocm = is_of_rocm(events);
  for (DeviceFacts& device : devices) {
    device.is_amd = device.name.empty() ? device.is_amd || rocm : is_gpu_of_amd(device.name);
    device.is_intel = device.name.empty() && events.categories.has_prefix("xpu_");
    if (device.is_amd && device.name.empty()) identify_amd_gpu(device);
  }
  return devices;
}

}  // namespace roofline::kineto
