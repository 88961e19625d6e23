// Queries devices in a short-lived child process, which replies in JSON.
#include "calibrate/select_device.hpp"

#include <nlohmann/json.hpp>

#include "device/isolate.hpp"
#include "model/error.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

using Json = nlohmann::ordered_json;

/// Runs one job in a child and returns its JSON reply; an exception in it becomes a DeviceError here.
Json ask_child(const std::function<Json()>& question) {
  Json answer;
  Jobs jobs;
  jobs.count = 1;
  jobs.run = [&](std::int64_t, const Send& send) {
    Json reply = Json::object();
    try {
      reply["ok"] = question();
    } catch (const UsageError& error) {
      reply = {{"error", error.what()}, {"hint", error.hint()}, {"usage", true}};
    } catch (const Error& error) {
      reply = {{"error", error.what()}, {"hint", error.hint()}};
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}, {"hint", ""}};
    }
    send(reply.dump());
    return AfterJob::next;
  };
  jobs.on_message = [&](std::int64_t, std::string_view text) { answer = Json::parse(text); };
  jobs.on_lost = [&](std::int64_t, const std::string& reason) {
    answer = {{"error", "device discovery failed: " + reason}, {"hint", "try --device cpu"}};
  };
  // Eight GPUs without persistence mode take half a minute to initialise; a hanging driver would take forever.
  jobs.limit_s = [](std::int64_t) { return 180.0; };
  if (run_isolated(jobs) == JobsEnd::interrupted) throw DeviceError("interrupted during device discovery");
  if (answer.contains("usage")) throw UsageError(answer["error"], answer["hint"]);
  if (answer.contains("error")) throw DeviceError(answer["error"], answer["hint"]);
  return answer["ok"];
}

Json describe(DeviceKind kind, int index, const DeviceOptions& options, const std::string& why) {
  const std::unique_ptr<Device> device = open_device(kind, index, options);
  return {{"device", device_to_json(device->info())},
          {"free_bytes", device->free_memory_bytes()},
          {"cache_bytes", device->last_level_cache_bytes()},
          {"why", why}};
}

/// The first usable CUDA GPU, otherwise the CPU with the reason.
Json describe_default(const DeviceOptions& options) {
  std::string reason = "this machine has no GPU";
  for (const DeviceListing& listing : list_devices(options)) {
    if (listing.info.kind != DeviceKind::cuda) continue;
    if (listing.usable) {
      return describe(DeviceKind::cuda, listing.info.index, options, "first usable CUDA GPU");
    }
    reason = listing.problem == DeviceProblem::no_driver ? "no NVIDIA driver" : listing.reason;
  }
  return describe(DeviceKind::cpu, 0, options, reason);
}

}  // namespace

SelectedDevice select_device(std::optional<DeviceKind> kind, int index, const DeviceOptions& options) {
  const Json answer =
      ask_child([&] { return kind ? describe(*kind, index, options, "as requested") : describe_default(options); });
  SelectedDevice selected;
  selected.info = device_from_json(answer["device"]);
  selected.choice = {.kind = selected.info.kind, .index = selected.info.index, .options = options};
  selected.free_memory_bytes = answer["free_bytes"];
  selected.last_level_cache_bytes = answer["cache_bytes"];
  selected.why = answer["why"];
  return selected;
}

std::vector<DeviceListing> list_devices_isolated(const DeviceOptions& options) {
  const Json answer = ask_child([&] {
    Json all = Json::array();
    for (const DeviceListing& listing : list_devices(options)) {
      all.push_back({{"device", device_to_json(listing.info)},
                     {"usable", listing.usable},
                     {"reason", listing.reason},
                     {"problem", listing.problem}});
    }
    return all;
  });
  std::vector<DeviceListing> listings;
  for (const Json& entry : answer) {
    listings.push_back({device_from_json(entry["device"]), entry["usable"], entry["reason"], entry["problem"]});
  }
  return listings;
}

}  // namespace roofline
