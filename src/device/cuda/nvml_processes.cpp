// The processes on a GPU, and their share of its SMs.
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <span>

#include "device/cuda/nvml_library.hpp"

namespace roofline {

std::map<unsigned, std::pair<double, int>> Nvml::State::sm_shares(double since_s) const {
  const auto since_us = static_cast<unsigned long long>(since_s * 1e6);
  std::map<unsigned, std::pair<double, int>> shares;
  unsigned count = 0;
  if (utilization == nullptr) return shares;
  utilization(device, nullptr, &count, since_us);  // upper bound of the number of samples
  std::vector<nvml::RawUtilization> raw(count);
  if (count == 0 || !ask(utilization, raw.data(), &count, since_us)) return shares;
  for (const nvml::RawUtilization& sample : std::span(raw).first(std::min<std::size_t>(count, raw.size()))) {
    auto& [sum, seen] = shares[sample.pid];
    sum += sample.sm_percent * 0.01;
    ++seen;
  }
  return shares;
}

bool Nvml::State::add_processes(ProcessQuestion question, std::vector<nvml::RawProcess>& all) const {
  // Processes may start between the query of the count and the query of the list.
  constexpr unsigned kRoom = 64;
  unsigned count = kRoom;
  std::vector<nvml::RawProcess> raw(count);
  constexpr int kInsufficientSize = 7;
  const bool done = ask(question, &count, raw.data());
  if (!done && refused == kInsufficientSize) {
    count += kRoom;
    raw.resize(count);
    if (!ask(question, &count, raw.data())) return false;
  } else if (!done) {
    return false;
  }
  raw.resize(std::min<std::size_t>(count, raw.size()));
  all.insert(all.end(), raw.begin(), raw.end());
  return true;
}

std::optional<double> Nvml::share_of_others(double since_s) const {
  const auto own = static_cast<unsigned>(::getpid());
  bool own_is_there = false;
  double others = 0;
  for (const auto& [pid, share] : state_->sm_shares(since_s)) {
    if (pid == own) own_is_there = true;
    if (pid != own && pid != 0) others += share.first;
  }
  return own_is_there ? std::optional(std::min(1.0, others)) : std::nullopt;
}

std::optional<std::vector<GpuProcess>> Nvml::processes(double since_s) const {
  std::vector<nvml::RawProcess> raw;
  if (!state_->add_processes(state_->compute_processes, raw)) return std::nullopt;
  state_->add_processes(state_->graphics_processes, raw);
  const auto shares = state_->sm_shares(since_s);
  constexpr auto kUnknown = std::numeric_limits<unsigned long long>::max();
  std::vector<GpuProcess> processes;
  for (const nvml::RawProcess& one : raw) {
    const bool seen = std::any_of(processes.begin(), processes.end(), [&](const GpuProcess& other) {
      return other.pid == static_cast<std::int64_t>(one.pid);
    });
    if (seen) continue;
    GpuProcess process;
    process.pid = static_cast<std::int64_t>(one.pid);
    if (one.memory_bytes != kUnknown) process.memory_bytes = static_cast<double>(one.memory_bytes);
    if (const auto share = shares.find(one.pid); share != shares.end()) {
      process.sm_fraction = share->second.first / share->second.second;
    }
    processes.push_back(process);
  }
  return processes;
}

}  // namespace roofline
