// Has a child process run the probes, and gives their ceilings the checks that need all of them.
#include "calibrate/calibrate.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "calibrate/measure_probe.hpp"
#include "device/isolate.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "measure/audit.hpp"
#include "model/error.hpp"
#include "op/registry.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

/// Several periods of an energy counter (0.1 s on an H200).
constexpr std::chrono::milliseconds kIdleTime(500);

/// Quick leaves out what no kernel is held against, unless it is asked for by name.
bool left_out(const Probe& probe, const CalibrateOptions& options) {
  const bool extra = probe.role == Role::reference || probe.sweep.has_value();
  return options.effort.quick && extra && options.only == "*";
}

std::vector<const Probe*> chosen_probes(const CalibrateOptions& options) {
  const DeviceKind kind = options.device.kind;
  const std::string& only = options.only;
  std::vector<const Probe*> chosen;
  std::string names;
  for (const Probe* probe : all_probes(kind)) {
    if (left_out(*probe, options)) continue;
    names += (names.empty() ? "" : ", ") + probe->name;
    if (::fnmatch(only.c_str(), probe->name.c_str(), 0) == 0) chosen.push_back(probe);
  }
  if (chosen.empty()) {
    throw UsageError(fmt::format("--only {} matches no ceiling of a {} device", only, to_string(kind)),
                     fmt::format("there are: {}", names));
  }
  return chosen;
}

/// Intensity is infinite for a compute probe that touches no memory, which JSON has no word for.
Json intensity_to_json(double intensity) {
  return std::isfinite(intensity) ? Json(intensity) : Json(std::isinf(intensity) ? "inf" : "none");
}

double intensity_from_json(const Json& json) {
  if (json.is_number()) return json;
  return json == "inf" ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
}

/// In the child: opens the device at the first probe and keeps it for those that follow.
class ProbeWorker {
 public:
  ProbeWorker(const CalibrateOptions& options, const std::vector<const Probe*>& probes)
      : options_(options), probes_(probes) {}

  AfterJob run(std::int64_t job, const Send& send) {
    try {
      if (!device_) {
        device_ = open_device(options_.device.kind, options_.device.index, options_.device.options);
        send(Json{{"device", device_to_json(device_->info())}}.dump());
        if (const auto watts = idle_watts()) send(Json{{"idle_watts", *watts}}.dump());
      }
      const Probe& probe = *probes_[static_cast<std::size_t>(job)];
      const ProbeOutcome outcome = measure_probe(probe, *device_, options_.effort, interrupted);
      if (const auto* measured = std::get_if<MeasuredProbe>(&outcome)) {
        Json message = {{"ceiling", ceiling_to_json(measured->ceiling)},
                        {"intensity", intensity_to_json(measured->intensity)}};
        if (measured->sustained) message["sustained"] = ceiling_to_json(*measured->sustained);
        if (measured->pipe) message["pipe"] = to_string(*measured->pipe);
        send(message.dump());
      } else if (const auto* sweep = std::get_if<Sweep>(&outcome)) {
        send(Json{{"sweep", sweep_to_json(*sweep)}}.dump());
      } else {
        send(Json{{"unmeasured", std::get<std::string>(outcome)}}.dump());
      }
      return AfterJob::next;
    } catch (const DeviceError& error) {
      send(Json{{"unusable", error.what()}, {"hint", error.hint()}}.dump());
    } catch (const std::exception& error) {
      send(Json{{"unmeasured", error.what()}}.dump());
    }
    return AfterJob::fresh_process;
  }

 private:
  /// Once for a calibration, before the device has been under load: with its context open and nothing running.
  std::optional<double> idle_watts() {
    if (options_.effort.quick || idle_known_) return std::nullopt;
    idle_known_ = true;
    const PowerReading before = device_->power();
    if (!before.energy_j) return std::nullopt;
    const double start_s = wall_seconds();
    std::this_thread::sleep_for(kIdleTime);
    const PowerReading after = device_->power();
    if (!after.energy_j) return std::nullopt;
    return (*after.energy_j - *before.energy_j) / (wall_seconds() - start_s);
  }

  const CalibrateOptions& options_;
  const std::vector<const Probe*>& probes_;
  bool idle_known_ = false;
  std::unique_ptr<Device> device_;
};

/// The time that is left, from what every probe is expected to take and how that held so far.
class Outlook {
 public:
  Outlook(const std::vector<const Probe*>& probes, const Effort& effort) {
    for (const Probe* probe : probes) expected_.push_back(expected_seconds(*probe, effort));
  }

  double left_s(std::int64_t current) const {
    const auto now = expected_.begin() + current;
    const double before = std::accumulate(expected_.begin(), now, 0.0);
    const double after = std::accumulate(now, expected_.end(), 0.0);
    const double elapsed = wall_seconds() - begin_s_;
    // The first probe is no evidence of the pace; a second's worth is.
    const double pace = before > kEvidenceS ? elapsed / before : 1;
    const double spent_on_current = before > 0 ? std::max(0.0, elapsed - pace * before) : elapsed;
    return std::max(0.0, pace * after - spent_on_current);
  }

 private:
  static constexpr double kEvidenceS = 1;
  std::vector<double> expected_;
  double begin_s_ = wall_seconds();
};

/// What a probe did besides measuring its ceiling.
struct ProbeFacts {
  double intensity = 0;
  std::optional<Pipe> pipe;
};

/// In the parent: puts the Machine together from what the child sends.
struct Gathered {
  Machine machine;
  std::map<std::string, ProbeFacts> facts;
  std::string unusable, hint;

  void take(const std::string& probe, const Json& message) {
    if (message.contains("device")) machine.device = device_from_json(message["device"]);
    if (message.contains("unusable")) {
      unusable = message["unusable"];
      hint = message["hint"];
    }
    if (message.contains("unmeasured")) machine.unmeasured.push_back({probe, message["unmeasured"]});
    if (message.contains("idle_watts")) machine.idle_watts = message["idle_watts"].get<double>();
    if (message.contains("sweep")) machine.sweeps.push_back(sweep_from_json(message["sweep"]));
    if (message.contains("ceiling")) {
      machine.ceilings.push_back(ceiling_from_json(message["ceiling"]));
      if (message.contains("sustained")) machine.ceilings.push_back(ceiling_from_json(message["sustained"]));
      facts[probe].intensity = intensity_from_json(message["intensity"]);
      if (message.contains("pipe")) facts[probe].pipe = parse_pipe(message["pipe"].get<std::string>());
    }
  }
};

/// Whatever an interrupt kept from being measured is said to be so.
void note_cancelled(Machine& machine, const std::vector<const Probe*>& probes) {
  for (const Probe* probe : probes) {
    const bool listed = std::any_of(machine.unmeasured.begin(), machine.unmeasured.end(),
                                    [&](const Unmeasured& entry) { return entry.name == probe->name; });
    const bool swept = std::any_of(machine.sweeps.begin(), machine.sweeps.end(),
                                   [&](const Sweep& sweep) { return sweep.name == probe->name; });
    if (machine.find(probe->name) == nullptr && !listed && !swept)
      machine.unmeasured.push_back({probe->name, "cancelled"});
  }
}

/// A probe far on its own side of the ridge can't have measured the other resource. The ridge of a compute
/// probe is its value over main memory's; that of a memory probe, the roof of the pipe that its few FLOPs run
/// on over its value. One without FLOPs lies left of any ridge.
void audit_intensities(Machine& machine, const std::map<std::string, ProbeFacts>& facts) {
  const Ceiling* memory = machine.slope(main_memory(machine.device.kind));
  for (Ceiling& ceiling : machine.ceilings) {
    if (ceiling.kind == CeilingKind::overhead || ceiling.kind == CeilingKind::latency) continue;
    const ProbeFacts& probe = facts.at(ceiling.name);
    const bool compute = ceiling.kind == CeilingKind::compute;
    const Ceiling* pipe = compute ? &ceiling : machine.compute(probe.pipe.value_or(Pipe::fp32));
    const Ceiling* bandwidth = compute ? memory : &ceiling;
    const double ridge = pipe != nullptr && bandwidth != nullptr ? pipe->value / bandwidth->value
                                                                 : std::numeric_limits<double>::quiet_NaN();
    const double intensity = !compute && std::isnan(probe.intensity) ? 0 : probe.intensity;
    ceiling.audit.checks.push_back(audit_intensity(ceiling.kind, intensity, ridge));
  }
}

}  // namespace

std::vector<SingleRun> run_once(const CalibrateOptions& options) {
  const std::vector<const Probe*> probes = chosen_probes(options);
  const std::unique_ptr<Device> device = open_device(options.device.kind, options.device.index, options.device.options);
  std::vector<SingleRun> runs;
  for (const Probe* probe : probes) {
    if (interrupted()) break;
    SingleRun single;
    single.name = probe->name;
    try {
      const auto reason = probe->unsupported ? probe->unsupported(*device) : std::nullopt;
      const auto made = reason ? std::nullopt : probe->make(*device, ProbeRequest{.quick = true, .scale = 1}, 0);
      if (made) {
        single.variant = made->variant;
        single.instruction = made->instruction;
        single.amount = made->amount;
        single.work = made->work;
        device->run_profiled(made->run);
      }
      single.failure = reason         ? *reason
                       : !made        ? "no variant of the probe runs here"
                       : made->verify ? made->verify().value_or("")
                                      : "";
    } catch (const PoisonedDevice&) {
      throw;
    } catch (const std::exception& error) {
      single.failure = error.what();
    }
    runs.push_back(std::move(single));
  }
  return runs;
}

Machine calibrate(const CalibrateOptions& options) {
  const std::vector<const Probe*> probes = chosen_probes(options);
  const Outlook outlook(probes, options.effort);
  const auto name_of = [&](std::int64_t job) { return probes[static_cast<std::size_t>(job)]->name; };
  const auto total = static_cast<std::int64_t>(probes.size());
  Gathered gathered;
  gathered.machine.measured_at = utc_now();
  std::int64_t current = 0;

  ProbeWorker worker(options, probes);
  Jobs jobs;
  jobs.count = total;
  jobs.run = [&](std::int64_t job, const Send& send) {
    send("{}");  // tells the parent which probe is at work
    return worker.run(job, send);
  };
  jobs.on_message = [&](std::int64_t job, std::string_view text) {
    current = job;
    gathered.take(name_of(job), Json::parse(text));
  };
  jobs.on_lost = [&](std::int64_t job, const std::string& reason) {
    gathered.machine.unmeasured.push_back({name_of(job), reason});
  };
  jobs.on_tick = [&] { options.progress({current, total, name_of(current), outlook.left_s(current)}); };

  const JobsEnd end = run_isolated(jobs);
  if (!gathered.unusable.empty()) throw DeviceError(gathered.unusable, gathered.hint);
  Machine machine = std::move(gathered.machine);
  machine.tool_version = ROOFLINE_VERSION;
  machine.host = host_description();
  machine.quick = options.effort.quick;
  machine.cancelled = end == JobsEnd::interrupted;
  if (machine.cancelled) note_cancelled(machine, probes);
  audit_intensities(machine, gathered.facts);
  return machine;
}

}  // namespace roofline
