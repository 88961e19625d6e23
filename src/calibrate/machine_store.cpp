// One JSON file per device identity, in the cache folder of the XDG specification.
#include "calibrate/machine_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>

#include "host/cache_folder.hpp"
#include "host/file_limits.hpp"
#include "model/error.hpp"
#include "report/json/json.hpp"
#include "report/json/node_json.hpp"

namespace roofline {
namespace fs = std::filesystem;
namespace {

bool is_full(const Machine& machine) { return !machine.quick && !machine.cancelled; }
bool is_full(const Node& node) { return !node.quick && !node.cancelled; }

/// The first eight digits of a GPU's UUID; empty if it has none.
std::string short_uuid(const DeviceInfo& device) {
  const std::string* const uuid = find_attribute(device.attributes, AttributeKey::uuid);
  return uuid == nullptr ? "" : uuid->substr(uuid->starts_with("GPU-") ? 4 : 0, 8);
}

constexpr std::string_view kNodePrefix = "node-";

bool differ(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b && std::abs(*a - *b) > 1e-3 * std::abs(*b);
}

fs::path machines_folder() {
  return cache_folder("calibrations",
                      "set one of them, or name a file: calibrate -o machine.json, analyze --machine machine.json");
}

/// Moves a file aside for inspection; a second one replaces the first.
void move_aside(const fs::path& path, const std::function<void(const std::string&)>& notify) {
  const fs::path aside = path.string() + ".broken";
  std::error_code error;
  fs::rename(path, aside, error);
  notify(error ? fmt::format("it could not be moved: {}", error.message())
               : fmt::format("moved it to {}", aside.string()));
}

/// Held while a calibration is stored, so that of two concurrent writers the one with the partial calibration sees
/// the other. Without the lock (file system, missing folder, somebody who keeps it) the file is complete nevertheless.
class KeeperLock {
 public:
  explicit KeeperLock(const fs::path& folder) {
    std::error_code hidden;
    fs::create_directories(folder, hidden);
    folder_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    constexpr int kAttempts = 100;  // in a second; a file is written in far less
    for (int i = 0; folder_ >= 0 && i < kAttempts && ::flock(folder_, LOCK_EX | LOCK_NB) != 0; ++i) ::usleep(10'000);
  }
  ~KeeperLock() {
    if (folder_ >= 0) ::close(folder_);
  }
  KeeperLock(const KeeperLock&) = delete;
  KeeperLock& operator=(const KeeperLock&) = delete;

 private:
  int folder_ = -1;
};

bool is_present(const fs::path& path) {
  std::error_code hidden;
  return fs::exists(fs::symlink_status(path, hidden));
}

/// What `read` finds there; an unreadable file is moved aside and reported through `say`.
template <class Read>
auto or_moved_aside(const fs::path& path, const std::function<void(const std::string&)>& notify, const Read& read)
    -> decltype(read()) {
  try {
    return read();
  } catch (const UsageError& error) {
    notify(error.what());
  }
  move_aside(path, notify);
  return std::nullopt;
}

/// Writes a document there, unless it is partial and `is_full_one` accepts the stored one.
template <class IsFullOne>
bool keep_at(const fs::path& path, bool full, const std::string& document, const IsFullOne& is_full_one) {
  const KeeperLock lock(path.parent_path());
  std::error_code hidden;
  if (!full && fs::exists(path, hidden)) {
    try {
      if (is_full_one(read_file(path, kMachineLimit), path)) return false;
    } catch (const UsageError&) {
      // An unreadable file is not worth keeping.
    }
  }
  if (fs::is_directory(path, hidden)) move_aside(path, [](const std::string&) {});
  write_file(path, document);
  return true;
}

}  // namespace

fs::path machine_path(const std::string& identity) { return machines_folder() / (file_name_of(identity) + ".json"); }

std::string shared_file_name(const DeviceInfo& device, const std::string& host) {
  std::string name = host.empty() ? "host" : host;
  if (device.kind == DeviceKind::cpu) {
    name += "-cpu";
  } else {
    // The index of a GPU depends on the environment of each process.
    name += fmt::format("-gpu{}", device.index);
    if (const std::string uuid = short_uuid(device); !uuid.empty()) name += "-" + uuid;
  }
  return file_name_of(name) + ".json";
}

std::string shared_file_name(const Node& node, bool all) {
  std::string name = node.host_name.empty() ? "host" : node.host_name;
  if (all) {
    name += "-node";
  } else {
    for (const Machine& machine : node.machines) {
      const std::string uuid = short_uuid(machine.device);
      name += "-" + (uuid.empty() ? fmt::format("gpu{}", machine.device.index) : uuid);
    }
  }
  return file_name_of(name) + ".json";
}

fs::path node_path(const std::string& host) {
  return machines_folder() / (std::string(kNodePrefix) + file_name_of(host.empty() ? "host" : host) + ".json");
}

bool keep_node(const Node& node) {
  return keep_at(
      node_path(node.host_name), is_full(node), render_node_json(node),
      [](const std::string& text, const fs::path& path) { return is_full(parse_node(text, path.string())); });
}

std::optional<Node> find_node(const std::string& host, const std::function<void(const std::string&)>& notify) {
  const fs::path path = node_path(host);
  return or_moved_aside(path, notify, [&]() -> std::optional<Node> {
    if (!is_present(path)) return std::nullopt;
    return parse_node(read_file(path, kMachineLimit), path.string());
  });
}

std::optional<Machine> kept_machine(const std::string& identity) {
  const fs::path path = machine_path(identity);
  if (!is_present(path)) return std::nullopt;
  Machine machine = parse_machine(read_file(path, kMachineLimit), path.string());
  if (machine.device.identity == identity) return machine;
  throw UsageError(fmt::format("{}: calibration of {}, not of {}", path.string(), machine.device.identity, identity));
}

std::optional<Machine> find_machine(const std::string& identity,
                                    const std::function<void(const std::string&)>& notify) {
  return or_moved_aside(machine_path(identity), notify, [&] { return kept_machine(identity); });
}

std::optional<Machine> find_machine_named(const std::string& device_name) {
  std::optional<Machine> best;
  std::error_code hidden;
  for (const auto& entry : fs::directory_iterator(machines_folder(), hidden)) {
    const fs::path name = entry.path().filename();
    if (name.extension() != ".json" || name.string().starts_with(kNodePrefix)) continue;
    try {
      Machine machine = parse_machine(read_file(entry.path(), kMachineLimit), entry.path().string());
      const auto rank = [](const Machine& of) { return std::pair(is_full(of), of.measured_at); };
      const bool better = machine.device.name == device_name && (!best || rank(machine) > rank(*best));
      if (better) best = std::move(machine);
    } catch (const UsageError&) {
      // From another version, or truncated: ignored.
    }
  }
  return best;
}

bool keep_machine(const Machine& machine) {
  const std::string& identity = machine.device.identity;
  return keep_at(machine_path(identity), is_full(machine), machine_to_json(machine).dump(2) + "\n",
                 [&](const std::string& text, const fs::path& path) {
                   const Machine kept = parse_machine(text, path.string());
                   return is_full(kept) && kept.device.identity == identity;
                 });
}

std::vector<std::string> staleness(const Machine& machine, const DeviceInfo& device, const std::string& tool_version) {
  std::vector<std::string> reasons;
  const DeviceInfo& then = machine.device;
  if (then.driver != device.driver) {
    reasons.push_back(fmt::format("driver was {}, is now {}", then.driver, device.driver));
  }
  if (then.isa != device.isa) {
    reasons.push_back(fmt::format("instruction set was {}, is now {}", then.isa, device.isa));
  }
  if (differ(then.max_core_hz, device.max_core_hz)) {
    reasons.push_back(fmt::format("maximum core clock was {:.0f} MHz, is now {:.0f} MHz", *then.max_core_hz / 1e6,
                                  *device.max_core_hz / 1e6));
  }
  if (differ(then.memory_hz, device.memory_hz)) {
    reasons.push_back(
        fmt::format("memory clock was {:.0f} MHz, is now {:.0f} MHz", *then.memory_hz / 1e6, *device.memory_hz / 1e6));
  }
  if (machine.tool_version != tool_version) {
    reasons.push_back(fmt::format("measured by roofline {}, this is {}", machine.tool_version, tool_version));
  }
  if (machine.quick) reasons.emplace_back("measured with --quick");
  if (machine.cancelled) reasons.emplace_back("cancelled before completion");
  return reasons;
}

std::optional<std::int64_t> seconds_since_1970(const std::string& utc_time) {
  std::tm utc{};
  if (::strptime(utc_time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr) return std::nullopt;
  return static_cast<std::int64_t>(::timegm(&utc));
}

std::string age_of(const std::string& measured_at, std::int64_t now) {
  const std::optional<std::int64_t> then = seconds_since_1970(measured_at);
  if (!then) return "of unknown age";
  const double minutes = static_cast<double>(now - *then) / 60;
  const auto in_units = [](double count, const char* unit) {
    const auto whole = static_cast<std::int64_t>(count);
    return fmt::format("{} {}{} old", whole, unit, whole == 1 ? "" : "s");
  };
  if (minutes < -1) return "dated in the future: the system clock was set back";
  if (minutes < 1) return "less than a minute old";
  if (minutes < 60) return in_units(minutes, "minute");
  if (minutes < 48 * 60) return in_units(minutes / 60, "hour");
  return in_units(minutes / 60 / 24, "day");
}

}  // namespace roofline
