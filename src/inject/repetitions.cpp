#include "inject/repetitions.hpp"

#include <algorithm>
#include <cmath>

namespace roofline::inject {
namespace {

constexpr std::uint64_t kNew = 4;       // the first launches of a signature count as new
constexpr double kMemory = 1.0 / 1024;  // weight of a launch in the moving average of new ones
constexpr double kSettled = 0.02;       // largest share of new launches in a program that repeats
// After a start-up of thousands of new launches, one that launches a graph per step would not have settled by their
// share for minutes: this long without a new one is enough, too, with as many others meanwhile.
constexpr std::uint64_t kNothingNew = 2'000'000'000, kOthers = 16;
constexpr std::uint64_t kFewest = 4;  // distances that are needed to show a repetition
constexpr double kRegular = 0.8;      // fraction of the distances that must be equal
constexpr double kTolerance = 0.02;   // relative difference of equal distances
constexpr double kCoverage = 0.6;     // fraction of all launches that repetitions must contain
constexpr std::uint64_t kPauseOverMedian = 10;
constexpr std::size_t kFewestPauses = 2;
constexpr double kShareOfPauses = 0.03;
constexpr std::uint32_t kMostInOne = 16;  // occurrences of one mark per repetition
constexpr std::size_t kMostSymbols = 1 << 14;

/// A callback takes about 1 us: following this many in a second costs a program 0.5 %.
constexpr double kMostPerSecond = 5000;

bool alike(double a, double b) { return std::abs(a - b) <= std::max(1.0, kTolerance * b); }

}  // namespace

/// The median, so that pauses between loops do not count. A host that runs ahead launches in bursts, each after a pause
/// in which the GPU works: where pauses come time and again, the mean.
std::uint64_t Repetitions::usual_interval(std::vector<Distance>& distances) {
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end(),
                   [](const Distance& a, const Distance& b) { return a.time < b.time; });
  const std::uint64_t median = middle->time;
  const auto long_ones = static_cast<std::size_t>(std::count_if(
      middle, distances.end(), [&](const Distance& one) { return one.time > kPauseOverMedian * median; }));
  if (long_ones < kFewestPauses || long_ones < kShareOfPauses * static_cast<double>(distances.size())) return median;
  std::uint64_t all = 0;
  for (const Distance& one : distances) all += one.time;
  return all / distances.size();
}

std::vector<Repetitions::Distance> Repetitions::Symbol::distances() const {
  std::vector<Distance> result;
  const std::uint64_t kept = std::min<std::uint64_t>(count, kKept);
  for (std::uint64_t i = count - kept; i < count; ++i) result.push_back(recent[i % kKept]);
  return result;
}

bool Repetitions::settled() const {
  return novelty_ < kSettled || (others_ >= kOthers && launch_time_ - new_time_ >= kNothingNew);
}

void Repetitions::restart() {
  ++phase_;
  newcomer_ = false;
  begin_generation();
}

void Repetitions::begin_generation() {
  ++generation_;
  begin_launch_ = launches_;
  begin_time_ = last_time_;
  kernels_ = 0;
}

void Repetitions::add(const Mark& mark, std::uint64_t time) {
  const bool launch = mark.what != Mark::What::call;
  if (launch) ++launches_;
  if (mark.what == Mark::What::launch) ++kernels_;
  last_time_ = std::max(last_time_, time);
  if (begin_time_ == 0) begin_time_ = time;
  auto found = symbols_.find(mark);
  if (found == symbols_.end()) {
    if (symbols_.size() >= kMostSymbols) return;
    found = symbols_.emplace(mark, Symbol()).first;
    found->second.phase = phase_;
  }
  Symbol& symbol = found->second;
  const bool is_new = ++symbol.seen <= kNew;
  if (launch) {
    const bool before = settled();
    novelty_ += kMemory * ((is_new ? 1.0 : 0.0) - novelty_);
    launch_time_ = last_time_;
    others_ = is_new ? 0 : others_ + 1;
    if (is_new) new_time_ = launch_time_;
    if (settled() != before) begin_generation();
    follow_row(mark, symbol);
  }
  if (current(symbol)) {
    symbol.recent[symbol.count++ % kKept] = {static_cast<std::uint32_t>(launches_ - symbol.last_launch),
                                             time > symbol.last_time ? time - symbol.last_time : 0};
  } else {
    symbol.generation = generation_;
    symbol.count = 0;
  }
  symbol.last_launch = launches_;
  symbol.last_time = time;
}

void Repetitions::follow_row(const Mark& mark, const Symbol& symbol) {
  row_ = mark == last_ ? row_ + 1 : 1;
  last_ = mark;
  outside_ = row_ < kRow ? outside_ + 1 : 0;
  if (row_ != kRow) return;
  const bool first = symbol.seen == row_;
  first_rows_ = first ? first_rows_ + 1 : 0;
  newcomer_ |= first && symbol.phase == phase_;
}

std::optional<Repetitions::Anchor> Repetitions::anchor() const {
  if (!settled()) return std::nullopt;
  std::optional<Anchor> best;
  for (const auto& [mark, symbol] : symbols_) {
    if (!current(symbol) || symbol.count < kFewest) continue;
    std::vector<Distance> distances = symbol.distances();
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end(),
                     [](const Distance& a, const Distance& b) { return a.launches < b.launches; });
    const std::uint32_t usual = middle->launches;
    if (usual == 0 || (best && usual <= best->launches)) continue;
    const auto equal = std::count_if(distances.begin(), distances.end(),
                                     [usual](const Distance& one) { return alike(one.launches, usual); });
    if (static_cast<double>(equal) < kRegular * static_cast<double>(distances.size())) continue;
    const double covered = static_cast<double>(symbol.count * usual);
    if (covered < kCoverage * static_cast<double>(launches_ - begin_launch_)) continue;
    best = Anchor{usual, usual_interval(distances), symbol.count};
  }
  return best;
}

std::uint64_t Repetitions::count() const {
  const std::optional<Anchor> found = anchor();
  return found ? found->count : 0;
}

std::uint64_t Repetitions::length() const {
  const std::optional<Anchor> found = anchor();
  return found ? found->count * found->interval : 0;
}

std::vector<Candidate> Repetitions::candidates() const {
  std::vector<Candidate> result;
  const std::optional<Anchor> found = anchor();
  const double elapsed = static_cast<double>(last_time_ - begin_time_) * 1e-9;
  if (!found || !(elapsed > 0)) return result;
  for (const auto& [mark, symbol] : symbols_) {
    if (!current(symbol) || symbol.count < kFewest) continue;
    const std::vector<Distance> distances = symbol.distances();
    double all = 0;
    for (const Distance& one : distances) all += one.launches;
    const double mean = all / static_cast<double>(distances.size());
    const double times = mean > 0 ? std::round(static_cast<double>(found->launches) / mean) : 0;
    if (times < 1 || times > kMostInOne || distances.size() < kFewest * static_cast<std::size_t>(times)) continue;
    // From each one to the same one of the next repetition.
    const auto stride = static_cast<std::size_t>(times);
    std::size_t windows = 0, equal = 0;
    for (std::size_t begin = 0; begin + stride <= distances.size(); ++begin, ++windows) {
      double sum = 0;
      for (std::size_t i = 0; i < stride; ++i) sum += distances[begin + i].launches;
      if (alike(sum, static_cast<double>(found->launches))) ++equal;
    }
    if (static_cast<double>(equal) < kRegular * static_cast<double>(windows)) continue;
    result.push_back(
        {mark, static_cast<double>(symbol.count) / elapsed, static_cast<std::uint32_t>(stride), found->interval});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Candidate& a, const Candidate& b) { return a.per_second > b.per_second; });
  return result;
}

double Repetitions::launches_per_second() const {
  const double elapsed = static_cast<double>(last_time_ - begin_time_) * 1e-9;
  return elapsed > 0 ? static_cast<double>(kernels_) / elapsed : 0;
}

std::optional<MarkerChoice> choose_marker(const std::vector<Candidate>& candidates, double launches_per_second) {
  const Candidate* call = nullptr;
  const Candidate* launch = nullptr;
  for (const Candidate& one : candidates) {
    const Candidate*& best = one.mark.what == Mark::What::launch ? launch : call;
    if (best == nullptr || one.per_second < best->per_second) best = &one;
  }
  if (call != nullptr && call->per_second <= kMostPerSecond) return MarkerChoice{*call, false};
  if (launch != nullptr && launches_per_second <= kMostPerSecond) return MarkerChoice{*launch, false};
  // A mark that occurs several times per step has unequal intervals, so pacing could not separate the steps.
  if (call != nullptr && call->per_repetition == 1) return MarkerChoice{*call, true};
  if (launch != nullptr && launch->per_repetition == 1) return MarkerChoice{*launch, true};
  return std::nullopt;
}

}  // namespace roofline::inject
