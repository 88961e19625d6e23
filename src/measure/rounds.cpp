// Round-robin order, shuffled from the second round on.
#include "measure/rounds.hpp"

#include <numeric>
#include <utility>

namespace roofline {

Rounds::Rounds(std::size_t members, RoundTimes times) : times_(times), order_(members) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

std::optional<std::size_t> Rounds::next(double now_s, const std::function<bool()>& converged) {
  const bool finishing = times_.whole_first_round && completed_ == 0 && place_ < order_.size();
  if (order_.empty() || (now_s >= times_.end_s && !finishing)) return std::nullopt;
  if (place_ == order_.size()) {
    ++completed_;
    place_ = 0;
    // Not std::shuffle, whose result is implementation-defined.
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_() % i]);
  }
  if (place_ == 0 && completed_ > 0 && now_s >= times_.least_s && converged()) return std::nullopt;
  return order_[place_++];
}

}  // namespace roofline
