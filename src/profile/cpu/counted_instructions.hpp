// What each instruction of a program did: the files that roofline_count writes, one per process of an emulated run.
// Nothing in them is trusted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roofline {

inline constexpr std::string_view kCountsExtension = ".counts";

/// What is counted, by the keys of the files.
enum class CountKey : std::uint8_t {
  fp32_scalar,
  fp32_128,
  fp32_256,
  fp64_scalar,
  fp64_128,
  fp64_256,
  fp16_scalar,
  fp16_128,
  fp16_256,
  divides,
  roots,
  integers,
  loads,
  stores,
  load_bytes,
  store_bytes,
  nt_bytes,
  l1_fills,
  l2_fills,
  l3_fills,
  l1_writebacks,
  l2_writebacks,
  l3_writebacks,
  stride_line,
  stride_next,
  stride_other,
  gathers,
  chain_cycles,
  falsely_shared,  ///< of counts_of(): accesses of instructions whose lines were found so several times
  l1_used,         ///< bytes that were accessed of the lines that came into L1
  page_walks,      ///< accesses to pages of 4 KiB that the modelled TLB does not hold
  calls,
  // Of counts_of(), from the others; files have none of these.
  instructions,
  divide_cycles,  ///< that divisions and roots of floating-point numbers take at least
  integer_divides,
  string_uses,   ///< times that an instruction which repeats itself (rep movs) began
  string_bytes,  ///< that those stored
};
inline constexpr std::size_t kCountKeys = 37;
std::string_view to_string(CountKey key);  ///< "flops.fp32.scalar"

/// Totals of some instructions.
struct CodeCounts {
  std::array<double, kCountKeys> totals = {};
  /// Accesses whose most frequent stride is known, by that stride in bytes; few of them.
  std::map<std::int64_t, double> strides = {};

  double& of(CountKey key) { return totals.at(static_cast<std::size_t>(key)); }
  double of(CountKey key) const { return totals.at(static_cast<std::size_t>(key)); }
  double flops() const;
  double bytes() const { return of(CountKey::load_bytes) + of(CountKey::store_bytes); }
  void add(const CodeCounts& other);
};

/// An instruction, as it is linked in the module's file.
struct CountedInstruction {
  int module = 0;
  std::uint64_t address = 0;
  double executions = 0;
  std::uint32_t first = 0, size = 0;  ///< its totals, in CountedInstructions::totals
  std::int64_t stride = 0;            ///< most frequent one, bytes; 0: none
  double repeated = 0;                ///< jumps to itself: of rep movs, an element each
};

/// A backward jump within a function.
struct BackwardJump {
  int module = 0;
  std::uint64_t from = 0, to = 0;
  double taken = 0;
};

/// The part of an instruction's FLOPs and bytes that a call in the program's own code caused.
struct CalledInstruction {
  int module = 0;
  std::uint64_t address = 0;
  int own_module = 0;
  std::uint64_t own_address = 0;
  double weight = 0;  ///< FLOPs and bytes
};

/// How a process ended, as far as its counts are concerned.
enum class CountEnd : std::uint8_t { torn, complete, limit, signal, illegal_instruction };

struct CountedProcess {
  std::int64_t pid = 0, parent = 0;
  std::string command;
  CountEnd end = CountEnd::torn;
  std::string detail;  ///< number of the signal; bytes and place of the instruction
};

/// All processes together, modules once by their paths.
struct CountedInstructions {
  std::vector<std::string> modules;
  std::vector<CountedInstruction> instructions;
  std::vector<std::pair<CountKey, double>> totals;
  std::vector<BackwardJump> jumps;
  std::vector<CalledInstruction> called;
  std::vector<CountedProcess> processes;
  std::string isa;         ///< highest vector extension offered
  double line_bytes = 64;  ///< of the modelled caches
  bool cut = false;        ///< there was more than a reader keeps
  std::string unreadable;  ///< why a file was left out or not read to its end; empty: none was

  CodeCounts counts_of(const CountedInstruction& instruction) const;
  int module(const std::string& path);

 private:
  std::map<std::string, int> module_of_;
};

/// Adds the records of one file. What does not fit the format ends it, with the reason in `unreadable`.
void read_counts(std::istream& in, const std::string& name, CountedInstructions& counted);

bool has_counted_instructions(const std::filesystem::path& folder);

/// "4711.counts", and "4711.counts.2" of the next program of a process.
bool is_counts_file(const std::filesystem::path& path);

/// Those of a folder, of at most 4,096 files.
CountedInstructions read_counts_folder(const std::filesystem::path& folder);

}  // namespace roofline
