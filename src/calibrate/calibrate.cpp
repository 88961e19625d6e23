// Runs the probes in a child process, and adds the audit checks that need all ceilings.
#include "calibrate/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "calibrate/chosen.hpp"
#include "calibrate/measure_probe.hpp"
#include "calibrate/messages.hpp"
#include "calibrate/probe_bench.hpp"
#include "calibrate/rounds_worker.hpp"
#include "device/isolate.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "measure/audit.hpp"
#include "model/error.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

/// Beyond this, plus ten times the expected duration, a probe's process hangs.
constexpr double kHangsS = 600;

/// Quick calibrations omit ceilings that limit no kernel, unless requested by name.
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
    if (is_chosen(only, probe->name)) chosen.push_back(probe);
  }
  if (chosen.empty()) {
    throw UsageError(fmt::format("--only {} matches no ceiling of a {} device", only, to_string(kind)),
                     fmt::format("available: {}", names));
  }
  return chosen;
}

/// In the child: opens the device at the first probe, keeps it, and measures each probe without interruption.
class ProbeWorker {
 public:
  ProbeWorker(const CalibrateOptions& options, const std::vector<const Probe*>& probes)
      : options_(options), probes_(probes) {}

  AfterJob run(std::int64_t job, const Send& send) {
    const MessageWriter writer(send);
    const Probe& probe = *probes_[static_cast<std::size_t>(job)];
    writer.current(probe.name, job);
    try {
      if (!device_) {
        device_ = open_device(options_.device.kind, options_.device.index, options_.device.options);
        writer.device(device_->info());
        // Once per calibration, before the device has been under load.
        const auto watts = options_.effort.quick || idle_known_ ? std::nullopt : measure_idle_watts(*device_);
        if (watts) writer.idle_watts(*watts);
        idle_known_ = true;
      }
      writer.outcome(probe.name, measure_probe(probe, *device_, options_.effort, interrupted));
      return AfterJob::next;
    } catch (const DeviceError& error) {
      writer.unusable(error.what(), error.hint());
    } catch (const std::exception& error) {
      writer.outcome(probe.name, std::string(error.what()));
    }
    return AfterJob::fresh_process;
  }

 private:
  const CalibrateOptions& options_;
  const std::vector<const Probe*>& probes_;
  bool idle_known_ = false;
  std::unique_ptr<Device> device_;
};

/// Time left: the expected duration of each probe, scaled by how the finished ones compared with it.
class EtaEstimate {
 public:
  EtaEstimate(const std::vector<const Probe*>& probes, const Effort& effort) {
    for (const Probe* probe : probes) expected_.push_back(expected_seconds(*probe, effort));
  }

  double left_s(std::int64_t current) const {
    const auto now = expected_.begin() + current;
    const double before = std::accumulate(expected_.begin(), now, 0.0);
    const double after = std::accumulate(now, expected_.end(), 0.0);
    const double elapsed = wall_seconds() - begin_s_;
    // Scale the estimate only after a second of evidence; the first probe alone is none.
    const double slowdown = before > kEvidenceS ? elapsed / before : 1;
    const double spent_on_current = before > 0 ? std::max(0.0, elapsed - slowdown * before) : elapsed;
    return std::max(0.0, slowdown * after - spent_on_current);
  }

 private:
  static constexpr double kEvidenceS = 1;
  std::vector<double> expected_;
  double begin_s_ = wall_seconds();
};

/// Lists everything that an interrupt prevented as cancelled.
void note_cancelled(Machine& machine, const std::vector<const Probe*>& probes) {
  for (const Probe* probe : probes) {
    const bool listed = std::any_of(machine.unmeasured.begin(), machine.unmeasured.end(),
                                    [&](const Unmeasured& entry) { return entry.name == probe->name; });
    const bool swept = std::any_of(machine.sweeps.begin(), machine.sweeps.end(),
                                   [&](const Sweep& sweep) { return sweep.name == probe->name; });
    if (machine.find(probe->name) == nullptr && !listed && !swept)
      machine.unmeasured.push_back({probe->name, Unmeasured::kCancelled});
  }
}

/// A probe far on its own side of the ridge cannot have measured the other resource. The ridge of a compute probe
/// is its value over main memory's; that of a memory probe is the roof of the pipe of its few FLOPs over its value.
/// A probe without FLOPs is left of any ridge.
void audit_intensities(Machine& machine, const std::map<std::string, MeasuredProbe>& measured) {
  const Ceiling* memory = machine.slope(main_memory(machine.device.kind));
  for (Ceiling& ceiling : machine.ceilings) {
    if (ceiling.kind == CeilingKind::overhead || ceiling.kind == CeilingKind::latency) continue;
    const MeasuredProbe& probe = measured.at(ceiling.name);
    const bool compute = ceiling.kind == CeilingKind::compute;
    const Ceiling* pipe = compute ? &ceiling : machine.compute(probe.pipe.value_or(Pipe::fp32));
    const Ceiling* bandwidth = compute ? memory : &ceiling;
    const double ridge = pipe != nullptr && bandwidth != nullptr ? pipe->value / bandwidth->value
                                                                 : std::numeric_limits<double>::quiet_NaN();
    const double intensity = !compute && std::isnan(probe.intensity) ? 0 : probe.intensity;
    ceiling.audit.checks.push_back(audit_intensity(ceiling.kind, intensity, ridge));
  }
}

/// In the order of the probes, not of the measurements.
Machine machine_of(const MessageReader& reader, const std::vector<const Probe*>& probes) {
  Machine machine = reader.machine;
  for (const Probe* probe : probes) {
    if (const auto found = reader.measured.find(probe->name); found != reader.measured.end()) {
      machine.ceilings.push_back(found->second.ceiling);
      if (found->second.sustained) machine.ceilings.push_back(*found->second.sustained);
    }
    if (const auto found = reader.sweeps.find(probe->name); found != reader.sweeps.end()) {
      machine.sweeps.push_back(found->second);
    }
  }
  return machine;
}

/// A GPU's probes, each without interruption: nothing else runs there, and its clock depends on what ran before.
JobsEnd measure_one_by_one(const CalibrateOptions& options, const std::vector<const Probe*>& probes,
                           MessageReader& reader) {
  const EtaEstimate eta(probes, options.effort);
  ProbeWorker worker(options, probes);
  Jobs jobs;
  jobs.count = static_cast<std::int64_t>(probes.size());
  jobs.run = [&](std::int64_t job, const Send& send) { return worker.run(job, send); };
  jobs.on_message = [&](std::int64_t, std::string_view text) { reader.read(text); };
  jobs.on_lost = [&](std::int64_t job, const std::string& reason) {
    reader.machine.unmeasured.push_back({probes[static_cast<std::size_t>(job)]->name, reason});
  };
  jobs.limit_s = [&](std::int64_t job) {
    return kHangsS + 10 * expected_seconds(*probes[static_cast<std::size_t>(job)], options.effort);
  };
  jobs.on_tick = [&] { options.progress({reader.place, jobs.count, reader.current, eta.left_s(reader.place)}); };
  return run_isolated(jobs);
}

/// A CPU's probes, in rounds. If a process dies, the next one starts over in the remaining time; results received
/// so far remain valid until they are replaced.
JobsEnd measure_in_rounds(const CalibrateOptions& options, const std::vector<const Probe*>& probes,
                          MessageReader& reader) {
  std::set<std::string> lost;
  RoundsWorker worker(options, probes, lost, wall_seconds());
  Jobs jobs;
  jobs.count = std::numeric_limits<std::int64_t>::max();
  jobs.run = [&](std::int64_t, const Send& send) { return worker.run(send); };
  jobs.on_message = [&](std::int64_t, std::string_view text) { reader.read(text); };
  jobs.on_lost = [&](std::int64_t, const std::string& reason) {
    reader.machine.unmeasured.push_back({reader.current, reason});
    lost.insert(reader.current);
  };
  jobs.limit_s = [&](std::int64_t) { return kHangsS + 10 * options.effort.sustain_s; };
  const auto total = static_cast<std::int64_t>(probes.size());
  jobs.on_tick = [&] {
    const double left_s = std::max(0.0, worker.end_s() - wall_seconds());
    const std::string round = reader.round > 0 ? fmt::format(", round {}", reader.round + 1) : "";
    options.progress({std::max<std::int64_t>(0, reader.place - 1), total, reader.current + round, left_s});
  };
  reader.machine.time_s = worker.time_s();
  return run_isolated(jobs);
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
                       : !made        ? "no variant of this probe runs on this device"
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
  MessageReader reader;
  reader.machine.measured_at = utc_now();
  const bool rounds = options.device.kind == DeviceKind::cpu;
  const JobsEnd end = rounds ? measure_in_rounds(options, probes, reader) : measure_one_by_one(options, probes, reader);
  if (!reader.unusable.empty()) throw DeviceError(reader.unusable, reader.hint);
  Machine machine = machine_of(reader, probes);
  machine.tool_version = ROOFLINE_VERSION;
  machine.host = host_description();
  if (const std::string name = host_name(); !name.empty()) {
    machine.device.attributes.push_back({AttributeKey::host_name, name});
  }
  machine.quick = options.effort.quick;
  machine.cancelled = end == JobsEnd::interrupted;
  if (machine.cancelled) note_cancelled(machine, probes);
  audit_intensities(machine, reader.measured);
  return machine;
}

}  // namespace roofline
