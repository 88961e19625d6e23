// Detects, while a program runs, whether its launches repeat, and which launches and calls occur in each repetition.
//
// A launch that occurs once per step recurs at a constant distance, counted in launches. Of all launch signatures and
// calls with a constant distance, the one with the largest distance gives the repetition. Sequences need not be equal:
// sizes may vary from step to step, and other threads may launch in between.
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

/// A mark that is regular in the program's steps.
struct Candidate {
  Mark mark;
  double per_second = 0;
  std::uint32_t per_repetition = 1;
  std::uint64_t interval = 0;  ///< ns of a repetition, median
};

/// The mark to follow while nothing is recorded: the rarest call if it is rare enough, otherwise a launch. `paced`:
/// following it all the time costs too much, so that a Pacer is needed.
struct MarkerChoice {
  Candidate candidate;
  bool paced = false;
};
std::optional<MarkerChoice> choose_marker(const std::vector<Candidate>& candidates, double launches_per_second);

class Repetitions {
 public:
  void add(const Mark& mark, std::uint64_t time);
  /// A new phase begins: distances and rates are measured from now on, known signatures stay known.
  void restart();

  /// Repetitions since the last restart, or since the last new launch signatures; 0: no repetition.
  std::uint64_t count() const;
  /// How long all of them took, ns, without pauses between loops.
  std::uint64_t length() const;
  /// Possible marks of the steps, most frequent first; empty without repetition.
  std::vector<Candidate> candidates() const;
  /// The program launches one kernel many times in a row, then another one, and does not return to those before it, as
  /// a benchmark of kernels does.
  bool series() const { return first_rows_ >= 2 && outside_ <= kMostBetween; }
  /// The latest launches are all of one kernel.
  bool in_row() const { return row_ >= kRow; }
  /// A kernel that was first launched after the last restart() has been launched many times in a row.
  bool newcomer() const { return newcomer_; }
  /// Launches of kernels, without those of graphs.
  double launches_per_second() const;
  bool any() const { return launches_ > 0; }

 private:
  static constexpr std::size_t kKept = 64;
  static constexpr std::uint64_t kRow = 8, kMostBetween = 64;
  struct Distance {
    std::uint32_t launches = 0;
    std::uint64_t time = 0;
  };
  struct Symbol {
    std::uint64_t seen = 0;   ///< ever
    std::uint32_t phase = 0;  ///< in which it was first seen
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
  static std::uint64_t usual_interval(std::vector<Distance>& distances);
  std::optional<Anchor> anchor() const;
  bool settled() const;
  void begin_generation();
  void follow_row(const Mark& mark, const Symbol& symbol);
  bool current(const Symbol& symbol) const { return symbol.generation == generation_; }

  std::map<Mark, Symbol> symbols_;
  std::uint32_t generation_ = 1;
  std::uint64_t launches_ = 0;                                                     ///< of kernels and graphs
  std::uint64_t begin_launch_ = 0, begin_time_ = 0, kernels_ = 0, last_time_ = 0;  ///< of the generation
  double novelty_ = 0;
  std::uint64_t launch_time_ = 0, new_time_ = 0;  ///< of the latest launch, and of the latest new one
  std::uint64_t others_ = 0;                      ///< launches since that

  std::uint32_t phase_ = 0;
  Mark last_ = {};
  std::uint64_t row_ = 0;         ///< launches of `last_` in a row
  std::uint64_t outside_ = 0;     ///< launches since the last long row
  std::uint64_t first_rows_ = 0;  ///< long rows of all launches of a kernel so far; 0 again if one comes back
  bool newcomer_ = false;
};

}  // namespace roofline::inject
