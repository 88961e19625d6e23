// Finds, while a program runs, whether what it gives the GPU repeats, and what of it comes in each repetition.
//
// A step has launches that come once in it. Between two of such a launch lie as many launches as between the next two:
// of all launch signatures and calls of which that is true, the one with the largest distance marks the repetition.
// Sequences need not be equal: sizes may vary from step to step, and so may what other threads put in between.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "inject/spool.hpp"

namespace roofline::inject {

/// What can mark a step.
struct Mark {
  enum class What : std::uint8_t { launch, graph_launch, call };
  What what = What::launch;
  spool::Id id = 0;  ///< of a launch: a kind of its function and geometry; of a call: its name

  auto operator<=>(const Mark&) const = default;
};

/// Regular in the program's steps.
struct Candidate {
  Mark mark;
  double per_second = 0;
  std::uint32_t per_repetition = 1;
  std::uint64_t interval = 0;  ///< ns of a repetition, median
};

/// Which of what repeats is followed while nothing is recorded: the rarest call if it is rare enough, then launches,
/// looked for now and then (`paced`) where there are many.
struct MarkerChoice {
  Candidate candidate;
  bool paced = false;
};
std::optional<MarkerChoice> choose_marker(const std::vector<Candidate>& candidates, double launches_per_second);

class Repetitions {
 public:
  void add(const Mark& mark, std::uint64_t time);
  /// A new phase begins: what is known stays known, distances are taken anew.
  void restart();

  /// Since the last restart, or since something new came; 0: nothing repeats.
  std::uint64_t count() const;
  /// What may mark the steps, most often first; empty where nothing repeats.
  std::vector<Candidate> candidates() const;
  /// Of kernels, in a second.
  double launches_per_second() const;
  bool any() const { return launches_ > 0; }

 private:
  static constexpr std::size_t kKept = 64;
  struct Distance {
    std::uint32_t launches = 0;
    std::uint64_t time = 0;
  };
  struct Symbol {
    std::uint64_t seen = 0;  ///< ever
    std::uint32_t generation = 0;
    std::uint64_t count = 0;  ///< of distances in this generation
    std::uint64_t last_launch = 0, last_time = 0;
    std::array<Distance, kKept> recent = {};

    std::vector<Distance> distances() const;
  };
  struct Anchor {
    std::uint64_t launches = 0;  ///< of a repetition
    std::uint64_t interval = 0;
    std::uint64_t count = 0;
  };
  std::optional<Anchor> anchor() const;
  bool current(const Symbol& symbol) const { return symbol.generation == generation_; }

  std::map<Mark, Symbol> symbols_;
  std::uint32_t generation_ = 1;
  std::uint64_t launches_ = 0;                                                     ///< and launches of graphs
  std::uint64_t begin_launch_ = 0, begin_time_ = 0, kernels_ = 0, last_time_ = 0;  ///< of the generation
  double novelty_ = 0;
};

}  // namespace roofline::inject
