// Counts per instruction: the files that roofline_count writes, one per process of an emulated run. The files are not
// trusted.
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

/// Counted quantities, by their keys in the files.
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
  chain_loads,     ///< that take their addresses from the one before, from iteration to iteration
  falsely_shared,  ///< derived in counts_of(): accesses of instructions whose lines were repeatedly found to be shared
  l1_used,         ///< accessed bytes of the lines that entered L1
  page_walks,      ///< accesses to 4 KiB pages that the modelled TLB does not hold
  calls,
  atomics,       ///< atomic updates of memory
  conversions,   ///< lanes, between single and double precision
  branches,      ///< conditional branches, and jumps and calls by pointers
  mispredicted,  ///< of these, by the modelled predictor
  products,      ///< floating-point multiplications and divisions
  subnormals,    ///< of these, with a subnormal result
  // Of counts_of(), from the others; files have none of these.
  instructions,
  divide_cycles,  ///< minimum cycles of floating-point divisions and roots
  integer_divides,
  string_uses,   ///< number of repeated string instructions (rep movs) begun
  string_bytes,  ///< bytes stored by them
};
inline constexpr std::size_t kCountKeys = 44;
std::string_view to_string(CountKey key);  ///< "flops.fp32.scalar"

/// Totals over some instructions.
struct CodeCounts {
  std::array<double, kCountKeys> totals = {};
  /// Accesses by their most frequent stride in bytes, where known; few entries.
  std::map<std::int64_t, double> strides = {};

  double& of(CountKey key) { return totals.at(static_cast<std::size_t>(key)); }
  double of(CountKey key) const { return totals.at(static_cast<std::size_t>(key)); }
  double flops() const;
  double bytes() const { return of(CountKey::load_bytes) + of(CountKey::store_bytes); }
  void add(const CodeCounts& other);
  void multiply(double factor);
};

/// An instruction, at its link-time address in the module's file.
struct CountedInstruction {
  int module = 0;
  std::uint64_t address = 0;
  double executions = 0;
  std::uint32_t first = 0, size = 0;  ///< range of its totals in CountedInstructions::totals
  std::int64_t stride = 0;            ///< most frequent stride, bytes; 0: none
  double repeated = 0;                ///< jumps to itself; for rep movs one per element
  double late = 0;                    ///< executions in the last tenth before a time limit
};

/// A backward jump within a function.
struct BackwardJump {
  int module = 0;
  std::uint64_t from = 0, to = 0;
  double taken = 0;
};

/// Part of an instruction's FLOPs and bytes caused by one call in the program's own code.
struct CalledInstruction {
  int module = 0;
  std::uint64_t address = 0;
  int own_module = 0;
  std::uint64_t own_address = 0;
  double weight = 0;  ///< FLOPs and bytes
};

/// How a process ended, as far as it affects the counts.
enum class CountEnd : std::uint8_t { torn, complete, limit, signal, illegal_instruction };

struct CountedProcess {
  std::int64_t pid = 0, parent = 0;
  std::string command;
  CountEnd end = CountEnd::torn;
  std::string detail;           ///< signal number; bytes and address of the unknown instruction
  double native_s = 0;          ///< user time of the counted part in a native run; 0: unknown
  std::string why_no_native_s;  ///< empty: not measured, or known
};

/// Counts of all processes; each module once, by path.
struct CountedInstructions {
  std::vector<std::string> modules;
  std::vector<CountedInstruction> instructions;
  std::vector<std::pair<CountKey, double>> totals;
  std::vector<BackwardJump> jumps;
  std::vector<CalledInstruction> called;
  std::vector<CountedProcess> processes;
  std::string isa;         ///< highest vector extension offered
  double line_bytes = 64;  ///< line size of the modelled caches
  bool cut = false;        ///< the data exceeded the reader's limits
  std::string unreadable;  ///< why a file was skipped or not read to its end; empty: none

  CodeCounts counts_of(const CountedInstruction& instruction) const;
  int module(const std::string& path);

 private:
  std::map<std::string, int> module_of_;
};

/// Adds the records of one file. An invalid record ends reading, with the reason in `unreadable`.
void read_counts(std::istream& in, const std::string& name, CountedInstructions& counted);

bool has_counted_instructions(const std::filesystem::path& folder);

/// "4711.counts", and "4711.counts.2" for the next program executed by a process.
bool is_counts_file(const std::filesystem::path& path);

/// Reads all files of a folder, at most 4,096.
CountedInstructions read_counts_folder(const std::filesystem::path& folder);

}  // namespace roofline
