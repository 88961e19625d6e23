// Sums over pipes and levels.
#include "model/work.hpp"
#include "model/find.hpp"

#include <limits>

namespace roofline {

double Work::total_flops() const {
  double sum = 0;
  for (const auto& [pipe, count] : flops) sum += count;
  return sum;
}

std::map<Pipe, double> Work::operations() const {
  std::map<Pipe, double> sum = flops;
  for (const auto& [pipe, count] : uncounted) sum[pipe] += count;
  return sum;
}

std::optional<Pipe> dominant_pipe(const Work& work) {
  const auto most = largest_entry(work.flops);
  return most == work.flops.end() ? std::nullopt : std::optional(most->first);
}

double arithmetic_intensity(const Work& work, Level level) {
  const double flops = work.total_flops();
  const auto found = work.bytes.find(level);
  const double bytes = found == work.bytes.end() ? 0 : found->second.total();
  if (bytes > 0) return flops / bytes;
  return flops > 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace roofline
