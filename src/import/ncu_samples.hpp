// Nsight Compute's source counters: how often warps were found at each instruction and why they did not go on, the code
// of these kernels, and the source files that a report has with it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/imported.hpp"
#include "import/ncu_launch.hpp"

namespace roofline {

/// Code that was loaded together, and its source files.
struct NcuSource {
  std::uint64_t id = 0;
  std::string code;                                           ///< a cubin; empty: not in the report
  std::map<std::string, std::string> files;                   ///< texts by path
  std::map<std::string, std::uint64_t, std::less<>> kernels;  ///< where each begins, by its symbol
};

/// The samples of one launch, by the addresses of its instructions.
struct NcuLaunchSamples {
  struct At {
    std::uint64_t address = 0, samples = 0;
    std::uint32_t reason = 0;
  };
  std::uint64_t source = 0;                  ///< 0: none
  std::optional<std::uint64_t> lowest = {};  ///< address of any instruction, also of one without samples
  std::vector<At> at = {};
  std::uint64_t left_out = 0;  ///< samples that there was no room for
};

/// Sums the samples of all launches of a report. Nothing in it is trusted: it keeps 512 MiB of code, 64 MiB of source
/// files and two million counts at most, and leaves out what exceeds that.
class NcuSamples {
 public:
  void add_source(NcuSource source);

  /// Number of that stall reason; std::nullopt for other metrics, and for another count of the same samples.
  std::optional<std::uint32_t> reason(std::string_view metric);
  /// Adds to the samples of a launch.
  static void add_count(NcuLaunchSamples& samples, const NcuLaunchSamples::At& at);
  void add_launch(const NcuLaunch& launch, const NcuLaunchSamples& samples);

  /// Once the profile has its launches.
  void finish(ImportedProfile& profile);

 private:
  struct KeptSource {
    std::uint64_t code = 0;  ///< 0: not kept
    std::map<std::string, std::uint64_t, std::less<>> kernels;
  };
  void add_record(const spool::InstructionSamples& record);
  void sum_records();
  std::uint32_t kernel(std::string_view symbol);
  std::uint64_t begin_of(std::string_view symbol, const NcuLaunchSamples& samples) const;
  void add_notes(ImportedProfile& profile, const std::set<std::uint64_t>& used) const;

  std::map<std::uint64_t, KeptSource> sources_;
  std::map<std::uint64_t, std::string> code_;
  std::map<std::string, std::string> files_;
  std::size_t code_bytes_ = 0, file_bytes_ = 0, name_bytes_ = 0;
  bool code_left_out_ = false;
  std::map<std::string, std::uint32_t, std::less<>> reasons_, kernels_;
  std::vector<std::string> reason_names_, kernel_names_;
  std::vector<spool::InstructionSamples> records_;  ///< `function` is an index of kernel_names_
  bool full_ = false;
  std::uint64_t taken_ = 0, elsewhere_ = 0, left_out_ = 0;
  std::int64_t launches_ = 0, cut_off_ = 0;
  std::uint32_t period_ = 0;
};

}  // namespace roofline
