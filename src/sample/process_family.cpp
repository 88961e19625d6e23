#include "sample/process_family.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "sample/proc_files.hpp"

namespace roofline {
namespace {

/// Every process's parent, where the kernel does not list children.
std::multimap<pid_t, pid_t> all_children() {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t pid : list_proc_ids("/proc")) {
    const auto stat = parse_thread_stat(read_proc(fmt::format("/proc/{}/stat", pid)));
    if (stat) children.emplace(static_cast<pid_t>(stat->parent), pid);
  }
  return children;
}

}  // namespace

ProcessFamily::ProcessFamily(pid_t root, CodeModules& modules) : modules_(modules) {
  strangers_.insert(::getpid());  // a process that runs already may have started this one
  for (const pid_t child : children()) {
    if (child != root) strangers_.insert(child);
  }
  add(root);
}

void ProcessFamily::add(pid_t pid) {
  constexpr std::size_t kMostProcesses = 4096;
  if (processes_.contains(pid) || strangers_.contains(pid) || processes_.size() >= kMostProcesses) return;
  processes_.emplace(pid, std::make_unique<SampledProcess>(pid, modules_));
}

void ProcessFamily::refresh(std::uint64_t now) {
  for (const pid_t child : children()) add(child);
  std::multimap<pid_t, pid_t> listed;
  std::vector<pid_t> open;
  for (const auto& [pid, process] : processes_) open.push_back(pid);
  // Children that are found here are looked at in the same round, with their own children.
  for (std::size_t i = 0; i < open.size(); ++i) {
    SampledProcess& process = *processes_.at(open[i]);
    if (!process.refresh(now)) {
      processes_.erase(open[i]);
      continue;
    }
    std::optional<std::vector<pid_t>> found = process.children();
    if (!found) {
      if (listed.empty()) listed = all_children();
      found.emplace();
      const auto [first, last] = listed.equal_range(process.pid);
      for (auto at = first; at != last; ++at) found->push_back(at->second);
    }
    for (const pid_t child : *found) {
      if (processes_.contains(child)) continue;
      add(child);
      if (processes_.contains(child)) open.push_back(child);
    }
  }
}

SampledProcess* ProcessFamily::find(pid_t pid) const {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : found->second.get();
}

std::vector<pid_t> ProcessFamily::threads_of(pid_t pid) const {
  const SampledProcess* const process = find(pid);
  return process == nullptr ? std::vector<pid_t>() : process->thread_ids();
}

}  // namespace roofline
