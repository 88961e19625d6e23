// Projects a report's rows to another machine, by the limit of each row. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.hpp"
#include "report/report.hpp"

namespace roofline {

/// A projected time, with the range that the model allows.
struct ProjectedTime {
  double seconds = 0, low = 0, high = 0;

  void add(const ProjectedTime& other);
  ProjectedTime times(double factor) const;
};

/// Changes of a projection in addition to the machine.
struct ProjectionOptions {
  bool at_roofs = false;  ///< every kernel with known work takes its attainable time
  bool no_gaps = false;   ///< GPUs are never idle in a step
};

struct ProjectedRow {
  std::size_t point = 0;    ///< index into Report::points
  double here_s = 0;        ///< per launch
  double weight = 0;        ///< launches in a step, or in the whole run; of a suite 1
  ProjectedTime there;      ///< per launch
  std::string limit_here;   ///< name of the roof that takes most of its time, or "latency"; empty: unknown
  std::string limit_there;  ///< limit on the other machine
  std::string why_range;  ///< why only a range is known: `there` is then the middle of what the roofs allow; empty: it
                          ///< is projected
};

/// A steady step, in seconds.
struct ProjectedStep {
  double here_s = 0;
  double kernels_s = 0, copies_s = 0, idle_s = 0;  ///< parts of here_s, averaged over the GPUs
  ProjectedTime there;
};

struct Projection {
  std::string machine;             ///< name of the device
  bool own = false;                ///< it is the report's own, with changes: a what-if
  bool measured = true;            ///< false: its roofs are those of a data sheet
  std::vector<ProjectedRow> rows;  ///< timed rows, in report order
  double here_s = 0;               ///< weighted sum over all rows
  ProjectedTime there;
  double projected_share = 0;  ///< fraction of here_s in rows with known work
  std::optional<ProjectedStep> step = {};

  /// The step, or else all rows.
  double whole_here() const { return step ? step->here_s : here_s; }
  const ProjectedTime& whole_there() const { return step ? step->there : there; }
};

/// The device kinds must be the same. `onto` may be the report's own machine with other ceilings.
Projection project(const Report& report, const Machine& onto, const ProjectionOptions& options = {});

/// The report as it is projected: the rows in their order, their times there with the range as interval, their bounds
/// on the other machine. A row of which only a range is known has no time.
Report projected_report(const Report& report, const Projection& projection, const Machine& onto);

/// Multiplies the ceilings whose names match `glob` ("hbm.*", "tensor.bf16"). The number of them.
std::size_t scale_ceilings(Machine& machine, std::string_view glob, double factor);

}  // namespace roofline
