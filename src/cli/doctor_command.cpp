// roofline doctor: collects facts about this machine and prints the checks. Libraries and drivers that may crash or
// hang are probed in child processes.
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>

#include "calibrate/machine_store.hpp"
#include "calibrate/select_device.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/doctor.hpp"
#include "cupti/library.hpp"
#include "device/counter_reader.hpp"
#include "device/cpu/isa.hpp"
#include "device/isolate.hpp"
#include "host/cache_folder.hpp"
#include "host/files.hpp"
#include "profile/cpu/emulator.hpp"
#include "user/compilers.hpp"

namespace roofline {
namespace {

/// Path of a library as the loader finds it, else in the CUDA Toolkit; empty if it is not installed.
std::string library_file(const KnownLibrary& library) {
  if (std::string_view(library.name) == "libcupti") return find_cupti(13, [](void*) { return true; }).path;
  for (const std::string folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"}) {
    for (const char* file : library.files) {
      void* const handle = file != nullptr ? dlopen((folder + file).c_str(), RTLD_LAZY | RTLD_LOCAL) : nullptr;
      if (handle == nullptr) continue;
      const link_map* map = nullptr;
      if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) return file;
      return map->l_name;
    }
  }
  return {};
}

/// "libnvrtc<tab>file" per line.
std::string libraries() {
  std::string found;
  for (const KnownLibrary& library : known_libraries()) {
    if (const std::string file = library_file(library); !file.empty())
      found += fmt::format("{}\t{}\n", library.name, file);
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

/// First character of a child's reply if the operating system refuses the counters to this user.
constexpr char kNoPermission = '!';

/// Why the counters of that device cannot be read; empty if they can.
std::string counters_refused(DeviceKind kind) {
  try {
    const std::unique_ptr<Device> device = open_device(kind, 0, {.threads = kind == DeviceKind::cpu ? 1 : 0});
    make_counter_reader(*device, CounterSet::standard);
    return "";
  } catch (const PermissionError& error) {
    return kNoPermission + std::string(error.what());
  } catch (const Error& error) {
    return error.hint().empty() ? error.what() : fmt::format("{}: {}", error.what(), error.hint());
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::optional<CountersRefusal> refusal_of(const std::string& reply) {
  if (reply.empty()) return std::nullopt;
  const bool no_permission = reply.front() == kNoPermission;
  return CountersRefusal{reply.substr(no_permission ? 1 : 0), no_permission};
}

/// The reply of a child process, or the reason if it died.
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
  constexpr double kLimit = 60;  // a hanging driver never replies
  jobs.limit_s = [](std::int64_t) { return kLimit; };
  run_isolated(jobs);
  return replies;
}

MachineFacts collect_facts() {
  MachineFacts facts;
  facts.devices = list_devices_isolated({});
  facts.lacking_isa = lacking_levels(cpu_isa(), kHighestIsa);
  const auto replies = ask_children(
      {libraries, [] { return counters_refused(DeviceKind::cpu); }, [] { return counters_refused(DeviceKind::cuda); }});
  if (!replies[0].lost) facts.libraries = parse_libraries(replies[0].text);
  facts.cpu_counters = refusal_of(replies[1].text);
  facts.gpu_counters = refusal_of(replies[2].text);
  const CountTool count_tool = find_count_tool();
  facts.count_tool = count_tool.tool.string();
  facts.no_count_tool = count_tool.why_not;
  facts.c_compiler = has_compiler(SourceKind::c);
  facts.cxx_compiler = has_compiler(SourceKind::cpp);
  facts.cuda_compiler = has_compiler(SourceKind::cuda);
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
      if (const std::optional<Machine> kept = kept_machine(listing.info.identity)) {
        facts.calibrations[listing.info.identity] = age_of(kept->measured_at, std::time(nullptr));
      }
    } catch (const Error& error) {
      facts.broken_calibrations[listing.info.identity] = error.what();
    }
  }
  return facts;
}

nlohmann::ordered_json document_of(const std::vector<HealthCheck>& checks) {
  using Json = nlohmann::ordered_json;
  Json document = {{"schema", "roofline.doctor/1"}, {"checks", Json::array()}};
  for (const HealthCheck& check : checks) {
    Json row = {{"name", check.name}, {"health", to_string(check.health)}, {"found", check.found}};
    Json absent = Json::object();
    const auto add = [&](const char* key, const std::string& value, const char* reason) {
      (value.empty() ? absent : row)[key] = value.empty() ? reason : value;
    };
    const bool works = check.health == Health::works;
    add("without", check.without, "nothing is missing");
    add("remedy", check.remedy, works ? "nothing is missing" : "no command fixes this");
    if (!absent.empty()) row["absent"] = std::move(absent);
    document["checks"].push_back(std::move(row));
  }
  return document;
}

struct Flags {};

ExitCode run(Flags&, const GlobalOptions& global) {
  const std::vector<HealthCheck> checks = checks_of(collect_facts());
  print_result([&] { return document_of(checks); },
               [&] { return render_checks(checks, stdout_table_style(global.color)); });
  return ExitCode::ok;
}

}  // namespace

CommandEntry doctor_command() {
  return CommandRow<Flags>{"doctor", "Check what works on this machine and how to enable the rest", nullptr, run};
}

}  // namespace roofline
