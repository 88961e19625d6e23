// roofline monitor: samples of the devices at work until somebody ends it. Measures nothing, changes nothing.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

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

/// Where samples go: drawn in place on a terminal, else one below the other.
class View {
 public:
  View(const MonitorCommand& command, const Options& options)
      : command_(command),
        options_(options),
        in_place_(!command.once && command.format == MonitorFormat::table && ::isatty(STDOUT_FILENO) == 1) {}

  bool in_place() const { return in_place_; }

  void show(const Sample& sample) {
    if (!in_place_) {
      write_stdout(text_of_sample(sample));
      return;
    }
    if (!screen_) screen_.emplace();
    const std::string head = fmt::format("roofline monitor, every {}; q ends it\n", duration(command_.interval_s));
    screen_->draw(head + render_monitor_terminal(sample, stdout_style(options_.color), Screen::lines() - 1));
  }

 private:
  std::string text_of_sample(const Sample& sample) {
    switch (command_.format) {
      case MonitorFormat::json:
        return render_monitor_json(sample);
      case MonitorFormat::prometheus:
        return render_monitor_prometheus(sample);
      case MonitorFormat::table:
        break;
    }
    const std::string gap = std::exchange(any_, true) ? "\n" : "";
    return gap + render_monitor_terminal(sample, stdout_style(options_.color), 0);
  }

  const MonitorCommand& command_;
  const Options& options_;
  bool in_place_;
  bool any_ = false;
  std::optional<Screen> screen_;
};

}  // namespace

ExitCode run_monitor(const MonitorCommand& command, const Options& options) {
  std::vector<Watched> devices = watched_devices(command.devices);
  if (command.check) return check_bytes(devices, command);
  Watch watch(std::move(devices), command.counters);
  View view(command, options);
  const Sample first = watch.sample(command.interval_s);  // what rates are counted from
  if (view.in_place()) view.show(first);                  // so that nobody looks at nothing
  // By the clock and not by naps: what a sample takes is no part of the interval. Those that were slept through are
  // left out.
  double next_s = wall_seconds() + command.interval_s;
  while (!wait_for_end(next_s - wall_seconds())) {
    view.show(watch.sample(command.interval_s));
    if (command.once) return ExitCode::ok;
    next_s = std::max(next_s + command.interval_s, wall_seconds());
  }
  return command.once ? ExitCode::cancelled : ExitCode::ok;
}

}  // namespace roofline
