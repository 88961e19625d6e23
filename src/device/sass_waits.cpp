// Which instructions a waiting one waits for: a walk backwards over the control flow.
#include <algorithm>
#include <unordered_set>

#include "device/sass.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostWaitedFor = 8;
constexpr std::size_t kMostSteps = 8192;  ///< instructions of one walk

struct Found {
  std::size_t at = 0, steps = 0;
};

enum class Step : std::uint8_t { pass, stop, take, take_and_stop };

class Backwards {
 public:
  explicit Backwards(std::span<const SassInstruction> code) : code_(code) {
    for (std::size_t i = 0; i < code.size(); ++i) {
      const auto& target = code[i].target;
      if (target && *target >= 0 && *target % std::int64_t{kSassBytes} == 0) {
        jumps_.push_back({static_cast<std::uint64_t>(*target) / kSassBytes, i});
      }
      if (code[i].name == "BRX") indirect_.push_back(i);
    }
    std::ranges::sort(jumps_, {}, &Jump::to);
  }

  /// Visits instructions before `at`, nearest first, until `judge` stops each path.
  template <typename Judge>
  std::vector<Found> walk(std::size_t at, const Judge& judge) const {
    std::vector<Found> found;
    std::vector<Found> queue;
    std::unordered_set<std::size_t> seen;
    const auto add_those_before = [&](const Found& from) {
      visit_those_before(from.at, [&](std::size_t before) {
        if (seen.insert(before).second) queue.push_back({before, from.steps + 1});
      });
    };
    add_those_before({at, 0});
    for (std::size_t next = 0; next < std::min(queue.size(), kMostSteps) && found.size() < kMostWaitedFor; ++next) {
      const Found here = queue[next];
      const Step step = judge(code_[here.at]);
      if (step == Step::take || step == Step::take_and_stop) found.push_back(here);
      if (step == Step::pass || step == Step::take) add_those_before(here);
    }
    return found;
  }

 private:
  struct Jump {
    std::uint64_t to = 0;
    std::size_t from = 0;
  };

  template <typename Visit>
  void visit_those_before(std::size_t at, const Visit& visit) const {
    bool any = false;
    if (at > 0 && code_[at - 1].falls_through) {
      visit(at - 1);
      any = true;
    }
    for (auto jump = std::ranges::lower_bound(jumps_, std::uint64_t{at}, {}, &Jump::to);
         jump != jumps_.end() && jump->to == at; ++jump) {
      visit(jump->from);
      any = true;
    }
    // A block that nothing leads to is one of a table's.
    if (!any && at > 0) std::ranges::for_each(indirect_, visit);
  }

  std::span<const SassInstruction> code_;
  std::vector<Jump> jumps_;
  std::vector<std::size_t> indirect_;
};

/// Those that set a scoreboard, back to where it was waited for before.
std::vector<Found> setters(const Backwards& backwards, std::size_t at, int scoreboard) {
  return backwards.walk(at, [scoreboard](const SassInstruction& before) {
    const bool sets = before.sets_on_write == scoreboard || before.sets_on_read == scoreboard;
    const bool waits = (before.waits >> scoreboard & 1) != 0;
    if (sets) return waits ? Step::take_and_stop : Step::take;
    return waits ? Step::stop : Step::pass;
  });
}

/// The copies that a commit (LDGDEPBAR) closes into a group.
std::vector<Found> copies(const Backwards& backwards, std::size_t commit) {
  return backwards.walk(commit, [](const SassInstruction& before) {
    if (before.name == "LDGSTS") return Step::take;
    return before.name == "LDGDEPBAR" ? Step::stop : Step::pass;
  });
}

std::vector<Found> matrix_instructions(const Backwards& backwards, std::size_t at) {
  return backwards.walk(at, [](const SassInstruction& before) {
    if (before.kind == SassKind::tensor) return Step::take;
    return before.name == "WARPGROUP.DEPBAR" ? Step::stop : Step::pass;
  });
}

}  // namespace

std::vector<std::size_t> waited_for(std::span<const SassInstruction> code, std::size_t at) {
  if (at >= code.size()) return {};
  const bool of_warpgroup = code[at].name == "WARPGROUP.DEPBAR";
  if (code[at].waits == 0 && !of_warpgroup) return {};
  const Backwards backwards(code);
  std::vector<Found> found;
  const auto add = [&found](const std::vector<Found>& more, std::size_t steps) {
    for (const Found& one : more) found.push_back({one.at, one.steps + steps});
  };
  if (of_warpgroup) add(matrix_instructions(backwards, at), 0);
  constexpr int kScoreboards = 6;
  for (int scoreboard = 0; scoreboard < kScoreboards; ++scoreboard) {
    if ((code[at].waits >> scoreboard & 1) == 0) continue;
    for (const Found& setter : setters(backwards, at, scoreboard)) {
      const std::vector<Found> closed =
          code[setter.at].name == "LDGDEPBAR" ? copies(backwards, setter.at) : std::vector<Found>();
      closed.empty() ? add({setter}, 0) : add(closed, setter.steps);
    }
  }
  std::ranges::stable_sort(found, {}, &Found::steps);
  std::vector<std::size_t> instructions;
  for (const Found& one : found) {
    if (std::ranges::find(instructions, one.at) == instructions.end()) instructions.push_back(one.at);
    if (instructions.size() == kMostWaitedFor) break;
  }
  return instructions;
}

}  // namespace roofline
