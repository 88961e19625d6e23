// The time of a kernel on another machine, from the times of its resources. Pure.
#pragma once

#include <string>
#include <vector>

#include "project/grid.hpp"

namespace roofline {

/// A projected time, with the range that the model allows.
struct ProjectedTime {
  double seconds = 0, low = 0, high = 0;

  void add(const ProjectedTime& other);
  ProjectedTime times(double factor) const;
};

/// A resource on both machines.
struct Resource {
  std::string name, name_there;
  double here_s = 0, ratio = 1;  ///< its time there is here_s * ratio
  bool memory = false;           ///< main memory
  bool on_sms = false;           ///< belongs to the SMs: pipes, L1, shared memory
  bool known_there = true;       ///< false: it has no roof there, and is assumed to be as fast as here
};

/// A kernel whose resources are known.
struct KernelTimes {
  double here_s = 0;
  bool gpu = true;
  double clock = 1;  ///< core clock here over that there
  GridChange grid = {};
  /// With the likely, the fewest and the most bytes.
  std::vector<std::vector<Resource>> resources = {};
};

/// Time and range there.
ProjectedTime time_there(const KernelTimes& kernel);

/// Time there if its limiting resource works at its roof.
double time_at_roof_there(const KernelTimes& kernel);

/// The resource that takes most of a time; "latency" where it takes less than half of it.
std::string limit_of(const std::vector<Resource>& resources, double time_s, bool there);

}  // namespace roofline
