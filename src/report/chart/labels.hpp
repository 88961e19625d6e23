// Where the names of points go: boxes around their points that touch nothing, with leader lines where a
// box can't stand beside its point. Pure geometry; knows no text.
#pragma once

#include <optional>
#include <vector>

#include "report/chart/geometry.hpp"

namespace roofline {

struct LabelRequest {
  Vec anchor;            ///< the centre of the marker
  double clearance = 0;  ///< the marker's radius
  double width = 0, height = 0;
};

struct LabelSpace {
  Rect bounds;                     ///< labels stay inside
  std::vector<Quad> solid = {};    ///< never touched: markers, the names of ceilings
  std::vector<Quad> leaders = {};  ///< of labels that stand already: never covered, crossed only at need
  std::vector<Quad> lines = {};    ///< roofs and ridges: better not covered
};

struct LabelPlacement {
  Rect box;
  bool has_leader = false;
  Vec leader_from, leader_to;
};

/// A place for each request, in its order; none where every place would touch something. The same input
/// gives the same output on every machine.
std::vector<std::optional<LabelPlacement>> place_labels(const std::vector<LabelRequest>& requests,
                                                        const LabelSpace& space);

}  // namespace roofline
