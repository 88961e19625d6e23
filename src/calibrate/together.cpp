// A child process with a thread per device, in lockstep: a probe's cases are created and verified on all devices,
// sampled on one after another, and then sampled on all at the same time, from the moment when the last one is warm
// until the slowest has its samples.
#include "calibrate/together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <latch>
#include <nlohmann/json.hpp>

#include "calibrate/chosen.hpp"
#include "calibrate/probe_bench.hpp"
#include "calibrate/probe_ceiling.hpp"
#include "host/interrupt.hpp"
#include "model/error.hpp"
#include "report/json/node_json.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 10> kBurst = {"hbm.read", "hbm.write",   "hbm.copy",     "tensor.bf16",
                                                     "fp32",     "nvlink.read", "nvlink.write", "pcie.h2d",
                                                     "pcie.d2h", "pcie.duplex"};
constexpr std::array<std::string_view, 3> kSustained = {"hbm.copy", "tensor.bf16", "fp32"};

/// Beyond this a job hangs: the devices take turns, each for expected_seconds() and a margin.
constexpr double kTurnHangsS = 120;
/// Two consecutive processes that died: the next one would die as well.
constexpr int kMostLost = 2;

SamplerOptions options_of(const SharedProbe& shared, const Effort& effort) {
  SamplerOptions options;
  if (shared.regime == Regime::sustained) {
    // A fixed warm-up time: all devices must start sampling together, and a limiter acts within a second.
    options.warm_up_s = effort.sustain_s / 2;
    options.min_sample_s = std::min(0.03, effort.sustain_s / 40);
    options.min_time_s = effort.sustain_s / 2;
  } else {
    options.warm_up_s = effort.quick ? 0.02 : 0.1;
    options.min_time_s = effort.quick ? 0.1 : 0.4;
    if (shared.probe->rest_s > 0) options.min_sample_s = 100e-6;
  }
  options.min_samples = 32;
  options.max_samples = 1'000'000;
  options.max_time_s = options.min_time_s + 20;
  return options;
}

double seconds_of(const SharedProbe& shared, const Effort& effort) {
  const SamplerOptions options = options_of(shared, effort);
  return options.warm_up_s + options.min_time_s;
}

/// Ends no device's sampling before all have enough samples: until then each is under the load of the others.
class AllConverged final : public StopRule {
 public:
  explicit AllConverged(std::atomic<int>& lacking) : lacking_(lacking) {}
  ~AllConverged() override { has_enough(); }  // a device that gives up has no more samples
  AllConverged(const AllConverged&) = delete;
  AllConverged& operator=(const AllConverged&) = delete;

  bool due(std::int64_t) const override { return true; }
  bool converged(std::span<const double>) override {
    has_enough();
    return lacking_ <= 0;
  }

 private:
  void has_enough() {
    if (!counted_) --lacking_;
    counted_ = true;
  }

  std::atomic<int>& lacking_;
  bool counted_ = false;
};

/// Waits at a latch once, in the destructor at the latest.
class Arrival {
 public:
  explicit Arrival(std::latch& all) : all_(all) {}
  ~Arrival() {
    if (!arrived_) all_.count_down();
  }
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

  void wait() {
    arrived_ = true;
    all_.arrive_and_wait();
  }

 private:
  std::latch& all_;
  bool arrived_ = false;
};

LoadedRate rate_of(const LoadedTime& loaded, double amount) {
  const Summary& time = loaded.time;
  if (time.samples == 0 || !(time.median > 0))
    throw Error(interrupted() ? Unmeasured::kCancelled : "no valid time measured");
  const bool known = std::isfinite(time.ci95.low) && std::isfinite(time.ci95.high);
  const Interval seconds = known ? time.ci95 : Interval{time.q05, time.q95};
  LoadedRate rate;
  rate.value = amount / time.median;
  rate.ci95 = rates_of(amount, seconds);
  rate.core_hz = time.clock_hz;
  rate.watts = loaded.power.watts;
  rate.temperature_c = loaded.power.temperature_c;
  rate.limiter = loaded.power.limiter;
  return rate;
}

/// One device's part in a probe. Used by the device's thread, and by the main thread while that is idle.
struct Part {
  int device = 0;
  std::string variant = {};  ///< of the device's own ceiling; empty: the probe's first
  std::optional<ProbeCase> made = {};
  SharedCeiling ceiling = {};
  std::string failure = {};
  bool lost = false;  ///< the device, not only the probe
};

class TogetherWorker {
 public:
  TogetherWorker(const Node& node, const TogetherOptions& options, const std::set<int>& lost)
      : node_(node), options_(options), lost_(lost) {}

  AfterJob run(std::int64_t job, const Send& send) {
    const SharedProbe& shared = options_.probes[static_cast<std::size_t>(job)];
    send(Json{{"at_work", job}}.dump());
    if (!devices_) devices_ = std::make_unique<NodeDevices>(options_.open, node_.topology);
    std::vector<Part> parts;
    for (const Machine& machine : node_.machines) {
      if (lost_.contains(machine.device.index)) continue;
      const Ceiling* own = machine.find(shared.probe->name, shared.regime);
      parts.push_back({.device = machine.device.index, .variant = own != nullptr ? own->variant : ""});
    }
    measure(shared, parts);
    bool any_lost = false;
    for (const Part& part : parts) {
      any_lost = any_lost || part.lost;
      Json message = {{"device", part.device}};
      if (part.failure.empty()) {
        message["ceiling"] = shared_ceiling_to_json(part.ceiling);
      } else {
        message["unmeasured"] = part.failure;
        message["lost"] = part.lost;
      }
      send(message.dump());
    }
    return any_lost ? AfterJob::fresh_process : AfterJob::next;
  }

 private:
  void measure(const SharedProbe& shared, std::vector<Part>& parts) {
    std::vector<Part*> able;
    each(pointers(parts), [&](Device& device, Part& part) { make(shared, device, part); });
    for (Part& part : parts) {
      if (part.failure.empty()) able.push_back(&part);
    }
    for (Part* part : able) {
      each({part}, [&](Device& device, Part& own) {
        std::atomic<int> lacking = 1;
        own.ceiling.alone = sample(shared, device, own, lacking, [] {});
      });
    }
    std::erase_if(able, [](const Part* part) { return !part->failure.empty(); });
    if (able.size() == 1) able.front()->failure = "no other device can run this probe at the same time";
    if (able.size() > 1) {
      std::latch warmed_up(static_cast<std::ptrdiff_t>(able.size()));
      std::atomic<int> lacking = static_cast<int>(able.size());
      each(able, [&](Device& device, Part& own) {
        Arrival arrival(warmed_up);
        own.ceiling.together = sample(shared, device, own, lacking, [&] { arrival.wait(); });
      });
    }
    std::vector<Part*> made = pointers(parts);
    std::erase_if(made, [](const Part* part) { return !part->made; });
    each(made, [](Device&, Part& part) { part.made.reset(); });  // buffers go where they were made
  }

  static std::vector<Part*> pointers(std::vector<Part>& parts) {
    std::vector<Part*> all;
    for (Part& part : parts) all.push_back(&part);
    return all;
  }

  /// Runs it on all devices at once and waits; exceptions are recorded per device.
  void each(const std::vector<Part*>& parts, const std::function<void(Device&, Part&)>& work) {
    std::vector<std::future<void>> done;
    for (Part* part : parts) {
      done.push_back((*devices_)[part->device].run([part, &work](Device& device) { work(device, *part); }));
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Part& part = *parts[i];
      try {
        done[i].get();
      } catch (const PoisonedDevice& error) {
        part.failure = error.what();
        part.lost = true;
      } catch (const DeviceError& error) {
        part.failure = error.what();
        part.lost = true;
      } catch (const std::exception& error) {
        part.failure = error.what();
      }
    }
  }

  /// The variant of the device's roof, verified.
  void make(const SharedProbe& shared, Device& device, Part& part) const {
    const Probe& probe = *shared.probe;
    if (probe.unsupported) {
      if (auto reason = probe.unsupported(device)) throw Error(*reason);
    }
    const ProbeRequest request{.quick = options_.effort.quick, .scale = 1};
    for (int variant = 0;; ++variant) {
      std::optional<ProbeCase> made = probe.make(device, request, variant);
      if (!made) break;
      part.made.reset();
      part.made = std::move(made);
      if (part.variant.empty() || part.made->variant == part.variant) break;
    }
    if (!part.made) throw Error("no variant of this probe runs on this device");
    if (!part.variant.empty() && part.made->variant != part.variant) part.made = probe.make(device, request, 0);
    if (auto wrong = first_run({probe, device, interrupted_}, *part.made)) throw Error("wrong result: " + *wrong);
    part.ceiling.device = part.device;
    part.ceiling.name = probe.name;
    part.ceiling.kind = probe.kind;
    part.ceiling.regime = shared.regime;
    part.ceiling.variant = part.made->variant;
  }

  LoadedRate sample(const SharedProbe& shared, Device& device, const Part& part, std::atomic<int>& lacking,
                    const std::function<void()>& warmed_up) const {
    AllConverged rule(lacking);
    return rate_of(time_concurrently({*shared.probe, device, interrupted_}, *part.made,
                                     options_of(shared, options_.effort), rule, shared.regime, warmed_up),
                   part.made->amount);
  }

  const Node& node_;
  const TogetherOptions& options_;
  const std::set<int>& lost_;
  const std::function<bool()> interrupted_ = interrupted;
  std::unique_ptr<NodeDevices> devices_;
};

std::string label_of(const SharedProbe& shared) { return ceiling_label(shared.probe->name, shared.regime); }

}  // namespace

std::vector<SharedProbe> shared_probes(const std::vector<const Probe*>& probes, const Effort& effort,
                                       const std::string& only) {
  std::vector<SharedProbe> shared;
  const auto add = [&](std::string_view name, Regime regime) {
    const auto found =
        std::find_if(probes.begin(), probes.end(), [&](const Probe* probe) { return probe->name == name; });
    if (found != probes.end() && is_chosen(only, (*found)->name)) shared.push_back({*found, regime});
  };
  for (const std::string_view name : kBurst) add(name, Regime::burst);
  if (effort.quick || !(effort.sustain_s > 0)) return shared;
  for (const std::string_view name : kSustained) add(name, Regime::sustained);
  return shared;
}

void measure_together(Node& node, const TogetherOptions& options) {
  if (node.machines.size() < 2 || options.probes.empty()) return;
  std::set<int> lost;
  int lost_in_a_row = 0;
  std::int64_t at_work = 0;
  TogetherWorker worker(node, options, lost);
  Jobs jobs;
  jobs.count = static_cast<std::int64_t>(options.probes.size());
  const auto probe_of = [&](std::int64_t job) -> const SharedProbe& {
    return options.probes[static_cast<std::size_t>(job)];
  };
  jobs.run = [&](std::int64_t job, const Send& send) { return worker.run(job, send); };
  std::set<std::int64_t> reported;
  jobs.on_message = [&](std::int64_t job, std::string_view text) {
    const Json message = Json::parse(text);
    if (message.contains("at_work")) {
      at_work = job;
      return;
    }
    lost_in_a_row = 0;
    reported.insert(job);
    const int device = message["device"];
    if (message.contains("ceiling")) {
      node.together.push_back(shared_ceiling_from_json(message["ceiling"]));
      return;
    }
    node.unmeasured.push_back(
        {fmt::format("{} {} together", device_name(device), label_of(probe_of(job))), message["unmeasured"]});
    if (message["lost"]) lost.insert(device);
  };
  jobs.on_lost = [&](std::int64_t job, const std::string& reason) {
    node.unmeasured.push_back({label_of(probe_of(job)) + " together", reason});
    reported.insert(job);
    ++lost_in_a_row;
  };
  const auto turns = static_cast<double>(node.machines.size() + 1);
  jobs.limit_s = [&](std::int64_t job) { return kTurnHangsS + 10 * turns * seconds_of(probe_of(job), options.effort); };
  jobs.enough = [&] { return lost_in_a_row >= kMostLost || lost.size() + 1 >= node.machines.size(); };
  jobs.on_tick = [&] {
    double left_s = 0;
    for (std::int64_t job = at_work; job < jobs.count; ++job)
      left_s += turns * seconds_of(probe_of(job), options.effort);
    options.progress({at_work, jobs.count, label_of(probe_of(at_work)) + " on all devices", left_s});
  };
  const bool cancelled = run_isolated(jobs) == JobsEnd::interrupted;
  node.cancelled = node.cancelled || cancelled;
  for (std::int64_t job = 0; job < jobs.count; ++job) {
    if (reported.contains(job)) continue;
    node.unmeasured.push_back({label_of(probe_of(job)) + " together", cancelled ? Unmeasured::kCancelled
                                                                      : lost_in_a_row >= kMostLost
                                                                          ? "earlier worker processes were lost"
                                                                          : "too few devices left"});
  }
}

}  // namespace roofline
