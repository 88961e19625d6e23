// Several files of one program: what one counted goes to the launches that another has the times of.
#pragma once

#include <string>
#include <vector>

#include "import/imported.hpp"

namespace roofline {

/// How the kinds of launches of a file with counters were found among those of the files with times.
struct JoinResult {
  std::string file;               ///< with the counters
  std::int64_t counted = 0;       ///< kinds in it
  std::int64_t surely = 0;        ///< of them, those found by full name, grid, block, range and order
  std::int64_t likely = 0;        ///< by the name without its arguments, grid and block
  std::int64_t ambiguous = 0;     ///< kernels launched for different work that nothing tells apart
  double time_s = 0;              ///< of the kernels with times
  double matched_s = 0;           ///< of those that have counts now
  std::vector<std::string> left;  ///< names of counted kernels that were not found
};

/// Moves counts into the profiles with times, which remain. Profiles of one kind remain all.
std::vector<JoinResult> join_profiles(std::vector<ImportedProfile>& profiles);

/// "kernels.ncu-rep: 41 of 44 kinds of kernels found, …"
std::vector<std::string> sentences_of(const JoinResult& result);

/// A kernel's name without namespaces, arguments and what demanglers spell differently: "vectorized_gather_kernel".
std::string base_name(std::string_view name);

}  // namespace roofline
