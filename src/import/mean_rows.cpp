#include "import/mean_rows.hpp"

#include <fmt/format.h>

#include <cmath>

#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr const char* kBenchmarkAuthor = "the author of the program";

}  // namespace

MeanRows::MeanRows(ByteSource& source, ImportedKind kind, std::string tool, std::string reason)
    : source_(source), reason_(std::move(reason)), builder_(profile_.trace) {
  profile_.kind = kind;
  profile_.tool = std::move(tool);
  profile_.has_starts = false;
  profile_.trace.times_by = profile_.tool;
  profile_.trace.times = TimeSource::averaged;
}

bool MeanRows::add(const MeanRow& row) {
  constexpr double kMostLaunches = 1 << 23, kLongest = 1e17;
  constexpr std::uint64_t kEnd = 1'000'000'000'000'000'000;
  const bool has_time = row.time_ns > 0 && row.launches >= 1 && row.time_ns * row.launches < kLongest;
  if (!has_time) {
    without_time_.add(row.detail.empty() ? row.name : row.detail);
    return false;
  }
  launches_ += row.launches;
  if (launches_ > kMostLaunches) source_.fail(fmt::format("more than {} launches", kMostLaunches));
  if (clock_ > kEnd) source_.fail("more than 31 years of kernel time");
  const spool::Id kind = builder_.kind({.name = row.name,
                                        .grid = row.grid,
                                        .block = row.block,
                                        .cluster = {},
                                        .dynamic_shared = 0,
                                        .place = builder_.place({.operation = row.detail}),
                                        .cold_caches = row.cold_caches});
  ProcessTrace& trace = profile_.trace;
  if (row.work && !trace.models.contains(kind)) {
    trace.models[kind] = {.work = *row.work, .by = kBenchmarkAuthor, .source = WorkSource::stated};
  }
  if (!row.work) builder_.without_work(kind, reason_);
  // Each launch ends at the rounded sum of the times, so that their sum is exact.
  const std::uint64_t begin = clock_;
  for (double launch = 1; launch <= row.launches; ++launch) {
    spool::Kernel kernel = {};
    kernel.kind = kind;
    kernel.device = row.device;
    kernel.start = clock_;
    clock_ = begin + static_cast<std::uint64_t>(std::llround(launch * row.time_ns));
    kernel.end = clock_;
    trace.kernels.push_back(kernel);
  }
  return true;
}

ImportedProfile MeanRows::finish(std::vector<DeviceFacts> devices) {
  if (devices.empty()) devices.emplace_back();
  for (const DeviceFacts& device : devices) builder_.device(device, source_.name());
  builder_.finish();
  profile_.devices = std::move(devices);
  if (without_time_.count > 0) {
    constexpr int kColumns = 60;
    profile_.notes.push_back(fmt::format("{} left out: no valid time; the first: {}",
                                         counted_noun(without_time_.count, "row was", "rows were"),
                                         shorten(clean_line(without_time_.first), kColumns)));
  }
  return std::move(profile_);
}

std::optional<Work> stated_work(double bytes, Pipe pipe, double flops) {
  Work work;
  work.launches = 0;
  if (std::isfinite(flops) && flops > 0) work.flops[pipe] = flops;
  if (std::isfinite(bytes) && bytes > 0) work.bytes[Level::hbm] = unsplit_traffic(bytes);
  return work.flops.empty() && work.bytes.empty() ? std::nullopt : std::optional(work);
}

}  // namespace roofline
