// Order of cores, CPU quota, and parsing and formatting of CPU lists.
#include "device/cpu/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "model/error.hpp"
#include "model/find.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

constexpr int kMostCpus = 1 << 13;

using Cores = std::vector<std::vector<int>>;

int count_cpus(const Cores& cores) {
  int count = 0;
  for (const std::vector<int>& core : cores) count += static_cast<int>(core.size());
  return count;
}

std::vector<int> all_cpus(const Cores& cores) {
  std::vector<int> cpus;
  for (const std::vector<int>& core : cores) cpus.insert(cpus.end(), core.begin(), core.end());
  return cpus;
}

/// The first CPU of each core, then the second CPU of each core, …
std::vector<int> one_a_core_first(const Cores& cores, int count) {
  std::vector<int> chosen;
  for (std::size_t sibling = 0; static_cast<int>(chosen.size()) < count; ++sibling) {
    for (const std::vector<int>& core : cores) {
      if (sibling < core.size() && static_cast<int>(chosen.size()) < count) chosen.push_back(core[sibling]);
    }
  }
  return chosen;
}

Cores performance_cores(const Topology& topology) {
  if (topology.ranks.empty()) return topology.cores;
  const int best = *std::max_element(topology.ranks.begin(), topology.ranks.end());
  Cores cores;
  for (std::size_t core = 0; core < topology.cores.size(); ++core) {
    if (topology.ranks[core] == best) cores.push_back(topology.cores[core]);
  }
  return cores;
}

/// The cores of the CPUs in --cpus, with these CPUs only.
Cores named_cores(const Topology& topology, const std::vector<int>& cpus) {
  Cores cores;
  std::size_t found = 0;
  for (const std::vector<int>& core : topology.cores) {
    std::vector<int> named;
    for (const int cpu : core) {
      if (contains(cpus, cpu)) named.push_back(cpu);
    }
    found += named.size();
    if (!named.empty()) cores.push_back(std::move(named));
  }
  if (found == cpus.size()) return cores;
  const std::vector<int> allowed = all_cpus(topology.cores);
  std::vector<int> missing;
  for (const int cpu : cpus) {
    if (!contains(allowed, cpu)) missing.push_back(cpu);
  }
  throw UsageError(fmt::format("--cpus {}: this process may not use CPU {}", cpu_list(cpus), cpu_list(missing)),
                   fmt::format("it may use --cpus {}", cpu_list(allowed)));
}

[[noreturn]] void refuse_threads(int threads, const Topology& topology, const Cores& cores, bool named) {
  const int there = count_cpus(cores);
  const std::string asked = fmt::format("{} threads were asked for, but ", threads);
  if (named) {
    throw UsageError(asked + fmt::format("--cpus names {} logical CPUs", there), "omit --threads, or list more CPUs");
  }
  if (there < topology.cpus()) {
    throw UsageError(asked + fmt::format("the performance cores have {} logical CPUs", there),
                     fmt::format("use --threads {} or fewer, or add efficiency cores: --cpus {}", there,
                                 cpu_list(all_cpus(topology.cores))));
  }
  throw UsageError(asked + fmt::format("this process may use only {} logical CPUs", there),
                   fmt::format("use --threads {} or fewer", there));
}

/// The bounds of "3" or "0-3"; empty if the text is neither.
std::optional<std::pair<int, int>> range_of(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto number = [](std::string_view digits) -> std::optional<int> {
    const std::optional<int> value = parsed_number<int>(digits);
    return value && digits.front() != '-' && *value < kMostCpus ? value : std::nullopt;
  };
  const std::optional<int> first = number(text.substr(0, dash));
  const std::optional<int> last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace

Placement place_threads(const Topology& topology, const PlacementRequest& request) {
  if (request.threads < 0) {
    throw UsageError("the number of threads can't be negative", "omit --threads to use every core");
  }
  const bool named = !request.cpus.empty();
  const Cores usual = performance_cores(topology);
  const Cores cores = named ? named_cores(topology, request.cpus) : usual;
  const int most = named ? count_cpus(cores) : static_cast<int>(cores.size());
  int threads = request.threads == 0 ? most : request.threads;
  Placement placement;
  if (!named && cores.size() < topology.cores.size()) {
    const std::vector<int> all = all_cpus(topology.cores);
    placement.notes.push_back(
        fmt::format("performance cores only (CPU {}); all cores: --cpus {}", cpu_list(all_cpus(cores)), cpu_list(all)));
  }
  if (request.threads == 0 && request.cpu_quota > 0) {
    // With more runnable threads than the quota allows, the scheduler throttles all of them in every period.
    threads = std::clamp(static_cast<int>(std::floor(request.cpu_quota)), 1, most);
    if (threads < most) {
      placement.notes.push_back(fmt::format("{} thread{}: the control group's quota is {:.4g} CPUs", threads,
                                            threads == 1 ? "" : "s", request.cpu_quota));
    }
  }
  if (threads > count_cpus(cores)) refuse_threads(threads, topology, cores, named);
  placement.cpus = one_a_core_first(cores, threads);
  placement.chosen = named && (threads > count_cpus(usual) || placement.cpus != one_a_core_first(usual, threads));
  return placement;
}

std::string cpu_list(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", cpus[i]) : fmt::format("{}-{}", cpus[i], cpus[last]);
    i = last + 1;
  }
  return text;
}

std::vector<int> parse_cpu_list(const std::string& text, const std::string& option) {
  std::vector<int> cpus;
  const auto refuse = [&](const std::string& reason) {
    throw UsageError(fmt::format("{} {}: {}", option, text, reason), fmt::format("for example: {} 0-3,8", option));
  };
  for (const std::string& part : split(text, ',')) {
    const auto range = range_of(part);
    if (!range) refuse("expected numbers of logical CPUs and ranges of them, separated by commas");
    for (int cpu = range->first; cpu <= range->second; ++cpu) {
      if (contains(cpus, cpu)) refuse(fmt::format("CPU {} is named twice", cpu));
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

std::string cpu_set_name(const std::vector<int>& cpus) {
  constexpr std::size_t kMostCharacters = 60;  // the rest of an identity is as long; file names are limited to 255
  const std::string list = cpu_list(cpus);
  std::string name;
  for (const char character : list) {
    if (character == '-') {
      name += "to";
    } else {
      name += character == ',' ? '-' : character;
    }
  }
  if (name.size() <= kMostCharacters) return name;
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a: stable across machines and builds
  for (const char character : list) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3ULL;
  return fmt::format("{}-of-{:016x}", cpus.size(), hash);
}

std::vector<int> with_siblings(const Topology& topology, const std::vector<int>& cpus) {
  std::vector<int> all;
  for (const std::vector<int>& core : topology.cores) {
    if (meet(core, cpus)) all.insert(all.end(), core.begin(), core.end());
  }
  return all;
}

}  // namespace roofline
