// Walks from this process's control group up to the root and keeps the tightest limit of each kind.
#include "device/cpu/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "host/files.hpp"

namespace roofline {
namespace {

// Version 1 represents "no limit" by the largest multiple of a page in 63 bits.
constexpr double kUnlimited = 9e18;

void keep_least(std::optional<double>& least, double value) { least = least ? std::min(*least, value) : value; }

/// "/a/b" → "/a/b", "/a", "": a limit holds for everything below it.
std::vector<std::string> path_and_parents(std::string path) {
  std::vector<std::string> paths;
  while (path.size() > 1) {
    paths.push_back(path);
    path.erase(path.find_last_of('/'));
  }
  paths.emplace_back();
  return paths;
}

void add_memory(const std::string& limit_file, const std::string& usage_file, CgroupLimits& limits) {
  const std::optional<double> limit = number_in(limit_file);
  if (!limit || *limit >= kUnlimited) return;
  keep_least(limits.memory_bytes, *limit);
  keep_least(limits.free_memory_bytes, std::max(0.0, *limit - number_in(usage_file).value_or(0)));
}

void add_version_2(const std::string& mount, const std::string& path, CgroupLimits& limits) {
  for (const std::string& group : path_and_parents(path)) {
    const std::string dir = mount + group;
    add_memory(dir + "/memory.max", dir + "/memory.current", limits);
    std::ifstream in(dir + "/cpu.max");
    double quota = 0;
    double period = 0;
    if (in >> quota >> period && period > 0) keep_least(limits.cpus, quota / period);
  }
}

void add_version_1(const std::string& mount, const std::string& controller, const std::string& path,
                   CgroupLimits& limits) {
  const std::string hierarchy = mount + '/' + controller;
  for (const std::string& group : path_and_parents(path)) {
    const std::string dir = hierarchy + group;
    if (controller == "memory") {
      add_memory(dir + "/memory.limit_in_bytes", dir + "/memory.usage_in_bytes", limits);
      continue;
    }
    const double quota = number_in(dir + "/cpu.cfs_quota_us").value_or(-1);  // -1: no quota
    const double period = number_in(dir + "/cpu.cfs_period_us").value_or(0);
    if (quota > 0 && period > 0) keep_least(limits.cpus, quota / period);
  }
}

/// "key value" lines; 0 where the key is missing.
double value_of(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  double value = 0;
  for (std::string word; in >> word >> value;) {
    if (word == key) return value;
  }
  return 0;
}

/// Calls version_2(mount, path) or version_1(mount, controller, path) for each group that this process is in.
template <class Version2, class Version1>
void for_groups(const std::string& root, Version2 version_2, Version1 version_1) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:memory:/a/b" (version 1) or "0::/a/b" (version 2)
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    std::istringstream controllers(line.substr(first + 1, second - first - 1));
    if (second == first + 1) version_2(mount, path);
    for (std::string controller; std::getline(controllers, controller, ',');) version_1(mount, controller, path);
  }
}

}  // namespace

CgroupLimits read_cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  for_groups(
      root, [&](const std::string& mount, const std::string& path) { add_version_2(mount, path, limits); },
      [&](const std::string& mount, const std::string& controller, const std::string& path) {
        if (controller == "memory" || controller == "cpu") add_version_1(mount, controller, path, limits);
      });
  return limits;
}

double read_throttled_s(const std::string& root) {
  double throttled_s = 0;
  for_groups(
      root,
      [&](const std::string& mount, const std::string& path) {
        for (const std::string& group : path_and_parents(path)) {
          throttled_s = std::max(throttled_s, 1e-6 * value_of(mount + group + "/cpu.stat", "throttled_usec"));
        }
      },
      [&](const std::string& mount, const std::string& controller, const std::string& path) {
        if (controller != "cpu") return;
        for (const std::string& group : path_and_parents(path)) {
          throttled_s = std::max(throttled_s, 1e-9 * value_of(mount + "/cpu" + group + "/cpu.stat", "throttled_time"));
        }
      });
  return throttled_s;
}

}  // namespace roofline
