// roofline doctor: gathers what this machine has, each thing that may misbehave in a child process, and judges it.
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>

#include "calibrate/machine_store.hpp"
#include "calibrate/select_device.hpp"
#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/doctor.hpp"
#include "device/counter_reader.hpp"
#include "device/cpu/isa.hpp"
#include "device/isolate.hpp"
#include "host/cache_folder.hpp"
#include "host/files.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

struct Names {
  const char* library;
  std::array<const char*, 3> files;  ///< as they are tried
};

constexpr Names kLibraryFiles[] = {
    {"libnvidia-ml", {"libnvidia-ml.so.1"}},
    {"libcublasLt", {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}},
    {"libcupti", {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}},
    {"libnvrtc", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}},
    {"libnccl", {"libnccl.so.2"}},
    {"libmuparser", {"libmuparser.so.2"}},
    {"libzstd", {"libzstd.so.1"}},
};

/// Where the loader finds a library, else where the CUDA Toolkit has its own; empty where nowhere.
std::string library_file(const Names& names) {
  for (const std::string folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"}) {
    for (const char* file : names.files) {
      void* const handle = file != nullptr ? dlopen((folder + file).c_str(), RTLD_LAZY | RTLD_LOCAL) : nullptr;
      if (handle == nullptr) continue;
      const link_map* map = nullptr;
      if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) return file;
      return map->l_name;
    }
  }
  return {};
}

/// "libnvrtc<tab>file" a line.
std::string libraries() {
  std::string found;
  for (const Names& names : kLibraryFiles) {
    if (const std::string file = library_file(names); !file.empty())
      found += fmt::format("{}\t{}\n", names.library, file);
  }
  return found;
}

std::map<std::string, std::string> parse_libraries(std::string_view lines) {
  std::map<std::string, std::string> found;
  while (!lines.empty()) {
    const std::size_t tab = lines.find('\t'), end = lines.find('\n');
    found[std::string(lines.substr(0, tab))] = lines.substr(tab + 1, end - tab - 1);
    lines.remove_prefix(end + 1);
  }
  return found;
}

/// Why that device's counters can't be read; empty where they can.
std::string counters_refused(DeviceKind kind) {
  try {
    const std::unique_ptr<Device> device = open_device(kind, 0, {.threads = kind == DeviceKind::cpu ? 1 : 0});
    make_counter_reader(*device, CounterSet::standard);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// The answer of a child process; where it dies, why.
struct Reply {
  std::string text;
  bool lost = false;
};

std::vector<Reply> ask_children(const std::vector<std::function<std::string()>>& questions) {
  std::vector<Reply> replies(questions.size());
  const auto reply_of = [&](std::int64_t job) -> Reply& { return replies[static_cast<std::size_t>(job)]; };
  Jobs jobs;
  jobs.count = static_cast<std::int64_t>(questions.size());
  jobs.run = [&](std::int64_t job, const Send& send) {
    send(questions[static_cast<std::size_t>(job)]());
    return AfterJob::fresh_process;
  };
  jobs.on_message = [&](std::int64_t job, std::string_view text) { reply_of(job).text = text; };
  jobs.on_lost = [&](std::int64_t job, const std::string& reason) { reply_of(job) = {reason, true}; };
  constexpr double kLimit = 60;  // a driver that is stuck answers never
  jobs.limit_s = [](std::int64_t) { return kLimit; };
  run_isolated(jobs);
  return replies;
}

bool in_path(std::string_view program) {
  const char* const path = std::getenv("PATH");
  std::string_view left = path != nullptr ? path : "/usr/bin:/bin";
  while (!left.empty()) {
    const std::size_t colon = left.find(':');
    const std::string file = fmt::format("{}/{}", left.substr(0, colon), program);
    if (::access(file.c_str(), X_OK) == 0) return true;
    left.remove_prefix(colon == std::string_view::npos ? left.size() : colon + 1);
  }
  return false;
}

MachineFacts gather() {
  MachineFacts facts;
  facts.devices = list_devices_isolated({});
  facts.lacking_isa = lacking_levels(cpu_isa(), kHighestIsa);
  const auto replies = ask_children(
      {libraries, [] { return counters_refused(DeviceKind::cpu); }, [] { return counters_refused(DeviceKind::cuda); }});
  if (!replies[0].lost) facts.libraries = parse_libraries(replies[0].text);
  if (!replies[1].text.empty()) facts.cpu_counters = replies[1].text;
  if (!replies[2].text.empty()) facts.gpu_counters = replies[2].text;
  facts.c_compiler = in_path("cc") || in_path("gcc") || in_path("clang");
  facts.cxx_compiler = in_path("c++") || in_path("g++") || in_path("clang++");
  facts.cuda_compiler = in_path("nvcc") || ::access("/usr/local/cuda/bin/nvcc", X_OK) == 0;
  facts.huge_pages = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  facts.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  try {
    facts.cache = cache_folder("calibrations", "").string();
    require_writable_folder(facts.cache);
  } catch (const Error& error) {
    facts.cache_fault = error.what();
  }
  for (const DeviceListing& listing : facts.devices) {
    if (!listing.usable) continue;
    try {
      if (const std::optional<Machine> kept = find_machine(listing.info.identity, warn)) {
        facts.calibrations[listing.info.identity] = age_of(kept->measured_at, std::time(nullptr));
      }
    } catch (const Error& error) {
      facts.calibrations[listing.info.identity] = error.what();
    }
  }
  return facts;
}

}  // namespace

ExitCode run_doctor(const DoctorCommand&, const Options& options) {
  const std::vector<HealthCheck> checks = checks_of(gather());
  print_result(options.answer.json ? document_of(checks) : render_checks(checks));
  return ExitCode::ok;
}

}  // namespace roofline
