// The part of a program that was counted before a time limit ended its emulated run: how long it takes natively, and
// what that makes of the counts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profile/cpu/counted_instructions.hpp"
#include "profile/program.hpp"
#include "sample/code_samples.hpp"

namespace roofline {

/// An instruction of the process that its time limit ended: it was executed shortly before the end.
struct LastPlace {
  std::uint64_t address = 0;  ///< linked address in the program's file
  double executions = 0;      ///< until the end
};

/// A hardware breakpoint in the cache line of a hot loop makes the loop slower; a trap does not.
enum class PlaceKind : std::uint8_t { any, cold };

/// The instruction of `module` that tells best when the counted part ended. Each execution costs about 10 µs natively:
/// of those with at most 2,000, the one with most in the last tenth, else the one with fewest, at most 100,000.
/// std::nullopt: there is none.
std::optional<LastPlace> last_place(const CountedInstructions& counted, const std::string& module, PlaceKind kind);

/// Runs the program natively once more, without output, until it has executed as much as was counted. A trap
/// instead of an instruction counts (ptrace; outside x86-64 a hardware breakpoint), which needs no performance
/// counters. Not for programs with threads. Adds the process's user time to the only file of counts in
/// the folder, or the reason why it is not known. Does nothing if the counts are complete.
void time_counted_part(const ProgramOptions& native, const std::filesystem::path& folder, double limit_s);

/// How much larger the counts of a whole run are than those of a part that takes `part_s` of user time, by region:
/// native samples of all of the run over those of the part. Regions with few samples have the ratio of all of them.
/// `of_code` as in region_times(); `waits`: regions whose threads wait for others, which the part's time does not have.
/// Empty: the part has no samples.
std::vector<double> scales_of_part(const CodeSamples& samples, const std::vector<int>& of_code,
                                   const std::vector<bool>& waits, double part_s);

}  // namespace roofline
