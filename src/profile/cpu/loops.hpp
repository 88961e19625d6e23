// The loops of machine code, from its backward jumps. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace roofline {

/// The instructions from `head` to `last`, the farthest jump back to the head.
struct CodeLoop {
  std::uint64_t head = 0, last = 0;
  double iterations = 0;  ///< jumps back to the head
  int parent = -1;        ///< the loop around it; -1: none
  bool operator==(const CodeLoop&) const = default;
};

struct LoopJump {
  std::uint64_t from = 0, to = 0;
  double taken = 0;
};

/// The loops of one module, by their heads. Jumps back to one head are one loop. Of two that overlap and are not nested
/// the one with fewer iterations is no loop: compilers move rare parts of a loop behind it, which jump back into it.
class CodeLoops {
 public:
  CodeLoops() = default;
  explicit CodeLoops(const std::vector<LoopJump>& jumps);

  const std::vector<CodeLoop>& all() const { return loops_; }
  /// The innermost loop at an address; -1: none.
  int innermost(std::uint64_t address) const;

 private:
  struct Span {
    std::uint64_t start = 0;
    int loop = -1;
  };
  void nest();

  std::vector<CodeLoop> loops_;
  std::vector<Span> spans_;  ///< each up to the start of the next one
};

}  // namespace roofline
