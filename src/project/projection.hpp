// Projects a report's rows to another machine, by the limit of each row. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine.hpp"
#include "project/energy.hpp"
#include "project/kernel_model.hpp"
#include "project/limits.hpp"
#include "project/row_work.hpp"
#include "report/report.hpp"

namespace roofline {

/// Changes of a projection in addition to the machine.
struct ProjectionOptions {
  bool at_roofs = false;                ///< every kernel with known work takes its attainable time
  bool no_gaps = false;                 ///< GPUs are never idle in a step
  std::string perfect = {};             ///< kernels whose labels match this pattern take their attainable time
  std::optional<TypeChange> type = {};  ///< products of one type run in another
  double batch = 1;                     ///< factor on the samples of a step
  double host = 1;                      ///< speed of the host there over that here
};

struct ProjectedRow {
  std::size_t point = 0;    ///< index into Report::points
  double here_s = 0;        ///< per launch
  double weight = 0;        ///< launches in a step, or in the whole run; of a suite 1
  ProjectedTime there;      ///< per launch
  std::string limit_here;   ///< name of the roof that takes most of its time, or "latency"; empty: unknown
  std::string limit_there;  ///< limit on the other machine
  std::string why_range;    ///< why only a range is known: `there` is then the middle of what the roofs allow
  std::string why_not;      ///< why it can't run there; it is then in no sum
  std::optional<KernelLaunch> launch_here, launch_there;  ///< grid and occupancy, if known on both
  double bytes_here = 0;                                  ///< of main memory, per launch; 0: unknown
  double bytes_there = 0;
  std::map<Pipe, double> flops_there;  ///< per launch

  bool is_projected() const { return why_range.empty() && why_not.empty(); }
};

/// A steady step, in seconds.
struct ProjectedStep {
  double here_s = 0;
  double kernels_s = 0, copies_s = 0, idle_s = 0;  ///< parts of here_s, averaged over the GPUs
  ProjectedTime there;
  double kernels_there_s = 0;
  std::size_t devices = 1;
};

struct Projection {
  std::string machine;             ///< name of the device
  bool own = false;                ///< it is the report's own, with changes: a what-if
  bool measured = true;            ///< false: its roofs are those of a data sheet
  bool program = false;            ///< its rows are a program's kernels, which needs all of them
  std::vector<ProjectedRow> rows;  ///< timed rows, in report order
  double here_s = 0;               ///< weighted sum over all rows that can run there
  ProjectedTime there;
  double projected_share = 0;  ///< fraction of here_s in rows with known work
  double refused_s = 0;        ///< time here of rows that can't run there
  double batch = 1;            ///< samples of a step there over those here
  std::optional<ProjectedStep> step = {};
  std::optional<Energy> energy = {};

  /// False if a program has kernels that can't run there, or if no row of a suite can: then there is no time there.
  bool runs_there() const { return program ? !(refused_s > 0) : here_s > 0; }
  /// The step, or else all rows.
  double whole_here() const { return step ? step->here_s : here_s; }
  const ProjectedTime& whole_there() const { return step ? step->there : there; }
};

/// Price of the projected time, of that many per hour.
inline double price_of(const Projection& projection, double hourly) {
  constexpr double kHour = 3600;
  return hourly * projection.whole_there().seconds / kHour;
}

/// The device kinds must be the same. `onto` may be the report's own machine with other ceilings.
Projection project(const Report& report, const Machine& onto, const ProjectionOptions& options = {});

/// The report as it is projected: the rows in their order, their times there with the range as interval, their bounds
/// on the other machine. A row of which only a range is known, or that can't run there, has no time.
Report projected_report(const Report& report, const Projection& projection, const Machine& onto);

}  // namespace roofline
