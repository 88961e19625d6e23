// Code of a sampled kernel: dependencies between instructions, and their source lines.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "device/sass.hpp"
#include "sample/gpu_lines.hpp"

namespace roofline {

/// A source line of a kernel, by file number.
using KernelLine = std::pair<int, int>;
inline constexpr KernelLine kNoLine = {-1, 0};

/// Offsets are in bytes from the kernel's start. Results are empty for offsets outside the code.
class GpuCode {
 public:
  /// std::nullopt: the code was not kept. `function` must outlive this.
  explicit GpuCode(const std::optional<GpuFunction>& function);

  bool holds(std::uint64_t offset) const { return index(offset) < instructions_.size(); }
  const SassInstruction& at(std::uint64_t offset) const { return instructions_[index(offset)]; }
  /// Offsets of the instructions that this one waits for, nearest first.
  std::vector<std::uint64_t> waited_for(std::uint64_t offset) const;
  KernelLine line(std::uint64_t offset) const { return holds(offset) ? lines_[index(offset)] : kNoLine; }
  std::string file(KernelLine line) const;
  /// "kernel.cu:41"; empty if unknown.
  std::string place(KernelLine line) const;

  // For valid offsets only:
  /// True if it is part of a division, or of a function that replaces an instruction.
  bool divides(std::uint64_t offset) const { return divides_[index(offset)]; }
  /// True if it is part of the reduction of a large argument of a sine or cosine.
  bool reduces(std::uint64_t offset) const { return reduces_[index(offset)]; }
  /// True if it is at a line with a sine or cosine in software.
  bool at_trigonometry(std::uint64_t offset) const { return trigonometry_.contains(lines_[index(offset)]); }
  /// True if it is part of the initialisation of a random number generator.
  bool initialises_random(std::uint64_t offset) const;
  /// True if it loads constants from an address in a register, as opposed to launch parameters.
  bool indexes_constants(std::uint64_t offset) const;
  /// The last preceding store or atomic operation.
  std::optional<std::uint64_t> written_before(std::uint64_t offset) const;
  /// The barrier at or before it.
  std::uint64_t barrier_before(std::uint64_t offset) const;

 private:
  static std::size_t index(std::uint64_t offset) { return static_cast<std::size_t>(offset / kSassBytes); }
  static std::uint64_t offset_of(std::size_t index) { return kSassBytes * std::uint64_t{index}; }
  SassKind kind(std::size_t index) const { return instructions_[index].kind; }
  std::size_t end_of(std::size_t function) const;
  std::optional<std::size_t> target_of(std::size_t instruction) const;
  std::vector<int> loop_depths() const;
  void find_lines();
  void find_divisions();
  void find_reductions();
  void find_trigonometry();
  std::uint32_t immediate(std::size_t instruction) const;

  const std::optional<GpuFunction>& function_;
  std::vector<SassInstruction> instructions_;
  std::vector<KernelLine> lines_;
  std::vector<std::size_t> functions_;  ///< first instructions of called functions, sorted
  std::vector<bool> divides_;
  std::vector<bool> reduces_;
  std::set<KernelLine> trigonometry_;
};

}  // namespace roofline
