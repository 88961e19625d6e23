// What a renderer draws: one run, or several laid over each other. A view; the reports have to outlive it.
#pragma once

#include <span>
#include <vector>

#include "report/report.hpp"

namespace roofline {

/// Never empty. The first is the base that the others are compared with; the last is the one that is shown in full.
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
