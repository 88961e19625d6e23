#include "inject/pacer.hpp"

#include <algorithm>
#include <vector>

#include "inject/clock.hpp"

namespace roofline::inject {
namespace {

/// Steps with all callbacks enabled give an upper bound of a step's length, and the cost of callbacks.
constexpr int kWatched = 8;
constexpr int kSkipped = 64;
/// After kSkipped steps, callbacks are disabled for this long, ns.
constexpr std::uint64_t kUntouched = 3 * kSecond;
constexpr std::size_t kRecent = 32;
/// Callbacks are disabled for this fraction of the shortest recent step. The mark of an even shorter step is missed.
constexpr double kSilence = 0.7;
/// A thread cannot reliably wake up earlier, ns.
constexpr std::uint64_t kShortestSilence = kSecond / 5000;
/// An interval longer than this multiple of the median may be two steps.
constexpr double kLongest = 1.6;
constexpr int kMostUnclear = 8;

}  // namespace

bool Pacer::is_step(std::uint64_t elapsed) const {
  if (recent_.empty()) return true;
  std::vector<std::uint64_t> sorted(recent_.begin(), recent_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return static_cast<double>(elapsed) < kLongest * static_cast<double>(*middle);
}

std::uint64_t Pacer::silence() const {
  if (recent_.empty()) return 0;
  return static_cast<std::uint64_t>(kSilence * static_cast<double>(*std::min_element(recent_.begin(), recent_.end())));
}

Pacer::Seen Pacer::seen(std::uint64_t time) {
  Seen result;
  const std::uint64_t elapsed = last_ != 0 ? time - last_ : 0;
  last_ = time;
  if (elapsed == 0) return result;
  if (watched_ < kWatched) {
    ++watched_;
    result.step = true;
  } else {
    ++skipped_;
    result.step = is_step(elapsed);
    unclear_ = result.step ? 0 : unclear_ + 1;
    if (unclear_ >= kMostUnclear) {
      *this = Pacer();  // steps have become longer: learn their length again
      return result;
    }
  }
  if (result.step) {
    recent_.push_back(elapsed);
    if (recent_.size() > kRecent) recent_.pop_front();
  }
  if (watched_ < kWatched) return result;
  if (skipped_ >= kSkipped || silence() < kShortestSilence) {
    *this = Pacer();
    result.look_again = time + kUntouched;
  } else {
    result.look_again = time + silence();
  }
  return result;
}

}  // namespace roofline::inject
