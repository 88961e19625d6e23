// Which sensors count: RAPL zones named "package-N" (their children are parts of them, and "psys" is the whole
// board), and thermometers of a package rather than of a core, a disk or the board.
#include "device/cpu/power_sensors.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include "host/files.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

/// The entries of a folder, in the order of their names; none when there is no such folder.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(at->path());
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// Intel's driver labels the package's own sensor; AMD's first one is the control temperature of the whole package.
void add_hwmon(const fs::path& chip, std::vector<fs::path>& thermometers) {
  const std::string driver = first_line(chip / "name");
  if (driver != "coretemp" && driver != "k10temp" && driver != "zenpower") return;
  for (const fs::path& file : entries_of(chip)) {
    const std::string name = file.filename().string();
    if (!name.starts_with("temp") || !name.ends_with("_label")) continue;
    const std::string label = first_line(file);
    if (!label.starts_with("Package") && label != "Tctl") continue;
    thermometers.push_back(chip / (name.substr(0, name.size() - std::string("label").size()) + "input"));
  }
}

}  // namespace

double WrappingEnergy::advance(double counter_uj) {
  if (last_uj_) {
    const double step = counter_uj - *last_uj_;
    joules_ += (step >= 0 ? step : step + range_uj_) * 1e-6;
  }
  last_uj_ = counter_uj;
  return joules_;
}

PowerSensors::PowerSensors(const fs::path& root) {
  for (const fs::path& zone : entries_of(root / "sys/class/powercap")) {
    // Some clients show the same package a second time, as intel-rapl-mmio.
    if (!zone.filename().string().starts_with("intel-rapl:")) continue;
    if (!first_line(zone / "name").starts_with("package")) continue;
    const auto range = number_in(zone / "max_energy_range_uj");
    if (range && number_in(zone / "energy_uj")) packages_.push_back({zone / "energy_uj", WrappingEnergy(*range)});
  }
  for (const fs::path& chip : entries_of(root / "sys/class/hwmon")) add_hwmon(chip, thermometers_);
  if (!thermometers_.empty()) return;
  for (const fs::path& zone : entries_of(root / "sys/class/thermal")) {
    if (first_line(zone / "type") == "x86_pkg_temp") thermometers_.push_back(zone / "temp");
  }
}

PowerReading PowerSensors::read() {
  PowerReading reading;
  double joules = 0;
  bool complete = !packages_.empty();
  for (Package& package : packages_) {
    const auto counter = number_in(package.counter);
    complete = complete && counter.has_value();
    if (counter) joules += package.energy.advance(*counter);
  }
  if (complete) reading.energy_j = joules;
  for (const fs::path& file : thermometers_) {
    const auto millidegrees = number_in(file);
    if (millidegrees) reading.temperature_c = std::max(reading.temperature_c.value_or(-300), *millidegrees / 1000);
  }
  return reading;
}

}  // namespace roofline
