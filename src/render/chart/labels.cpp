// Label placement by simulated annealing over a fixed set of candidates for each label.
//
// Candidates are boxes on rings around the point. What hits something solid is struck out beforehand; the
// rest cost their distance, the lines they cover and the awkwardness of their side. Pairs of labels cost
// dearly where boxes or leaders meet. Annealing from a greedy start beats greedy alone clearly: on the
// standard suite, where six streaming kernels share three intensities, greedy drops two to four labels.
#include "render/chart/labels.hpp"

#include <cmath>
#include <limits>
#include <random>

namespace roofline {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kGap = 3;          // pixels between a marker and the label beside it
constexpr double kPadding = 1.5;    // pixels kept free around a label
constexpr double kLeaderFrom = 7;   // a box that far from its marker needs a leader
constexpr double kConflict = 1000;  // boxes that overlap, boxes that a leader runs through
constexpr double kCrossing = 60;    // leaders that cross
constexpr double kRings[] = {0, 7, 15, 25, 38, 54, 74};
constexpr int kDirections = 24;

struct Candidate {
  LabelPlacement placement;
  Quad box, leader;
  Rect box_bounds, leader_bounds;
  double cost = 0;
};

/// The box whose edge lies `distance` from `anchor` in the direction of `angle`.
Rect box_at(Vec anchor, double angle, double distance, double width, double height) {
  const Vec d = {std::cos(angle), std::sin(angle)};
  // From the centre of the box to its border along d: the smaller of the two distances to a side.
  const double to_side = std::abs(d.x) > 1e-9 ? width / 2 / std::abs(d.x) : std::numeric_limits<double>::infinity();
  const double to_top = std::abs(d.y) > 1e-9 ? height / 2 / std::abs(d.y) : std::numeric_limits<double>::infinity();
  const Vec center = anchor + d * (distance + std::min(to_side, to_top));
  return {center.x - width / 2, center.y - height / 2, width, height};
}

/// The point just outside of the box's border that a leader from `anchor` ends at: the middle of a vertical side, or
/// the nearest point of a horizontal one.
Vec leader_end(const Rect& box, Vec anchor) {
  if (anchor.x < box.x) return {box.x - 1, box.center().y};
  if (anchor.x > box.right()) return {box.right() + 1, box.center().y};
  const double x = std::clamp(anchor.x, box.x + 4, std::max(box.x + 4, box.right() - 4));
  return {x, anchor.y < box.y ? box.y - 1 : box.bottom() + 1};
}

/// Right of the point reads best, then left, then straight above and below.
double side_cost(double angle) { return 2.5 * (1 - std::cos(angle)) + 1.5 * std::abs(std::sin(angle)); }

Rect around(Vec center, double by) { return Rect{center.x, center.y, 0, 0}.inflated(by); }

/// The part of a space that a label can meet: with thousands of points, little of it.
LabelSpace nearby(const LabelRequest& request, const LabelSpace& space) {
  const double far = request.clearance + request.reach + request.width + request.height + 2 * kGap;
  const Rect region = around(request.anchor, far);
  LabelSpace out{.bounds = space.bounds};
  const auto keep = [&](const std::vector<Quad>& from, std::vector<Quad>& to) {
    for (const Quad& q : from)
      if (q.bounds().overlaps(region)) to.push_back(q);
  };
  keep(space.solid, out.solid);
  keep(space.leaders, out.leaders);
  keep(space.lines, out.lines);
  keep(space.limits, out.lines);
  keep(space.roofline, out.roofline);
  for (const Rect& m : space.markers)
    if (m.overlaps(region)) out.markers.push_back(m);
  return out;
}

bool fits(const Candidate& c, const LabelSpace& space) {
  const auto covers = [&](const Rect& marker) { return marker.overlaps(c.box_bounds); };
  return space.bounds.contains(c.placement.box) && std::none_of(space.markers.begin(), space.markers.end(), covers) &&
         !overlaps_any(c.box, space.solid) && !overlaps_any(c.box, space.leaders);
}

/// Adds a leader where the candidate needs one; false if the leader would cross an obstacle.
bool add_leader(Candidate& c, const LabelRequest& request, const LabelSpace& space) {
  const Vec end = leader_end(c.placement.box, request.anchor);
  const Vec toward = end - request.anchor;
  const double reach = length(toward);
  c.placement.has_leader = reach > request.clearance + kLeaderFrom;
  if (!c.placement.has_leader) return true;
  c.placement.leader_from = request.anchor + toward * (request.clearance / reach);
  c.placement.leader_to = end;
  c.leader = Quad::stroke(c.placement.leader_from, end, 1);
  c.leader_bounds = c.leader.bounds();
  if (overlaps_any(c.leader, space.solid)) return false;
  for (const Rect& m : space.markers)
    if (m.overlaps(c.leader_bounds) && !m.contains(request.anchor) && overlap(Quad::from(m), c.leader)) c.cost += 90;
  for (const Quad& q : space.leaders)
    if (overlap(q, c.leader)) c.cost += kCrossing;
  return true;
}

/// True if a label without a leader could be mistaken for that of another point.
bool touches_another(const Candidate& c, const LabelRequest& request, const LabelSpace& space) {
  const Rect near = c.placement.box.inflated(2 * kGap);
  return std::any_of(space.markers.begin(), space.markers.end(),
                     [&](const Rect& m) { return m.overlaps(near) && !m.contains(request.anchor); });
}

std::vector<Candidate> candidates_of(const LabelRequest& request, const LabelSpace& everything) {
  const LabelSpace space = nearby(request, everything);
  std::vector<Candidate> out;
  for (const double ring : kRings) {
    if (ring > request.reach) break;
    for (int i = 0; i < kDirections; ++i) {
      const double angle = 2 * kPi * i / kDirections;
      Candidate c;
      c.placement.box = box_at(request.anchor, angle, request.clearance + kGap + ring, request.width, request.height);
      c.box_bounds = c.placement.box.inflated(kPadding);
      c.box = Quad::from(c.box_bounds);
      if (!fits(c, space)) continue;
      c.cost = side_cost(angle) + 0.22 * ring + (ring > 0 ? 2 : 0);
      for (const Quad& line : space.lines)
        if (overlap(line, c.box)) c.cost += 20;
      // It would strike the letters through.
      if (overlaps_any(c.box, space.roofline)) continue;
      if (!add_leader(c, request, space)) continue;
      if (!c.placement.has_leader && touches_another(c, request, space)) c.cost += 12;
      out.push_back(c);
    }
  }
  return out;
}

double pair_cost(const Candidate& a, const Candidate& b) {
  double cost = 0;
  if (a.box_bounds.overlaps(b.box_bounds)) cost += kConflict;
  if (a.placement.has_leader && a.leader_bounds.overlaps(b.box_bounds) && overlap(a.leader, b.box)) cost += kConflict;
  if (b.placement.has_leader && b.leader_bounds.overlaps(a.box_bounds) && overlap(b.leader, a.box)) cost += kConflict;
  if (a.placement.has_leader && b.placement.has_leader && a.leader_bounds.overlaps(b.leader_bounds) &&
      overlap(a.leader, b.leader))
    cost += kCrossing;
  return cost;
}

/// For each label the others that it could ever meet: few, wherever there are many labels.
std::vector<std::vector<std::size_t>> neighbours_of(const std::vector<std::vector<Candidate>>& candidates) {
  std::vector<Rect> reach;
  for (const auto& own : candidates) {
    Rect all = own.empty() ? Rect{} : own.front().box_bounds;
    for (const Candidate& c : own) {
      all = united(all, c.box_bounds);
      if (c.placement.has_leader) all = united(all, c.leader_bounds);
    }
    reach.push_back(all);
  }
  std::vector<std::vector<std::size_t>> out(candidates.size());
  for (std::size_t i = 0; i < reach.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (reach[i].overlaps(reach[j])) out[i].push_back(j), out[j].push_back(i);
  return out;
}

class Annealer {
 public:
  explicit Annealer(std::vector<std::vector<Candidate>> candidates)
      : candidates_(std::move(candidates)),
        choice_(candidates_.size(), kNone),
        neighbours_(neighbours_of(candidates_)) {}

  void run(std::size_t steps_per_label) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) choose_best(i);
    descend();
    anneal(steps_per_label);
    descend();
    drop_conflicts();
    descend();
  }

  const Candidate* chosen(std::size_t i) const { return choice_[i] == kNone ? nullptr : &candidates_[i][choice_[i]]; }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// The cost of a label at a place, given the current places of the others; stops early above `limit`.
  double cost_of(std::size_t label, std::size_t candidate,
                 double limit = std::numeric_limits<double>::infinity()) const {
    const Candidate& c = candidates_[label][candidate];
    double cost = c.cost;
    for (const std::size_t other : neighbours_[label]) {
      if (cost > limit) break;
      if (choice_[other] != kNone) cost += pair_cost(c, candidates_[other][choice_[other]]);
    }
    return cost;
  }

  bool choose_best(std::size_t label) {
    const std::size_t before = choice_[label];
    double best = before == kNone ? std::numeric_limits<double>::infinity() : cost_of(label, before);
    for (std::size_t c = 0; c < candidates_[label].size(); ++c) {
      // A candidate's own cost is a lower bound of its whole one.
      if (candidates_[label][c].cost >= best) continue;
      const double cost = cost_of(label, c, best);
      if (cost < best) best = cost, choice_[label] = c;
    }
    return choice_[label] != before;
  }

  void descend() {
    for (int sweep = 0; sweep < 30; ++sweep) {
      bool moved = false;
      for (std::size_t i = 0; i < choice_.size(); ++i)
        if (choice_[i] != kNone) moved |= choose_best(i);
      if (!moved) return;
    }
  }

  double total() const {
    double sum = 0;
    for (std::size_t i = 0; i < choice_.size(); ++i) {
      if (choice_[i] == kNone) continue;
      sum += (cost_of(i, choice_[i]) + candidates_[i][choice_[i]].cost) / 2;  // each pair is met twice
    }
    return sum;
  }

  void anneal(std::size_t steps_per_label) {
    std::vector<std::size_t> movable;
    for (std::size_t i = 0; i < choice_.size(); ++i)
      if (candidates_[i].size() > 1) movable.push_back(i);
    if (movable.empty()) return;
    // mt19937's own sequence is fixed by the standard; distributions' are not.
    std::mt19937 engine(7);
    const auto below = [&engine](std::size_t n) { return static_cast<std::size_t>(engine() % n); };
    const int steps = static_cast<int>(std::min<std::size_t>(steps_per_label * movable.size(), 80000));
    double now = total(), best = now;
    std::vector<std::size_t> best_choice = choice_;
    std::vector<std::optional<double>> current(candidates_.size());  // costs as they are, until a neighbour moves
    for (int step = 0; step < steps; ++step) {
      const double temperature = 60 * std::pow(0.01, static_cast<double>(step) / steps);
      const std::size_t label = movable[below(movable.size())];
      const std::size_t candidate = below(candidates_[label].size());
      if (!current[label]) current[label] = cost_of(label, choice_[label]);
      // Drawn first: it limits the candidate's cost, and most candidates exceed the limit early.
      const double dice = static_cast<double>(engine()) / 4294967296.0;
      const double most = *current[label] + (dice > 0 ? -std::log(dice) * temperature : kConflict * kConflict);
      const double cost = cost_of(label, candidate, most);
      if (cost > most) continue;
      choice_[label] = candidate;
      now += cost - *current[label];
      current[label] = cost;
      for (const std::size_t other : neighbours_[label]) current[other].reset();
      if (now < best - 1e-9) best = now, best_choice = choice_;
    }
    choice_ = best_choice;
  }

  /// Removes the label with the most conflicts until none conflict.
  void drop_conflicts() {
    for (;;) {
      std::size_t worst = kNone;
      double worst_cost = kConflict / 2;  // leaders that cross cost less, and sums are not exact
      for (std::size_t i = 0; i < choice_.size(); ++i) {
        if (choice_[i] == kNone) continue;
        const Candidate& c = candidates_[i][choice_[i]];
        const double conflicts = cost_of(i, choice_[i]) - c.cost;
        if (conflicts >= worst_cost) worst = i, worst_cost = conflicts;
      }
      if (worst == kNone) return;
      choice_[worst] = kNone;
    }
  }

  std::vector<std::vector<Candidate>> candidates_;
  std::vector<std::size_t> choice_;
  std::vector<std::vector<std::size_t>> neighbours_;
};

}  // namespace

std::vector<std::optional<LabelPlacement>> place_labels(const std::vector<LabelRequest>& requests,
                                                        const LabelSpace& space, std::size_t steps_per_label) {
  std::vector<std::vector<Candidate>> candidates;
  candidates.reserve(requests.size());
  for (const LabelRequest& request : requests) candidates.push_back(candidates_of(request, space));
  Annealer annealer(std::move(candidates));
  annealer.run(steps_per_label);
  std::vector<std::optional<LabelPlacement>> out;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Candidate* chosen = annealer.chosen(i);
    out.push_back(chosen ? std::optional(chosen->placement) : std::nullopt);
  }
  return out;
}

}  // namespace roofline
