// Finds the loops of machine code from its backward jumps. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace roofline {

/// The instructions from `head` to `last`, the farthest jump back to the head.
struct CodeLoop {
  std::uint64_t head = 0, last = 0;
  double iterations = 0;  ///< jumps back to the head
  int parent = -1;        ///< enclosing loop; -1: none
  bool operator==(const CodeLoop&) const = default;
};

struct LoopJump {
  std::uint64_t from = 0, to = 0;
  double taken = 0;
};

/// Loops of one module, by head. Jumps back to the same head form one loop. Of two loops that overlap without nesting,
/// the one with fewer iterations is dropped: compilers move rare parts of a loop behind it, from where they jump back.
class CodeLoops {
 public:
  CodeLoops() = default;
  explicit CodeLoops(const std::vector<LoopJump>& jumps);

  const std::vector<CodeLoop>& all() const { return loops_; }
  /// Innermost loop at an address; -1: none.
  int innermost(std::uint64_t address) const;

 private:
  struct Span {
    std::uint64_t start = 0;
    int loop = -1;
  };
  void nest();

  std::vector<CodeLoop> loops_;
  std::vector<Span> spans_;  ///< each up to the start of the next
};

}  // namespace roofline
