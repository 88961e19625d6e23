// Marks of the families beside their rows, as in the chart.
#pragma once

#include <map>
#include <string>

#include "report/runs.hpp"

namespace roofline {

class Marks {
 public:
  explicit Marks(const Runs& runs);

  /// The markers of all families, in the chart's shapes, for the others to refer to. Once a page.
  std::string shapes() const;
  /// The families by their markers, for windows that are too narrow for the chart's own legend; empty for one.
  std::string legend() const;
  /// The marker of a point's family.
  const std::string& of(const Point& point) const;

 private:
  std::map<std::string, std::string> marks_;  ///< by family
};

}  // namespace roofline
