// roofline monitor: samples of the devices at work until somebody ends it. Measures nothing, changes nothing.
#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/monitor_check.hpp"
#include "cli/monitor_watch.hpp"
#include "cli/screen.hpp"
#include "host/host.hpp"
#include "render/monitor/monitor_render.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

std::string sample_text(const Sample& sample, const MonitorCommand& command, const Options& options) {
  switch (command.format) {
    case MonitorFormat::json:
      return render_monitor_json(sample);
    case MonitorFormat::prometheus:
      return render_monitor_prometheus(sample);
    case MonitorFormat::table:
      break;
  }
  return render_monitor_terminal(sample, stdout_style(options.color), 0);
}

/// Draws in place on a terminal, else one sample below the other.
void show_samples(Watch& watch, const MonitorCommand& command, const Options& options) {
  const bool in_place = command.format == MonitorFormat::table && ::isatty(STDOUT_FILENO) == 1;
  std::optional<Screen> screen;
  double next_s = wall_seconds();
  do {
    const Sample sample = watch.sample(command.interval_s);
    if (in_place) {
      if (!screen) screen.emplace();
      const std::string head = fmt::format("roofline monitor, every {}; q ends it\n", duration(command.interval_s));
      screen->draw(head + render_monitor_terminal(sample, stdout_style(options.color), Screen::lines() - 1));
    } else {
      write_stdout(sample_text(sample, command, options) + (command.format == MonitorFormat::table ? "\n" : ""));
    }
    // By the clock and not by naps: what a sample takes is no part of the interval. Those that were slept through are
    // left out.
    next_s += command.interval_s;
    if (next_s < wall_seconds()) next_s = wall_seconds() + command.interval_s;
  } while (!wait_for_end(next_s - wall_seconds()));
}

}  // namespace

ExitCode run_monitor(const MonitorCommand& command, const Options& options) {
  std::vector<Watched> devices = watched_devices(command.devices);
  if (command.check) return check_bytes(devices, command);
  Watch watch(std::move(devices), command.counters);
  watch.sample(command.interval_s);  // what rates are counted from
  if (wait_for_end(command.interval_s)) return ExitCode::ok;
  if (command.once) {
    write_stdout(sample_text(watch.sample(command.interval_s), command, options));
    return ExitCode::ok;
  }
  show_samples(watch, command, options);
  return ExitCode::ok;
}

}  // namespace roofline
