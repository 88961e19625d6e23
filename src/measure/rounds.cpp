// Three phases, each with its members; the order is shuffled from the second round on.
#include "measure/rounds.hpp"

#include <numeric>
#include <utility>

namespace roofline {

Rounds::Rounds(std::size_t roofs, std::size_t members, RoundTimes times)
    : times_(times), roofs_(roofs), members_(members) {
  begin(Phase::roofs);
}

std::optional<std::size_t> Rounds::next(double now_s, const std::function<bool(std::size_t)>& converged) {
  const bool finishing = times_.whole_first_visits && !visited_all();
  if (now_s >= times_.end_s && !finishing) return std::nullopt;
  if (phase_ == Phase::roofs) {
    const bool first_round = completed_ == 0 && place_ < order_.size();
    if (first_round || now_s < times_.roofs_end_s) {
      if (const auto roof = pick(converged)) return roof;
    }
    if (completed_ == 0) ++completed_;
    begin(Phase::references);
  }
  if (phase_ == Phase::references) {
    while (place_ < order_.size()) {
      if (const std::size_t reference = order_[place_++]; !converged(reference)) return reference;
    }
    begin(Phase::all);
    begin_round();
  }
  return now_s < times_.end_s ? pick(converged) : std::nullopt;
}

/// The next one that is not converged, looking at each twice at most: a round may end in between.
std::optional<std::size_t> Rounds::pick(const std::function<bool(std::size_t)>& converged) {
  for (std::size_t looked_at = 0; looked_at < 2 * order_.size(); ++looked_at) {
    if (place_ == order_.size()) {
      ++completed_;
      begin_round();
    }
    if (const std::size_t member = order_[place_++]; !converged(member)) return member;
  }
  return std::nullopt;
}

void Rounds::begin_round() {
  place_ = 0;
  // Not std::shuffle, whose result is implementation-defined.
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_() % i]);
}

void Rounds::begin(Phase phase) {
  phase_ = phase;
  place_ = 0;
  const std::size_t first = phase == Phase::references ? roofs_ : 0;
  order_.resize((phase == Phase::roofs ? roofs_ : members_) - first);
  std::iota(order_.begin(), order_.end(), first);
}

}  // namespace roofline
