#include "cli/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/device_flags.hpp"
#include "model/spelling.hpp"
#include "render/terminal/table.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 3> kHealths = {"works", "limited", "missing"};

constexpr const char* kToolkit = "sudo apt-get install cuda-toolkit   # NVIDIA's repository";
constexpr KnownLibrary kLibraries[] = {
    {"libnvidia-ml",
     {"libnvidia-ml.so.1"},
     "NVML",
     "no clocks, power or other processes of the GPU",
     "sudo apt-get install nvidia-driver",
     true},
    {"libcublasLt",
     {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
     "cuBLAS",
     "no cuBLAS implementations of GEMM; roofs are not checked against a library",
     kToolkit,
     true},
    {"libcupti",
     {"libcupti.so.13", "libcupti.so.12", "libcupti.so"},
     "CUPTI",
     "no GPU counters; `roofline profile` records no kernels",
     kToolkit,
     true},
    {"libnvrtc",
     {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
     "NVRTC",
     "CUDA kernels of suites require nvcc",
     kToolkit,
     true},
    {"libnccl",
     {"libnccl.so.2"},
     "NCCL",
     "no collectives between GPUs: no nccl.* ceilings; configs/collectives.yaml is skipped",
     "sudo apt-get install libnccl2",
     true},
    {"libzstd",
     {"libzstd.so.1"},
     "zstd",
     "`roofline import` cannot read .ncu-repz",
     "sudo apt-get install libzstd1",
     false},
};

std::string name_of(const DeviceInfo& info) {
  return info.kind == DeviceKind::cuda ? fmt::format("GPU {}", info.index) : "CPU";
}

HealthCheck device_check(const DeviceListing& listing, const MachineFacts& facts) {
  const DeviceInfo& info = listing.info;
  if (!listing.usable) {
    const bool no_driver = listing.problem == DeviceProblem::no_driver;
    const bool no_cuda = listing.problem == DeviceProblem::build_without_cuda;
    return {info.name.empty() ? "GPU" : name_of(info), Health::missing, listing.reason, "only the CPU can be used",
            no_cuda     ? "cmake --preset release -DROOFLINE_CUDA=ON && cmake --build --preset release"
            : no_driver ? "sudo apt-get install nvidia-driver   # in a container: docker run --gpus all …"
                        : "nvidia-smi"};
  }
  std::string found = info.name;
  if (info.kind == DeviceKind::cuda) {
    found += fmt::format(", driver {}", info.driver);
  } else {
    found += fmt::format(", {}, {} thread{}", info.isa, info.units, info.units == 1 ? "" : "s");
  }
  if (info.kind == DeviceKind::cpu && !facts.lacking_isa.empty()) {
    return {name_of(info), Health::limited, found, "this build has " + facts.lacking_isa,
            "cmake --preset release && cmake --build --preset release"};
  }
  return {name_of(info), Health::works, found, {}, {}};
}

HealthCheck calibration_check(const DeviceInfo& info, const MachineFacts& facts) {
  const std::string name = "roofs of the " + name_of(info);
  const auto kept = facts.calibrations.find(info.identity);
  if (kept != facts.calibrations.end()) return {name, Health::works, kept->second, {}, {}};
  const auto broken = facts.broken_calibrations.find(info.identity);
  return {name, Health::limited, broken == facts.broken_calibrations.end() ? "not measured" : broken->second,
          "the first `roofline analyze` measures them",
          fmt::format("roofline calibrate --device {}", device_word(info))};
}

HealthCheck library_check(const KnownLibrary& library, bool gpu, const MachineFacts& facts) {
  const auto found = facts.libraries.find(library.name);
  if (found != facts.libraries.end()) return {library.check, Health::works, found->second, {}, {}};
  const std::string without = library.gpu && !gpu ? fmt::format("with a GPU: {}", library.without) : library.without;
  return {library.check, Health::missing, fmt::format("{}.so not found", library.name), without, library.remedy};
}

HealthCheck cpu_counters_check(const MachineFacts& facts) {
  const std::string name = "counters of the CPU";
  if (!facts.cpu_counters) return {name, Health::works, "perf_event_open", {}, {}};
  return {name, Health::missing, facts.cpu_counters->reason, "`--counters` has no effect on the CPU",
          facts.cpu_counters->no_permission ? "sudo sysctl kernel.perf_event_paranoid=1" : ""};
}

HealthCheck emulation_check(const MachineFacts& facts) {
  const std::string name = "counts under emulation";
  if (!facts.count_tool.empty()) return {name, Health::works, facts.count_tool, {}, {}};
  return {name, Health::missing, facts.no_count_tool, "`roofline profile --emulate` does not run",
          "sudo apt-get install valgrind"};
}

HealthCheck gpu_counters_check(const MachineFacts& facts) {
  const std::string name = "counters of the GPU";
  if (!facts.gpu_counters) return {name, Health::works, "CUPTI's range profiler", {}, {}};
  const char* const permit =
      "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/nvidia-profiling.conf "
      "&& sudo update-initramfs -u && sudo reboot";
  return {name, Health::missing, facts.gpu_counters->reason,
          "`--counters` has no effect on the GPU; profiles have no FLOPs and bytes",
          facts.gpu_counters->no_permission ? permit : ""};
}

HealthCheck compiler_check(const MachineFacts& facts, bool gpu) {
  const std::string name = "compilers for suite kernels";
  std::vector<std::string> found, missing;
  (facts.c_compiler ? found : missing).emplace_back("C");
  (facts.cxx_compiler ? found : missing).emplace_back("C++");
  if (gpu) (facts.cuda_compiler || facts.libraries.contains("libnvrtc") ? found : missing).emplace_back("CUDA");
  const std::string have = found.empty() ? "none" : fmt::format("{}", fmt::join(found, ", "));
  if (missing.empty()) return {name, Health::works, have, {}, {}};
  const bool cuda_only = missing.size() == 1 && missing.front() == "CUDA";
  return {name, found.empty() ? Health::missing : Health::limited, have,
          fmt::format("suite kernels in {} cannot be compiled", fmt::join(missing, ", ")),
          cuda_only ? kToolkit : "sudo apt-get install gcc g++"};
}

HealthCheck huge_pages_check(const MachineFacts& facts) {
  const std::string name = "huge pages";
  const bool granted = facts.huge_pages.find("[never]") == std::string::npos;
  if (granted && !facts.huge_pages.empty()) return {name, Health::works, facts.huge_pages, {}, {}};
  return {name, Health::limited, facts.huge_pages.empty() ? "unknown" : facts.huge_pages,
          "lower memory roofs on the CPU (4 KiB pages)",
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
}

HealthCheck cache_check(const MachineFacts& facts) {
  const std::string name = "cache";
  if (facts.cache_fault.empty()) return {name, Health::works, facts.cache, {}, {}};
  return {name, Health::missing, facts.cache_fault, "calibrations and compiled kernels are not stored",
          "export XDG_CACHE_HOME=$(mktemp -d)"};
}

/// The parts of a shell command that may stand on lines of their own: a line that ends with "&&" or "|" continues.
std::vector<std::string> command_lines(std::string_view command) {
  std::vector<std::string> lines;
  while (!command.empty()) {
    const std::size_t both = command.find(" && "), pipe = command.find(" | ");
    const std::size_t at = std::min(both, pipe);
    const std::size_t end = at == std::string_view::npos ? command.size() : at + (both < pipe ? 3 : 2);
    lines.emplace_back(command.substr(0, end));
    command.remove_prefix(std::min(command.size(), end + 1));
  }
  return lines;
}

/// A command with its comment, if it has one, in lines that can be copied: broken where it does not fit, and moved to
/// the left where that is not enough.
std::string render_remedy(const std::string& remedy, std::size_t column, const TerminalStyle& style) {
  const std::size_t comment = std::min(remedy.find("   # "), remedy.size());
  const std::string command = for_terminal(remedy.substr(0, comment), style);
  const int columns = std::max(style.columns, 0);
  const auto fits = [&](const std::string& line) {
    return static_cast<int>(column) + 2 + display_width(line) <= columns;
  };
  if (fits(remedy)) return fmt::format("{:{}}$ {}\n", "", column, for_terminal(remedy, style));
  const std::vector<std::string> lines = fits(command) ? std::vector{command} : command_lines(command);
  int widest = 0;
  for (const std::string& line : lines) widest = std::max(widest, display_width(line));
  const int left = std::clamp(columns - 2 - widest, 0, static_cast<int>(column));
  std::string text;
  for (const std::string& line : lines) {
    text += fmt::format("{:{}}{} {}\n", "", left, text.empty() ? '$' : ' ', line);
  }
  const std::string begin = fmt::format("{:{}}# ", "", left);
  constexpr std::size_t kMark = 5;  // "   # "
  return comment == remedy.size() ? text : text + wrapped(begin, remedy.substr(comment + kMark), style, true);
}

}  // namespace

std::span<const KnownLibrary> known_libraries() { return kLibraries; }

std::string_view to_string(Health health) { return spell(kHealths, health); }

std::vector<HealthCheck> checks_of(const MachineFacts& facts) {
  std::vector<HealthCheck> checks;
  const bool gpu = std::any_of(facts.devices.begin(), facts.devices.end(), [](const DeviceListing& listing) {
    return listing.usable && listing.info.kind == DeviceKind::cuda;
  });
  for (const DeviceListing& listing : facts.devices) checks.push_back(device_check(listing, facts));
  for (const DeviceListing& listing : facts.devices) {
    if (listing.usable) checks.push_back(calibration_check(listing.info, facts));
  }
  checks.push_back(cache_check(facts));
  checks.push_back(cpu_counters_check(facts));
  checks.push_back(emulation_check(facts));
  if (gpu) checks.push_back(gpu_counters_check(facts));
  for (const KnownLibrary& library : kLibraries) checks.push_back(library_check(library, gpu, facts));
  checks.push_back(compiler_check(facts, gpu));
  checks.push_back(huge_pages_check(facts));
  if (!facts.governor.empty() && facts.governor != "performance") {
    checks.push_back({"clock governor", Health::limited, facts.governor,
                      "the clock rises only under load, so times vary more",
                      "sudo cpupower frequency-set -g performance"});
  }
  return checks;
}

std::string render_checks(const std::vector<HealthCheck>& checks, const TerminalStyle& style) {
  std::size_t width = 0;
  for (const HealthCheck& check : checks) width = std::max(width, check.name.size());
  std::string text;
  for (const HealthCheck& check : checks) {
    const std::string indent(width + 11, ' ');
    text +=
        wrapped(fmt::format("{:<8} {:<{}}  ", to_string(check.health), check.name, width), check.found, style, true);
    if (!check.without.empty()) text += wrapped(indent, check.without, style, true);
    if (!check.remedy.empty()) text += render_remedy(check.remedy, indent.size(), style);
  }
  return text;
}

}  // namespace roofline
