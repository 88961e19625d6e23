#include "report/slow_code_causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "report/host_cause_text.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Without a remedy of its own, a division has to take most of the time.
constexpr double kLeastOfProgram = 0.15, kMostOfProgram = 0.4;

std::string_view operations_of(const HostSlowCode& code) {
  if (code.kind == "integer_division") return "integer divisions and remainders";
  if (code.kind == "conversion") return "conversions between single and double precision";
  if (code.kind == "root") return code.doubles ? "square roots in double precision" : "square roots";
  return code.doubles ? "divisions in double precision" : "divisions";
}

/// Empty: there is none that is known to help.
std::string_view action_for(const HostSlowCode& code) {
  if (code.converted) {
    return "If single precision is meant, write constants with an f (0.5f) and call sqrtf and the like; else convert "
           "once, outside the loop.";
  }
  if (code.kind == "integer_division")
    return "Divide by constants or powers of two, compare instead of %, or use 32-bit integers.";
  if (code.invariant) {
    return "Its divisors are the same in each iteration: compute the reciprocal before the loop and multiply by it "
           "(-ffast-math does so).";
  }
  return "Divide less often (x / a / b is x / (a * b)), vectorise the loop (-O3 -march=native), or use single "
         "precision "
         "where it is enough.";
}

std::optional<HostCause> cause_of_reloads(const HostSlowCode& code, double cpu_s) {
  constexpr double kLeast = 0.3;
  if (!(cpu_s > 0) || code.seconds < kLeast * cpu_s) return std::nullopt;
  return host_cause(
      "reloaded-values", code.seconds,
      fmt::format("{} of the CPU time is in a loop without vectors that loads values again in each iteration, because "
                  "its stores may change them",
                  percent(std::min(1.0, code.seconds / cpu_s))),
      "mostly at", short_place(code.place),
      "Copy structure members, bounds and pointers to local variables before the loop, and declare pointers restrict "
      "(__restrict in C++): the loop can then be vectorised.");
}

std::optional<HostCause> cause_of_probes(const HostSlowCode& code, double cpu_s) {
  constexpr double kLeast = 0.3;
  if (!(cpu_s > 0) || code.seconds < kLeast * cpu_s) return std::nullopt;
  return host_cause(
      "long-probes", code.seconds,
      fmt::format("{} of the CPU time is in loops that probe many slots of a hash table one after the other",
                  percent(std::min(1.0, code.seconds / cpu_s))),
      "mostly at", short_place(code.place),
      "Mix all bits of the key before masking (multiply by a 64-bit odd constant, take the high bits), and fill at "
      "most 70 % of the slots.");
}

std::optional<HostCause> cause_of_waits(const HostSlowCode& code, double cpu_s) {
  constexpr double kLeast = 0.35;
  if (!(cpu_s > 0) || code.seconds < kLeast * cpu_s) return std::nullopt;
  const bool linked = code.kind == "linked";
  return host_cause(
      "memory-waits", code.seconds,
      fmt::format("{} of the CPU time waits for loads {}", percent(std::min(1.0, code.seconds / cpu_s)),
                  linked ? "that follow pointers from node to node and miss the caches"
                         : "from addresses that depend on data: they miss the caches"),
      "mostly at", short_place(code.place),
      linked ? "Use arrays and indices instead of linked nodes, or keep the nodes in one array in the order in which "
               "they are visited."
             : "Keep the fields that this loop reads in arrays of their own, with small types (structure of arrays). "
               "Visit records in the order of memory (sort or block them), or prefetch them (__builtin_prefetch).");
}

std::optional<HostCause> cause_of(const HostSlowCode& code, double cpu_s) {
  if (code.kind == "gather" || code.kind == "linked") return cause_of_waits(code, cpu_s);
  if (code.kind == "probe") return cause_of_probes(code, cpu_s);
  if (code.kind == "reload") return cause_of_reloads(code, cpu_s);
  const bool has_remedy = code.converted || code.invariant || code.kind == "integer_division";
  if (!(cpu_s > 0) || code.seconds < (has_remedy ? kLeastOfProgram : kMostOfProgram) * cpu_s) return std::nullopt;
  std::string text =
      fmt::format("{} of the CPU time is at {}", percent(std::min(1.0, code.seconds / cpu_s)), operations_of(code));
  if (code.converted) text += " of a loop that converts to double precision and back";
  return host_cause(code.converted ? "double-precision" : "slow-instructions", code.seconds, std::move(text),
                    "mostly at", short_place(code.place), std::string(action_for(code)));
}

}  // namespace

std::vector<HostCause> slow_code_causes(const HostProfile& host, double cpu_s) {
  std::vector<HostCause> causes;
  for (const HostSlowCode& code : host.slow_code) {
    if (auto cause = cause_of(code, cpu_s)) causes.push_back(*std::move(cause));
  }
  return causes;
}

}  // namespace roofline
