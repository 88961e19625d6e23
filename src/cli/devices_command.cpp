// roofline devices: lists every device of this machine, and the reason if one cannot be used.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "calibrate/select_device.hpp"
#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/device_flags.hpp"
#include "render/terminal/table.hpp"
#include "report/json/json.hpp"

namespace roofline {
namespace {

std::string heading(const DeviceListing& listing, const TerminalStyle& style) {
  const DeviceInfo& info = listing.info;
  const std::string what = info.name.empty() ? "CUDA" : info.name;
  return wrapped(device_word(info) + "  ",
                 listing.usable ? what : fmt::format("{}: not usable: {}", what, listing.reason), style, true);
}

std::string cache_line(const CacheInfo& cache) {
  return fmt::format("    {:<14} {} x {:.0f} KiB\n", to_string(cache.level), cache.instances, cache.bytes / 1024);
}

std::string details(const DeviceInfo& info) {
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("    {:<14} {}\n", name, value);
  };
  const bool gpu = info.kind == DeviceKind::cuda;
  if (info.units > 0) add(gpu ? "SMs" : "threads", std::to_string(info.units));
  add(gpu ? "target" : "instructions", info.isa);
  add("memory", fmt::format("{:.1f} GiB", info.memory_bytes / (1024.0 * 1024 * 1024)));
  for (const CacheInfo& cache : info.caches) text += cache_line(cache);
  if (info.max_core_hz) add("core clock", fmt::format("up to {:.0f} MHz", *info.max_core_hz / 1e6));
  if (info.memory_hz) add("memory clock", fmt::format("{:.0f} MHz", *info.memory_hz / 1e6));
  add("driver", info.driver);
  for (const Attribute& attribute : info.attributes) add(attribute.name, attribute.value);
  add("identity", info.identity);
  return text;
}

nlohmann::ordered_json document_of(const std::vector<DeviceListing>& listings) {
  nlohmann::ordered_json document = {{"schema", "roofline.devices/1"}, {"devices", nlohmann::ordered_json::array()}};
  for (const DeviceListing& listing : listings) {
    nlohmann::ordered_json entry = {{"device", device_to_json(listing.info)}, {"usable", listing.usable}};
    if (!listing.usable) entry["reason"] = listing.reason;
    document["devices"].push_back(std::move(entry));
  }
  return document;
}

std::string text_of(const std::vector<DeviceListing>& listings, const TerminalStyle& style) {
  std::string text;
  for (const DeviceListing& listing : listings) {
    text += heading(listing, style);
    if (listing.usable) text += details(listing.info);
  }
  return text;
}

struct Flags {};

ExitCode run(Flags&, const GlobalOptions& global) {
  const std::vector<DeviceListing> listings = list_devices_isolated({});
  print_result([&] { return document_of(listings); },
               [&] { return text_of(listings, stdout_table_style(global.color)); });
  return ExitCode::ok;
}

}  // namespace

CommandEntry devices_command() {
  return CommandRow<Flags>{"devices", "List devices, and the reason if one cannot be used", nullptr, run};
}

}  // namespace roofline
