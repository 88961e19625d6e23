// roofline monitor: samples the sensors of devices until it is stopped. Runs nothing on them and changes no setting.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/monitor_check.hpp"
#include "cli/monitor_watch.hpp"
#include "cli/option_values.hpp"
#include "cli/screen.hpp"
#include "host/host.hpp"
#include "render/monitor/monitor_render.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

enum class MonitorFormat : std::uint8_t { table, json, prometheus };

struct MonitorFlags {
  MonitoredDevices devices;
  double interval_s = 1;
  bool once = false;     ///< one sample
  bool counters = true;  ///< use the GPUs' hardware counters
  bool check = false;    ///< only check the counters' bytes with a copy of known size
  MonitorFormat format = MonitorFormat::table;
};

/// Shows samples: redrawn in place on a terminal, else one after another.
class View {
 public:
  View(const MonitorFlags& flags, ColorMode color)
      : flags_(flags),
        color_(color),
        in_place_(!flags.once && flags.format == MonitorFormat::table && ::isatty(STDOUT_FILENO) == 1) {}

  bool in_place() const { return in_place_; }

  void show(const Sample& sample) {
    if (!in_place_) {
      write_stdout(text_of_sample(sample));
      return;
    }
    if (!screen_) screen_.emplace();
    const std::string head = fmt::format("roofline monitor, every {}; press q to quit\n", duration(flags_.interval_s));
    screen_->draw(head + render_monitor_terminal(sample, stdout_style(color_), Screen::lines() - 1));
  }

 private:
  std::string text_of_sample(const Sample& sample) {
    switch (flags_.format) {
      case MonitorFormat::json:
        return render_monitor_json(sample);
      case MonitorFormat::prometheus:
        return render_monitor_prometheus(sample);
      case MonitorFormat::table:
        break;
    }
    const std::string gap = std::exchange(any_, true) ? "\n" : "";
    return gap + render_monitor_terminal(sample, stdout_style(color_), 0);
  }

  const MonitorFlags& flags_;
  ColorMode color_;
  bool in_place_;
  bool any_ = false;
  std::optional<Screen> screen_;
};

void add_options(CommandEntry& command, MonitorFlags& flags) {
  flags.devices.add_to(command);
  command.add("--interval", seconds(flags.interval_s), "Time between samples, such as 500ms (default: 1s)");
  command.add("--once", flag(flags.once), "Print one sample, over at most 1s, and exit");
  command.add("--format",
              one_of(flags.format, {std::pair("table", MonitorFormat::table),
                                    {"json", MonitorFormat::json},
                                    {"prometheus", MonitorFormat::prometheus}}),
              "Output format (default: table); json: one line per sample; prometheus: requires --once");
  command.add("--no-counters", flag(flags.counters, false),
              "Do not use the GPUs' hardware counters: no DRAM and tensor-core activity");
  command.add(
      "--check", flag(flags.check),
      "Check the DRAM bytes of the GPU's counters with a copy of known size; required once before they are shown");
}

void finish(MonitorFlags& flags, GlobalOptions& global) {
  constexpr double kShortest = 0.05;
  if (flags.interval_s < kShortest) {
    throw UsageError(fmt::format("--interval {}: the minimum is 50ms", duration(flags.interval_s)),
                     "for example: --interval 500ms");
  }
  if (global.answer.json && flags.format == MonitorFormat::prometheus) {
    throw UsageError("--json and --format prometheus exclude each other", "remove --json, or remove --format");
  }
  if (flags.format == MonitorFormat::prometheus && !flags.once) {
    throw UsageError("--format prometheus requires --once", "add --once and run it at every scrape");
  }
  if (global.answer.top || !global.answer.fields.empty()) {
    throw UsageError("monitor does not support --top and --fields", "remove --top and --fields");
  }
  if (global.answer.json) flags.format = MonitorFormat::json;
  constexpr double kLongestOnce_s = 1;  // rates need two readings
  if (flags.once) flags.interval_s = std::min(flags.interval_s, kLongestOnce_s);
}

ExitCode run(MonitorFlags& flags, const GlobalOptions& global) {
  std::vector<Watched> devices = watched_devices(flags.devices);
  if (flags.check) return check_bytes(devices, flags.format == MonitorFormat::json);
  Watch watch(std::move(devices), flags.counters);
  View view(flags, global.color);
  const Sample first = watch.sample(flags.interval_s);  // the reference for the first rates
  if (view.in_place()) view.show(first);                // avoid an empty screen
  // Sleep until a point in time, so that the interval includes the time that a sample takes. Missed samples are
  // skipped.
  double next_s = wall_seconds() + flags.interval_s;
  while (!wait_for_end(next_s - wall_seconds())) {
    view.show(watch.sample(flags.interval_s));
    if (flags.once) return ExitCode::ok;
    next_s = std::max(next_s + flags.interval_s, wall_seconds());
  }
  return flags.once ? ExitCode::cancelled : ExitCode::ok;
}

}  // namespace

CommandEntry monitor_command() {
  return CommandRow<MonitorFlags>{"monitor", "Watch devices live against their measured roofs", add_options, run,
                                  finish};
}

}  // namespace roofline
