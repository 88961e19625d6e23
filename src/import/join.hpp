// Joins files of one program: counters of one file go to the launches that another file has times of.
#pragma once

#include <string>
#include <vector>

#include "import/imported.hpp"
#include "report/kernel_samples.hpp"

namespace roofline {

/// How the launch signatures of a file with counters were matched with those of the files with times.
struct JoinResult {
  std::string file;               ///< with the counters
  std::int64_t counted = 0;       ///< launch signatures in it
  std::int64_t surely = 0;        ///< of them, matched by full name, grid, block, range and order
  std::int64_t likely = 0;        ///< matched by short name, grid and block
  std::int64_t ambiguous = 0;     ///< kernels with different work per launch that can't be distinguished
  double time_s = 0;              ///< of the kernels with times
  double matched_s = 0;           ///< of those that have counters now
  std::int64_t sampled = 0;       ///< kernels of which it has samples of instructions
  std::vector<std::string> left;  ///< names of counted kernels that were not matched
};

/// Moves counters and samples of instructions into the profiles with times and removes their own profiles. Profiles of
/// one kind all remain.
std::vector<JoinResult> join_profiles(std::vector<ImportedProfile>& profiles);

/// Gives sampled kernels the names that the kernels of the traces have, where another tool demangled these.
void name_as_launched(KernelSamples& samples, const std::vector<ProcessTrace>& traces);

/// "kernels.ncu-rep: 44 counted launch signatures; 41 matched …"
std::vector<std::string> sentences_of(const JoinResult& result);

/// A kernel's short name, without namespaces, arguments and differences between demanglers: "vectorized_gather_kernel".
std::string base_name(std::string_view name);

}  // namespace roofline
