// Placement of point labels without overlap, with leader lines for labels that do not fit next to their point. Pure
// geometry, independent of the text.
#pragma once

#include <optional>
#include <vector>

#include "render/chart/geometry.hpp"

namespace roofline {

struct LabelRequest {
  Vec anchor;            ///< the centre of the marker
  double clearance = 0;  ///< the marker's radius
  double width = 0, height = 0;
  double reach = 80;  ///< the farthest that the label may stand from the marker
};

struct LabelSpace {
  Rect bounds;                      ///< labels stay inside
  std::vector<Quad> solid = {};     ///< never touched, nor crossed by a leader: the names of ceilings, ridges
  std::vector<Rect> markers = {};   ///< never touched by a label, crossed by a leader only at need
  std::vector<Quad> leaders = {};   ///< leader lines of placed labels: never covered, crossed only if necessary
  std::vector<Quad> lines = {};     ///< roofs, ridges, trajectories: better not covered
  std::vector<Quad> limits = {};    ///< thin dotted lines: a name of a roof may lie on one at need
  std::vector<Quad> roofline = {};  ///< the two main ones, which are thick: never covered by a label
};

struct LabelPlacement {
  Rect box;
  bool has_leader = false;
  Vec leader_from, leader_to;
};

/// A place for each request, in its order; none where every place would touch something. The same input
/// gives the same output on every machine. Names in a cluster are worth many steps; numbers do with a tenth.
std::vector<std::optional<LabelPlacement>> place_labels(const std::vector<LabelRequest>& requests,
                                                        const LabelSpace& space, std::size_t steps_per_label = 3000);

}  // namespace roofline
