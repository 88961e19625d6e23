// The code of a sampled kernel: what its instructions wait for, and the source lines that they come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/sass.hpp"
#include "sample/gpu_lines.hpp"

namespace roofline {

/// A source line of a kernel, by its file's number.
using KernelLine = std::pair<int, int>;
inline constexpr KernelLine kNoLine = {-1, 0};

/// Offsets are bytes from the kernel's start. Nothing is known of those that it does not hold.
class GpuCode {
 public:
  /// Nothing: the code was not kept. It must outlive this.
  explicit GpuCode(const std::optional<GpuFunction>& function);

  bool holds(std::uint64_t offset) const { return index(offset) < instructions_.size(); }
  const SassInstruction& at(std::uint64_t offset) const { return instructions_[index(offset)]; }
  /// Offsets of the instructions that the one there waits for, the nearest first.
  std::vector<std::uint64_t> waited_for(std::uint64_t offset) const;
  KernelLine line(std::uint64_t offset) const { return holds(offset) ? lines_[index(offset)] : kNoLine; }
  std::string file(KernelLine line) const;
  /// "kernel.cu:41"; empty where the line is not known.
  std::string place(KernelLine line) const;

  // Of an offset that it holds:
  /// Whether it is a part of a division, or of a function in place of an instruction.
  bool divides(std::uint64_t offset) const { return divides_[index(offset)]; }
  /// Whether it loads constants from an address in a register. Others are parameters of the launch.
  bool indexes_constants(std::uint64_t offset) const;
  /// The last store or atomic operation before it.
  std::optional<std::uint64_t> written_before(std::uint64_t offset) const;
  /// The barrier that it is behind, or is.
  std::uint64_t barrier_before(std::uint64_t offset) const;

 private:
  static std::size_t index(std::uint64_t offset) { return static_cast<std::size_t>(offset / kSassBytes); }
  static std::uint64_t offset_of(std::size_t index) { return kSassBytes * std::uint64_t{index}; }
  SassKind kind(std::size_t index) const { return instructions_[index].kind; }
  std::size_t end_of(std::size_t function) const;
  void find_lines();
  void find_divisions();

  const std::optional<GpuFunction>& function_;
  std::vector<SassInstruction> instructions_;
  std::vector<KernelLine> lines_;
  std::vector<std::size_t> functions_;  ///< first instructions of those that are called, in order
  std::vector<bool> divides_;
};

}  // namespace roofline
