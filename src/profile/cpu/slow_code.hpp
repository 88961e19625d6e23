// Divisions, roots, conversions and loads from addresses that depend on data, by samples at or right behind them in the
// program's hot loops; values that these loops read again in each iteration, and long probe sequences of hash tables.
// Reads the machine code of the files on disk; x86-64 only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "report/host_profile.hpp"
#include "sample/code_samples.hpp"

namespace roofline {

/// Of one loop: samples at or right behind its slow instructions.
struct SlowLoop {
  double samples = 0;         ///< of all of the loop
  double slow = 0;            ///< at or right behind a division or a root
  double integer = 0;         ///< the same of an integer division
  double conversions = 0;     ///< the same of a conversion between single and double precision
  double doubles = 0;         ///< of `slow`: in double precision
  double roots = 0;           ///< of `slow`: roots
  bool converts = false;      ///< it converts to double precision and back
  bool invariant = false;     ///< all its divisors are the same in each iteration
  std::uint64_t address = 0;  ///< of the slow instruction with the most samples
  /// Loads from an address that no iteration changes, in a loop without vectors, calls and atomic operations: a store
  /// of the loop may change the value, as far as the compiler knows. 0: none, or no store.
  int reloads = 0;
  int accesses = 0;                    ///< loads and stores at addresses that change, not of the stack
  int instructions = 0;                ///< of the loop
  double hottest = 0;                  ///< samples at the instruction with the most
  std::uint64_t hot_address = 0;       ///< of that instruction
  bool probes = false;                 ///< it probes the slots of a hash table
  double waits = 0;                    ///< samples at instructions where such a loop waits
  double indirect = 0;                 ///< samples at or right behind loads whose addresses depend on data
  double linked = 0;                   ///< of `indirect`: of addresses that are loaded through themselves
  double indirect_each = 0;            ///< `indirect`, per load that has a good part of it
  double direct_each = 0;              ///< samples at the other instructions, per instruction
  std::uint64_t indirect_address = 0;  ///< of the load with the most of them
  double around = 0;                   ///< samples at the hottest instruction of the function outside inner loops
};

struct SampledAddress {
  std::uint64_t address = 0;
  double samples = 0;
};

/// The loops of a function's code, which is linked at `start`.
std::vector<SlowLoop> slow_loops(std::span<const std::uint8_t> code, std::uint64_t start,
                                 const std::vector<SampledAddress>& samples);

/// Those that take a good part of the time, the largest first.
std::vector<HostSlowCode> slow_code(const CodeSamples& samples);

}  // namespace roofline
