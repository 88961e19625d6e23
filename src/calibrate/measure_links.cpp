// A child process with a thread per active device; results of a pair are sent as soon as they are available.
#include "calibrate/measure_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "calibrate/measure_probe.hpp"
#include "host/interrupt.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;
using Pairs = std::vector<DevicePair>;

/// One round, and a context for each device that takes part for the first time.
constexpr double kRoundHangsS = 60;

Link& link_of(Node& node, const DevicePair& pair) { return *const_cast<Link*>(node.link(pair.from, pair.to)); }

bool has_ceiling(const Link& link, const std::string& name) {
  return link.find(name) != nullptr || std::any_of(link.unmeasured.begin(), link.unmeasured.end(),
                                                   [&](const Unmeasured& missing) { return missing.name == name; });
}

std::string pair_name(const DevicePair& pair) { return fmt::format("{} to {}", pair.from, pair.to); }

/// In the child.
class LinksWorker {
 public:
  LinksWorker(const Node& node, const LinkOptions& options, const std::vector<Pairs>& rounds)
      : node_(node), options_(options), rounds_(rounds) {}

  AfterJob run(std::int64_t job, const Send& send) {
    SharedSend report(send);
    report(Json{{"at_work", job}}.dump());
    if (!devices_) devices_ = std::make_unique<NodeDevices>(options_.open, node_.topology);
    const Pairs& round = rounds_[static_cast<std::size_t>(job)];
    std::vector<std::future<void>> done;
    for (const DevicePair& pair : round) {
      done.push_back((*devices_)[pair.from].run([&](Device& device) { measure(pair, device, report); }));
    }
    bool lost = false;
    for (std::size_t i = 0; i < round.size(); ++i) {
      try {
        done[i].get();
      } catch (const std::exception& error) {
        lost = true;
        for (const LinkProbe& probe : options_.probes) unmeasured(round[i], probe.name, error.what(), report);
      }
    }
    return lost ? AfterJob::fresh_process : AfterJob::next;
  }

 private:
  static void unmeasured(const DevicePair& pair, const std::string& name, const std::string& reason,
                         SharedSend& report) {
    report(Json{{"from", pair.from}, {"to", pair.to}, {"name", name}, {"unmeasured", reason}}.dump());
  }

  /// Rethrows exceptions that mean a lost device.
  void measure(const DevicePair& pair, Device& device, SharedSend& report) const {
    for (const LinkProbe& probe : options_.probes) {
      const ProbeOutcome outcome =
          measure_probe(probe.to(pair.to, node_.link(pair.from, pair.to)->kind), device, options_.effort, interrupted);
      if (const auto* measured = std::get_if<MeasuredProbe>(&outcome)) {
        report(Json{{"from", pair.from}, {"to", pair.to}, {"ceiling", ceiling_to_json(measured->ceiling)}}.dump());
      } else {
        unmeasured(pair, probe.name, std::get<std::string>(outcome), report);
      }
    }
  }

  const Node& node_;
  const LinkOptions& options_;
  const std::vector<Pairs>& rounds_;
  std::unique_ptr<NodeDevices> devices_;
};

/// Runs rounds; false at an interrupt. `on_lost` is called with a round that killed its process.
bool run_rounds(Node& node, const LinkOptions& options, const std::vector<Pairs>& rounds,
                const std::function<void(const Pairs&, const std::string& reason)>& on_lost) {
  std::int64_t at_work = 0;
  LinksWorker worker(node, options, rounds);
  Jobs jobs;
  jobs.count = static_cast<std::int64_t>(rounds.size());
  const auto round_of = [&](std::int64_t job) -> const Pairs& { return rounds[static_cast<std::size_t>(job)]; };
  jobs.run = [&](std::int64_t job, const Send& send) { return worker.run(job, send); };
  jobs.on_message = [&](std::int64_t job, std::string_view text) {
    const Json message = Json::parse(text);
    at_work = job;
    if (!message.contains("from")) return;
    Link& link = link_of(node, {message["from"], message["to"]});
    if (message.contains("ceiling")) {
      link.ceilings.push_back(ceiling_from_json(message["ceiling"]));
    } else if (!has_ceiling(link, message["name"])) {
      link.unmeasured.push_back({message["name"], message["unmeasured"]});
    }
  };
  jobs.on_lost = [&](std::int64_t job, const std::string& reason) { on_lost(round_of(job), reason); };
  double expected_s = 0;
  for (const LinkProbe& probe : options.probes)
    expected_s += expected_seconds(Probe{.name = probe.name}, options.effort);
  jobs.limit_s = [&](std::int64_t) { return kRoundHangsS + 10 * expected_s; };
  jobs.on_tick = [&] {
    std::string pairs;
    for (const DevicePair& pair : round_of(at_work)) pairs += (pairs.empty() ? "" : ", ") + pair_name(pair);
    options.progress({at_work, jobs.count, "links " + pairs, expected_s * static_cast<double>(jobs.count - at_work)});
  };
  return run_isolated(jobs) == JobsEnd::finished;
}

}  // namespace

void measure_links(Node& node, const LinkOptions& options) {
  std::vector<int> devices;
  for (const Machine& machine : node.machines) devices.push_back(machine.device.index);
  std::erase_if(node.links, [&](const Link& link) {
    return node.machine(link.from) == nullptr || node.machine(link.to) == nullptr;
  });
  if (node.links.empty() || options.probes.empty()) return;
  const std::vector<Pairs> rounds = schedule_pairs(devices, [&](const DevicePair& pair) {
    const Link* link = node.link(pair.from, pair.to);
    return link == nullptr || link->kind != LinkKind::nvlink;
  });
  std::vector<Pairs> again;
  const auto lose = [&](const DevicePair& pair, const std::string& reason) {
    for (const LinkProbe& probe : options.probes) {
      Link& link = link_of(node, pair);
      if (!has_ceiling(link, probe.name)) link.unmeasured.push_back({probe.name, reason});
    }
  };
  bool finished = run_rounds(node, options, rounds, [&](const Pairs& round, const std::string& reason) {
    for (const DevicePair& pair : round) {
      if (round.size() == 1) {
        lose(pair, reason);
      } else {
        again.push_back({pair});  // which of them is at fault is unknown
      }
    }
  });
  if (finished && !again.empty()) {
    for (const Pairs& round : again) link_of(node, round.front()).ceilings.clear();
    finished = run_rounds(node, options, again,
                          [&](const Pairs& round, const std::string& reason) { lose(round.front(), reason); });
  }
  if (finished) return;
  node.cancelled = true;
  for (const Link& link : node.links) lose({link.from, link.to}, "cancelled");
}

}  // namespace roofline
