#include "profile/cpu/loops.hpp"

#include <algorithm>
#include <map>

namespace roofline {
namespace {

/// No function is larger: such a jump is none within a function.
constexpr std::uint64_t kLargestLoop = std::uint64_t{1} << 26U;

/// Loops that are nested deeper are part of the one around them: a hostile file has as many as it likes.
constexpr std::size_t kDeepest = 64;

/// Removes the rarer of two loops that overlap and are not nested. The loops are sorted by head, the larger one first.
std::vector<CodeLoop> nested_loops(const std::vector<CodeLoop>& sorted) {
  std::vector<CodeLoop> kept;
  std::vector<std::size_t> open;  // indices into `kept`, outermost first
  for (const CodeLoop& loop : sorted) {
    while (!open.empty() && kept[open.back()].last < loop.head) open.pop_back();
    bool keep = open.size() < kDeepest;
    for (const std::size_t outer : open) {
      if (loop.last > kept[outer].last && kept[outer].iterations >= loop.iterations) keep = false;
    }
    if (!keep) continue;
    // Overlapping rarer loops are cut at its head.
    for (const std::size_t outer : open) {
      if (loop.last > kept[outer].last) kept[outer].iterations = 0;
    }
    std::erase_if(open, [&](std::size_t outer) { return kept[outer].iterations == 0; });
    open.push_back(kept.size());
    kept.push_back(loop);
  }
  std::erase_if(kept, [](const CodeLoop& loop) { return loop.iterations == 0; });
  return kept;
}

}  // namespace

CodeLoops::CodeLoops(const std::vector<LoopJump>& jumps) {
  std::map<std::uint64_t, CodeLoop> by_head;
  for (const LoopJump& jump : jumps) {
    if (jump.to > jump.from || jump.from - jump.to > kLargestLoop || !(jump.taken > 0)) continue;
    CodeLoop& loop = by_head[jump.to];
    loop.head = jump.to;
    loop.last = std::max(loop.last, jump.from);
    loop.iterations += jump.taken;
  }
  for (const auto& [head, loop] : by_head) loops_.push_back(loop);
  loops_ = nested_loops(loops_);
  nest();
}

void CodeLoops::nest() {
  std::vector<int> open;
  const auto close_before = [&](std::uint64_t address) {
    while (!open.empty() && loops_[static_cast<std::size_t>(open.back())].last < address) {
      const std::uint64_t end = loops_[static_cast<std::size_t>(open.back())].last + 1;
      open.pop_back();
      spans_.push_back({end, open.empty() ? -1 : open.back()});
    }
  };
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    close_before(loops_[i].head);
    loops_[i].parent = open.empty() ? -1 : open.back();
    open.push_back(static_cast<int>(i));
    spans_.push_back({loops_[i].head, static_cast<int>(i)});
  }
  close_before(UINT64_MAX);
}

int CodeLoops::innermost(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(spans_, address, {}, &Span::start);
  return after == spans_.begin() ? -1 : std::prev(after)->loop;
}

}  // namespace roofline
