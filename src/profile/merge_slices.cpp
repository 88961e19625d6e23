#include "profile/merge_slices.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace roofline {
namespace {

/// Short bars of one cell, as they become one.
class SliceRun {
 public:
  void add(const Slice& slice) {
    const double time = slice.end_s - slice.start_s;
    if (count_++ == 0) {
      joined_.start_s = slice.start_s;
      joined_.end_s = slice.end_s;
    }
    joined_.end_s = std::max(joined_.end_s, slice.end_s);
    joined_.busy_s += time;
    auto& [seconds, first] = names_[{slice.point, slice.text, slice.line, slice.state, slice.cause}];
    seconds += time;
    if (first == nullptr) first = &slice;
  }

  /// Appends what was added, and begins again.
  void flush(std::vector<Slice>& slices) {
    if (count_ == 0) return;
    const Slice& named = *longest();
    joined_.point = named.point;
    joined_.text = named.text;
    joined_.line = named.line;
    joined_.state = named.state;
    joined_.cause = named.cause;
    joined_.merged = count_;
    slices.push_back(count_ == 1 ? named : joined_);
    *this = {};
  }

 private:
  using Name =
      std::tuple<int, std::string_view, std::string_view, std::optional<ThreadState>, std::optional<SavingCause>>;

  const Slice* longest() const {
    const auto found = std::ranges::max_element(names_, {}, [](const auto& entry) { return entry.second.first; });
    return found->second.second;
  }

  Slice joined_;
  std::int64_t count_ = 0;
  std::map<Name, std::pair<double, const Slice*>> names_;  ///< seconds, and the first bar of that name
};

std::vector<Slice> merged_slices(const std::vector<Slice>& slices, double cell_s) {
  std::vector<Slice> result;
  SliceRun run;
  double cell = -1;
  for (const Slice& slice : slices) {
    const double own = std::floor(slice.start_s / cell_s);
    const bool is_short = slice.end_s - slice.start_s < cell_s;
    if (own != cell || !is_short) run.flush(result);
    cell = own;
    if (is_short) {
      run.add(slice);
    } else {
      result.push_back(slice);
    }
  }
  run.flush(result);
  return result;
}

std::size_t number_of_bars(const std::vector<Lane>& lanes) {
  std::size_t sum = 0;
  for (const Lane& lane : lanes) sum += lane.slices.size();
  return sum;
}

}  // namespace

void merge_slices(std::vector<Lane>& lanes, double length_s, std::size_t most) {
  if (number_of_bars(lanes) <= most || !(length_s > 0)) return;
  constexpr double kFinest = 1 << 16;  // cells
  std::vector<Lane> joined = lanes;
  for (double cells = kFinest; cells >= 1 && number_of_bars(joined) > most; cells /= 2) {
    for (std::size_t i = 0; i < lanes.size(); ++i) joined[i].slices = merged_slices(lanes[i].slices, length_s / cells);
  }
  lanes = std::move(joined);
}

}  // namespace roofline
