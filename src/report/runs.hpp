// Input of a renderer: one run, or several to overlay. A view: the reports must outlive it.
#pragma once

#include <span>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// Never empty. The first run is the baseline, the last is shown in full.
class Runs {
 public:
  Runs(const Report& run) : runs_(&run, 1) {}             // NOLINT(google-explicit-constructor)
  Runs(const std::vector<Report>& runs) : runs_(runs) {}  // NOLINT(google-explicit-constructor)

  bool several() const { return runs_.size() > 1; }
  std::size_t size() const { return runs_.size(); }
  const Report& operator[](std::size_t run) const { return runs_[run]; }
  const Report& base() const { return runs_.front(); }
  const Report& last() const { return runs_.back(); }
  auto begin() const { return runs_.begin(); }
  auto end() const { return runs_.end(); }

 private:
  std::span<const Report> runs_;
};

}  // namespace roofline
