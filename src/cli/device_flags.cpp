// "cuda:0,2" → indices.
#include "cli/device_flags.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/option_values.hpp"
#include "device/cpu/placement.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

/// "cpu", "cuda", "cuda:0,2" or a list of them, "cuda:0,2,cpu"; std::nullopt if the text is anything else.
std::optional<MonitoredDevices> parse_list(const std::string& text) {
  MonitoredDevices devices;
  bool after_gpu = false;  // in "cuda:0,2" the second number is also a GPU
  for (const std::string& word : split(text, ',')) {
    const bool named = word.starts_with("cuda:");
    const std::optional<int> index = parsed_number<int>(named ? word.substr(5) : word);
    if (index && *index >= 0 && (named || after_gpu)) {
      devices.gpus.push_back(*index);
    } else if (word == "cpu" || word == "cuda") {
      (word == "cpu" ? devices.cpu : devices.every_gpu) = true;
    } else {
      return std::nullopt;
    }
    after_gpu = index.has_value();
  }
  std::sort(devices.gpus.begin(), devices.gpus.end());
  const bool twice = std::adjacent_find(devices.gpus.begin(), devices.gpus.end()) != devices.gpus.end();
  return twice ? std::nullopt : std::optional(devices);
}

void parse_device(const std::string& text, DeviceRequest& request) {
  request.text = text;
  request.all = text == "all";
  const std::optional<MonitoredDevices> list = request.all ? MonitoredDevices{.every_gpu = true} : parse_list(text);
  if (!list || list->cpu + list->every_gpu + !list->gpus.empty() != 1) {
    throw UsageError(fmt::format("--device {}: expected cpu, cuda or cuda:N (calibrate: also cuda:N,M or all)", text),
                     "see: roofline devices");
  }
  request.kind = list->cpu ? DeviceKind::cpu : DeviceKind::cuda;
  if (!list->gpus.empty()) request.index = list->gpus.front();
  if (list->gpus.size() > 1) request.indices = list->gpus;
}

void parse_monitored(const std::string& text, MonitoredDevices& devices) {
  const std::optional<MonitoredDevices> list = text == "all" ? MonitoredDevices{} : parse_list(text);
  if (!list) {
    throw UsageError(fmt::format("--device {}: expected all, cpu, cuda, or a list such as cuda:0,2,cpu", text),
                     "see: roofline devices");
  }
  devices = *list;
}

}  // namespace

void DeviceRequest::add_to(CommandEntry& command) {
  command.add("--device",
              {"DEVICE", [this](const std::string& given, const std::string&) { parse_device(given, *this); }},
              "Device: cpu, cuda or cuda:N (default: first usable GPU, else the CPU); calibrate and machine also "
              "accept all and cuda:0,2");
  command.add("--threads", number("COUNT", threads, 1, 4096),
              "Number of CPU threads (default: all cores; on hybrid CPUs all performance cores)");
  command.add(
      "--cpus",
      {"CPUS", [this](const std::string& given, const std::string& option) { cpus = parse_cpu_list(given, option); }},
      "Logical CPUs to pin the threads to, such as 0-3,8; implies --device cpu");
}

void DeviceRequest::finish(const std::string& single) {
  if (!cpus.empty() && kind.value_or(DeviceKind::cpu) != DeviceKind::cpu) {
    throw UsageError(
        fmt::format("--cpus {} selects the CPU, but --device {} selects a GPU", fmt::join(cpus, ","), text),
        "remove --cpus, or use --device cpu");
  }
  if (!cpus.empty()) kind = DeviceKind::cpu;
  if (several() && !single.empty()) {
    throw UsageError(fmt::format("--device {}: {} uses one device", text, single), "select one: --device cuda:0");
  }
}

void MonitoredDevices::add_to(CommandEntry& command) {
  command.add("--device",
              {"DEVICES", [this](const std::string& given, const std::string&) { parse_monitored(given, *this); }},
              "Devices to watch: all, cpu, cuda, or a list such as cuda:0,2,cpu (default: all)");
}

std::string device_word(const DeviceInfo& info) {
  return info.kind == DeviceKind::cuda ? fmt::format("cuda:{}", info.index) : "cpu";
}

}  // namespace roofline
