// The processes of a program: the started one, its descendants, and orphans among them that this process adopts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "sample/sampled_process.hpp"

namespace roofline {

class ProcessFamily {
 public:
  ProcessFamily(pid_t root, CodeModules& modules);

  /// Looks for new processes and threads, and forgets those that have ended.
  void refresh(std::uint64_t now);
  const std::map<pid_t, std::unique_ptr<SampledProcess>>& processes() const { return processes_; }
  SampledProcess* find(pid_t pid) const;
  /// The threads of a process, its first one first.
  std::vector<pid_t> threads_of(pid_t pid) const;

 private:
  void add(pid_t pid);

  CodeModules& modules_;
  std::set<pid_t> strangers_;  ///< children of this process that are not of the program
  std::map<pid_t, std::unique_ptr<SampledProcess>> processes_;
};

}  // namespace roofline
