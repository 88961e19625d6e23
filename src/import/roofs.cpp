#include "import/roofs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>
#include <string_view>

#include "report/gpu_units.hpp"
#include "report/roofs.hpp"
#include "report/titles.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::string_view kUnnamedCpu = "CPU not named in the file", kUnnamedGpu = "GPU not named in the file";

/// Operations a cycle and SM, dense, with sums in fp32; fused multiply-adds are two.
struct SmRates {
  std::uint32_t compute;  ///< capability times ten
  double fp64, fp32, fp16, int32, sfu;
  double tensor_fp64, tensor_tf32, tensor_16, tensor_fp8, tensor_int8;
};

// CUDA programming guide, "Arithmetic Instructions"; tensor cores by the data sheets below, over their SMs and boost
// clocks: V100 125 T = 80 x 1.53 GHz x 1024, A40 149.7 T = 84 x 1.74 GHz x 1024, L40S 362 T = 142 x 2.52 GHz x 1024,
// B200 2250 T = 148 x 1.86 GHz x 8192.
constexpr SmRates kRates[] = {
    {70, 64, 128, 256, 64, 16, 0, 0, 1024, 0, 0},
    {75, 4, 128, 256, 64, 16, 0, 0, 1024, 0, 2048},
    {80, 64, 128, 512, 64, 16, 128, 1024, 2048, 0, 4096},
    {86, 4, 256, 256, 64, 16, 0, 512, 1024, 0, 2048},
    {89, 4, 256, 256, 64, 16, 0, 512, 1024, 2048, 2048},
    {90, 128, 256, 512, 64, 16, 256, 2048, 4096, 8192, 8192},
    {100, 128, 256, 512, 64, 16, 128, 4096, 8192, 16384, 16384},
};

/// GeForce cards, and by their sheets L40 and A10G, do half of that with sums in fp32 (RTX 4090: 165 T = 128 x 2.52 GHz
/// x 512); products of integers are not halved.
constexpr std::string_view kHalved[] = {"geforce", "l40", "a10g"};
/// GeForce GTX cards have no tensor cores, those of Turing's compute capability (GTX 16) included.
constexpr std::string_view kWithoutTensorCores = "gtx";

/// TFLOP/s, dense, and TB/s, as the vendor's data sheets have them: half of what they print "with sparsity". NVIDIA's
/// "H100 Tensor Core GPU Datasheet" (SXM, PCIe, NVL), "H200 Tensor Core GPU Datasheet", "A100 Tensor Core GPU
/// Datasheet" (nvidia-1758950), "A10", "A30", "A40", "L4", "L40" and "L40S" datasheets, "V100 Datasheet" (SXM2, PCIe,
/// S), "T4 Datasheet", "HGX B200" specifications, and the white papers "NVIDIA Ada GPU Architecture" and "NVIDIA Ampere
/// GA102" for RTX cards (products with sums in fp32). Sheets without fp64 are of chips that do it at 1/64 of fp32, T4
/// at 1/32 (CUDA programming guide).
struct DataSheet {
  std::string_view name;  ///< in the device's name, lower case
  double fp64, fp32, tensor_fp64, tensor_tf32, tensor_16, tensor_fp8, tensor_int8, memory;
  double l2;        ///< MB, of the chip's white paper where the sheet has none
  double capacity;  ///< GB of memory
  std::int64_t sms;
  std::uint32_t compute;  ///< capability times ten
  double watts;           ///< highest board power; 0: the sheet has that of a module with a CPU
};

constexpr DataSheet kDataSheets[] = {
    {"h200 nvl", 30, 60, 60, 418, 835, 1671, 1671, 4.8, 50, 141, 132, 90, 600},
    {"h200", 34, 67, 67, 495, 989, 1979, 1979, 4.8, 50, 141, 132, 90, 700},
    {"gh200 480gb", 34, 67, 67, 495, 989, 1979, 1979, 4.0, 50, 96, 132, 90, 0},
    {"gh200", 34, 67, 67, 495, 989, 1979, 1979, 4.9, 50, 144, 132, 90, 0},
    {"h100 nvl", 30, 60, 60, 418, 835, 1671, 1671, 3.9, 50, 94, 132, 90, 400},
    {"h100 pcie", 26, 51, 51, 378, 756, 1513, 1513, 2.0, 50, 80, 114, 90, 350},
    {"h100", 34, 67, 67, 495, 989, 1979, 1979, 3.35, 50, 80, 132, 90, 700},
    {"h800", 1, 67, 1, 495, 989, 1979, 1979, 3.35, 50, 80, 132, 90, 700},
    {"h20", 1, 44, 1, 74, 148, 296, 296, 4.0, 60, 96, 78, 90, 400},
    {"a100 80gb pcie", 9.7, 19.5, 19.5, 156, 312, 0, 624, 1.935, 40, 80, 108, 80, 300},
    {"a100-sxm4-80gb", 9.7, 19.5, 19.5, 156, 312, 0, 624, 2.039, 40, 80, 108, 80, 400},
    {"a100", 9.7, 19.5, 19.5, 156, 312, 0, 624, 1.555, 40, 40, 108, 80, 400},
    {"a30", 5.2, 10.3, 10.3, 82, 165, 0, 330, 0.933, 24, 24, 56, 80, 165},
    {"a40", 0.584, 37.4, 0, 74.8, 149.7, 0, 299.3, 0.696, 6, 48, 84, 86, 300},
    {"a10g", 0.547, 35, 0, 35, 70, 0, 140, 0.6, 6, 24, 80, 86, 300},
    {"a10", 0.487, 31.2, 0, 62.5, 125, 0, 250, 0.6, 6, 24, 72, 86, 150},
    {"v100s", 8.2, 16.4, 0, 0, 130, 0, 0, 1.134, 6, 32, 80, 70, 250},
    {"v100-pcie", 7, 14, 0, 0, 112, 0, 0, 0.9, 6, 16, 80, 70, 250},
    {"v100", 7.8, 15.7, 0, 0, 125, 0, 0, 0.9, 6, 16, 80, 70, 300},
    {"t4", 0.253, 8.1, 0, 0, 65, 0, 130, 0.32, 4, 16, 40, 75, 70},
    {"b200", 37, 75, 37, 1125, 2250, 4500, 4500, 8.0, 126, 180, 148, 100, 1000},
    {"l40s", 1.431, 91.6, 0, 183, 362, 733, 733, 0.864, 96, 48, 142, 89, 350},
    {"l40", 1.414, 90.5, 0, 90.5, 181, 362, 362, 0.864, 96, 48, 142, 89, 300},
    {"l4", 0.473, 30.3, 0, 60, 121, 242, 242, 0.3, 48, 24, 58, 89, 72},
    {"rtx 4090", 1.291, 82.6, 0, 82.6, 165.2, 330.3, 660.6, 1.008, 72, 24, 128, 89, 450},
    {"rtx 3090", 0.556, 35.6, 0, 35.6, 71, 0, 284, 0.936, 6, 24, 82, 86, 350},
};

/// TFLOP/s, dense, and TB/s of a GPU as ROCm lists it: of an MI250 and an MI250X that is one of the two dies of a
/// package, half of the sheet. AMD's data sheets "Instinct MI100", "MI210", "MI250", "MI250X", "MI300A", "MI300X",
/// "MI325X" and "MI355X", which are CUs x clock x operations per cycle: MI100 120 x 1.502 GHz, MI210 104 x 1.7, MI250X
/// 110 x 1.7, MI300A 228 x 2.1, MI300X 304 x 2.1, MI355X 256 x 2.4. Matrix products of fp32 are shown as TF32 tensor
/// (docs/import.md); with operands rounded to XF32 an MI300 is four times as fast.
struct AmdSheet {
  std::string_view name;
  double fp64, fp32, matrix_fp64, matrix_fp32, matrix_fp16, matrix_bf16, matrix_fp8, matrix_int8, memory;
  double l2, infinity_cache;  ///< MB
  double capacity;            ///< GB of memory
  std::int64_t cus;
  double watts;  ///< highest board power; of an MI250 and an MI250X half of the package's
};

constexpr AmdSheet kAmdSheets[] = {
    {"mi100", 11.5, 23.1, 0, 46.1, 184.6, 92.3, 0, 184.6, 1.2288, 8, 0, 32, 120, 300},
    {"mi210", 22.6, 22.6, 45.3, 45.3, 181, 181, 0, 181, 1.6384, 8, 0, 64, 104, 300},
    {"mi250", 22.6, 22.6, 45.3, 45.3, 181, 181, 0, 181, 1.6384, 8, 0, 64, 104, 280},
    {"mi250x", 23.9, 23.9, 47.9, 47.9, 191.5, 191.5, 0, 191.5, 1.6384, 8, 0, 64, 110, 280},
    {"mi300a", 61.3, 122.6, 122.6, 122.6, 980.6, 980.6, 1961.2, 1961.2, 5.3, 24, 256, 128, 228, 550},
    {"mi300x", 81.7, 163.4, 163.4, 163.4, 1307.4, 1307.4, 2614.9, 2614.9, 5.3, 32, 256, 192, 304, 750},
    {"mi325x", 81.7, 163.4, 163.4, 163.4, 1307.4, 1307.4, 2614.9, 2614.9, 6.0, 32, 256, 256, 304, 1000},
    {"mi355x", 78.6, 157.3, 78.6, 157.3, 2516.6, 2516.6, 5033.2, 5033.2, 8.0, 32, 256, 288, 256, 1400},
};

/// Variants that have other rates than the card of that name, or are a part of one.
constexpr std::string_view kVariants[] = {"laptop", "max-q", "mig", "ti", "super", "d"};

/// True if the text contains the whole word: "l4" is not in "l40".
bool names(const std::string& device, std::string_view word) {
  const auto letter = [&](std::size_t i) {
    return i < device.size() && std::isalnum(static_cast<unsigned char>(device[i]));
  };
  for (std::size_t at = device.find(word); at != std::string::npos; at = device.find(word, at + 1)) {
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
  }
  return false;
}

bool names_any(const std::string& device, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return names(device, word); });
}

/// 1, or 0 of Volta and Turing: BF16 came with TF32.
double has_bf16(double tensor_tf32) { return tensor_tf32 > 0 ? 1 : 0; }

class DataSheetLimits {
 public:
  DataSheetLimits(Machine& machine, std::string origin, std::string basis)
      : machine_(machine), origin_(std::move(origin)), basis_(std::move(basis)) {}

  void compute(Pipe pipe, double flops) {
    if (!(flops > 0)) return;
    Ceiling ceiling = limit(std::string(to_string(pipe)), CeilingKind::compute, flops);
    ceiling.pipe = pipe;
    machine_.ceilings.push_back(std::move(ceiling));
  }

  void memory(double bytes) {
    if (!(bytes > 0)) return;
    for (const Pattern pattern : {Pattern::read, Pattern::write, Pattern::copy}) {
      Ceiling ceiling = limit(fmt::format("hbm.{}", to_string(pattern)), CeilingKind::bandwidth, bytes);
      ceiling.level = Level::hbm;
      ceiling.pattern = pattern;
      machine_.ceilings.push_back(std::move(ceiling));
    }
  }

 private:
  Ceiling limit(std::string name, CeilingKind kind, double value) const {
    Ceiling ceiling;
    ceiling.name = std::move(name);
    ceiling.kind = kind;
    ceiling.value = value;
    ceiling.ci95 = {value, value};
    ceiling.origin = origin_;
    ceiling.variant = "not measured: " + basis_;
    ceiling.limit = Limit{.value = value, .basis = basis_};
    ceiling.stop = "not measured";
    return ceiling;
  }

  Machine& machine_;
  std::string origin_, basis_;
};

bool is_amd(const DeviceFacts& device) { return device.is_amd || is_gpu_of_amd(device.name); }

bool limit_by_attributes(Machine& machine, const DeviceFacts& device) {
  if (is_amd(device)) return false;  // HIP's compute capabilities are numbers of their own
  const auto* rates = std::find_if(std::begin(kRates), std::end(kRates), [&](const SmRates& of) {
    return of.compute == device.compute_major * 10 + device.compute_minor;
  });
  constexpr double kEdges = 2, kBits = 8;  // memories send on both edges of their clock
  const double by_clock = kEdges * device.memory_hz * device.bus_bits / kBits;
  const double memory = by_clock > 0 ? by_clock : device.memory_bytes_per_s;
  if (rates == std::end(kRates) || device.sms == 0 || !(device.core_hz > 0) || !(memory > 0)) return false;
  const std::string of_memory = by_clock > 0
                                    ? fmt::format("{:.0f} MHz x {:.0f} bit", device.memory_hz * 1e-6, device.bus_bits)
                                    : "memory of " + rate(memory, CeilingKind::bandwidth);
  DataSheetLimits limits(machine, std::string(kAttributesOrigin),
                         fmt::format("{} SMs x {:.0f} MHz, {}", device.sms, device.core_hz * 1e-6, of_memory));
  const double each = device.sms * device.core_hz;
  const std::string name = lower_case(device.name);
  const bool halved = names_any(name, kHalved);
  const double tensor_cores = names(name, kWithoutTensorCores) ? 0 : 1;
  const double products = (halved ? 0.5 : 1) * tensor_cores;
  const std::pair<Pipe, double> pipes[] = {
      {Pipe::fp64, rates->fp64},
      {Pipe::fp32, rates->fp32},
      {Pipe::fp16, rates->fp16},
      {Pipe::bf16, has_bf16(rates->tensor_tf32) * rates->fp16},
      {Pipe::int32, rates->int32},
      {Pipe::sfu, rates->sfu},
      {Pipe::tensor_fp64, rates->tensor_fp64},
      {Pipe::tensor_tf32, products * rates->tensor_tf32},
      {Pipe::tensor_fp16, products * rates->tensor_16},
      {Pipe::tensor_bf16, has_bf16(rates->tensor_tf32) * products * rates->tensor_16},
      {Pipe::tensor_fp8, products * rates->tensor_fp8},
      {Pipe::tensor_int8, tensor_cores * rates->tensor_int8}};
  for (const auto& [pipe, rate] : pipes) limits.compute(pipe, rate * each);
  limits.memory(memory);
  return true;
}

/// Sizes that the file does not tell: MB of L2 and of a last level behind it (0: none), GB of memory.
void add_sizes(Machine& machine, double l2, double last_level, double capacity) {
  constexpr double kGiga = 1e9, kMega = 1e6;
  if (machine.device.caches.empty()) {
    machine.device.caches.push_back({.level = Level::l2, .bytes = l2 * kMega});
    if (last_level > 0) machine.device.caches.push_back({.level = Level::l3, .bytes = last_level * kMega});
  }
  if (!(machine.device.memory_bytes > 0)) machine.device.memory_bytes = capacity * kGiga;
}

const AmdSheet* amd_sheet_of(const std::string& device) {
  const std::string name = lower_case(device);
  const auto* sheet = std::find_if(std::begin(kAmdSheets), std::end(kAmdSheets),
                                   [&](const AmdSheet& of) { return names(name, of.name); });
  return sheet == std::end(kAmdSheets) ? nullptr : sheet;
}

const DataSheet* sheet_of(const std::string& device) {
  const std::string name = lower_case(device);
  const auto* sheet = std::find_if(std::begin(kDataSheets), std::end(kDataSheets),
                                   [&](const DataSheet& of) { return names(name, of.name); });
  return sheet == std::end(kDataSheets) || names_any(name, kVariants) ? nullptr : sheet;
}

bool limit_by_amd_sheet(Machine& machine, const DeviceFacts& device) {
  const AmdSheet* const sheet = amd_sheet_of(device.name);
  if (sheet == nullptr) return false;
  constexpr double kTera = 1e12;
  add_sizes(machine, sheet->l2, sheet->infinity_cache, sheet->capacity);
  DataSheetLimits limits(machine, std::string(kDataSheetOrigin), "the data sheet of " + device.name);
  const std::pair<Pipe, double> pipes[] = {{Pipe::fp64, sheet->fp64},
                                           {Pipe::fp32, sheet->fp32},
                                           {Pipe::tensor_fp64, sheet->matrix_fp64},
                                           {Pipe::tensor_tf32, sheet->matrix_fp32},
                                           {Pipe::tensor_fp16, sheet->matrix_fp16},
                                           {Pipe::tensor_bf16, sheet->matrix_bf16},
                                           {Pipe::tensor_fp8, sheet->matrix_fp8},
                                           {Pipe::tensor_int8, sheet->matrix_int8}};
  for (const auto& [pipe, rate] : pipes) limits.compute(pipe, rate * kTera);
  limits.memory(sheet->memory * kTera);
  return true;
}

void limit_by_data_sheet(Machine& machine, const DeviceFacts& device) {
  if (limit_by_amd_sheet(machine, device)) return;
  const DataSheet* const sheet = sheet_of(device.name);
  if (sheet == nullptr) return;
  constexpr double kTera = 1e12;
  add_sizes(machine, sheet->l2, 0, sheet->capacity);
  DataSheetLimits limits(machine, std::string(kDataSheetOrigin), "the data sheet of " + device.name);
  limits.compute(Pipe::fp64, sheet->fp64 * kTera);
  limits.compute(Pipe::fp32, sheet->fp32 * kTera);
  limits.compute(Pipe::tensor_fp64, sheet->tensor_fp64 * kTera);
  limits.compute(Pipe::tensor_tf32, sheet->tensor_tf32 * kTera);
  limits.compute(Pipe::tensor_fp16, sheet->tensor_16 * kTera);
  limits.compute(Pipe::tensor_bf16, has_bf16(sheet->tensor_tf32) * sheet->tensor_16 * kTera);
  limits.compute(Pipe::tensor_fp8, sheet->tensor_fp8 * kTera);
  limits.compute(Pipe::tensor_int8, sheet->tensor_int8 * kTera);
  limits.memory(sheet->memory * kTera);
}

}  // namespace

std::string name_by_attributes(const DeviceFacts& device) {
  const bool is_known = device.is_amd ? !device.chip.empty() : device.compute_major > 0;
  if (!is_known || device.sms == 0) return {};
  const std::string arch =
      device.is_amd ? "AMD " + device.chip : fmt::format("NVIDIA sm_{}{}", device.compute_major, device.compute_minor);
  return fmt::format("{} GPU with {} {}", arch, device.sms, gpu_unit_name(gpu_vendor(arch)).many);
}

std::vector<std::string_view> data_sheet_names() {
  std::vector<std::string_view> names;
  for (const DataSheet& sheet : kDataSheets) names.push_back(sheet.name);
  for (const AmdSheet& sheet : kAmdSheets) names.push_back(sheet.name);
  return names;
}

Machine data_sheet_machine(const DeviceFacts& device) {
  Machine machine;
  machine.device.kind = device.is_cpu ? DeviceKind::cpu : DeviceKind::cuda;
  machine.device.index = static_cast<int>(device.index);
  const std::string_view unnamed = device.is_cpu     ? kUnnamedCpu
                                   : device.is_amd   ? kUnnamedAmdGpu
                                   : device.is_intel ? kUnnamedIntelGpu
                                                     : kUnnamedGpu;
  machine.device.name = !device.name.empty() ? device.name : name_by_attributes(device);
  if (machine.device.name.empty()) machine.device.name = unnamed;
  machine.device.identity = "not-measured";
  machine.device.units = device.sms;
  machine.device.memory_bytes = device.memory_bytes;
  if (device.l2_bytes > 0) machine.device.caches.push_back({.level = Level::l2, .bytes = device.l2_bytes});
  if (device.core_hz > 0) machine.device.max_core_hz = device.core_hz;
  if (device.memory_hz > 0) machine.device.memory_hz = device.memory_hz;
  if (is_amd(device)) {
    machine.device.isa = device.chip;
  } else if (device.compute_major > 0) {
    machine.device.isa = fmt::format("sm_{}{}", device.compute_major, device.compute_minor);
  }
  if (!device.is_cpu && !limit_by_attributes(machine, device)) limit_by_data_sheet(machine, device);
  return machine;
}

Machine machine_of_data_sheet(const std::string& name) {
  DeviceFacts facts;
  facts.name = name;
  Machine machine = data_sheet_machine(facts);
  DeviceInfo& device = machine.device;
  const auto limit_power = [&](double watts) {
    if (watts > 0) device.attributes.emplace_back(AttributeKey::power_limit, fmt::format("{:.0f} W", watts));
  };
  if (const AmdSheet* const sheet = amd_sheet_of(name)) {
    device.units = sheet->cus;
    limit_power(sheet->watts);
  } else if (const DataSheet* const own = sheet_of(name)) {
    device.units = own->sms;
    device.isa = fmt::format("sm_{}", own->compute);
    limit_power(own->watts);
    const auto* rates = std::find_if(std::begin(kRates), std::end(kRates),
                                     [&](const SmRates& of) { return of.compute == own->compute; });
    constexpr double kTera = 1e12;
    if (rates != std::end(kRates)) {
      device.max_core_hz = own->fp32 * kTera / (static_cast<double>(own->sms) * rates->fp32);
    }
  }
  return machine;
}

std::string about_roofs(const Machine& machine) {
  if (machine.ceilings.empty() && machine.device.kind == DeviceKind::cpu && !machine.device.name.empty()) {
    if (machine.device.name == kUnnamedCpu) {
      return "no roofs: the file names no CPU; run roofline calibrate on it and pass its machine.json with --machine";
    }
    return fmt::format(
        "no roofs: {} was not calibrated; run roofline calibrate there and pass its machine.json with --machine",
        clean_line(machine.device.name));
  }
  if (machine.ceilings.empty() && machine.device.name.ends_with(kUnnamedGpu)) {
    return "no roofs: the file names no GPU; pass a machine.json with --machine";
  }
  return machine.ceilings.empty()
             ? fmt::format("no roofs: no data-sheet values are known for {}; pass a machine.json with --machine",
                           clean_line(machine.device.name))
             : not_measured(machine);
}

}  // namespace roofline
