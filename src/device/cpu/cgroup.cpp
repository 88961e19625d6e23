// Walks from this process's control group up to the root and keeps the tightest limit of each kind.
#include "device/cpu/cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "host/files.hpp"

namespace roofline {
namespace {

// Version 1 says "no limit" with the largest multiple of a page in 63 bits.
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

}  // namespace

CgroupLimits read_cgroup_limits(const std::string& root) {
  CgroupLimits limits;
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:memory:/a/b" (version 1) or "0::/a/b" (version 2)
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    std::istringstream controllers(line.substr(first + 1, second - first - 1));
    if (second == first + 1) add_version_2(mount, path, limits);
    for (std::string controller; std::getline(controllers, controller, ',');) {
      if (controller == "memory" || controller == "cpu") add_version_1(mount, controller, path, limits);
    }
  }
  return limits;
}

}  // namespace roofline
