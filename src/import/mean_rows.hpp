// Files that have one mean time per row and no launches: benchmarks, layers, sums of kernels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/byte_source.hpp"
#include "import/imported.hpp"
#include "model/work.hpp"

namespace roofline {

struct MeanRow {
  std::string name;
  std::string detail = {};  ///< what distinguishes it from others of that name: the values of a benchmark's axes
  double time_ns = 0;       ///< of a launch
  double launches = 1;
  std::uint32_t device = 0;
  std::array<std::uint32_t, 3> grid = {}, block = {};
  std::optional<Work> work = {};  ///< of a launch, as the author of the program states it
  bool cold_caches = false;       ///< the tool flushes the caches before each launch
};

/// Collects rows as a profile whose launches follow each other.
class MeanRows {
 public:
  /// `reason`: why a row without work has none.
  MeanRows(ByteSource& source, ImportedKind kind, std::string tool, std::string reason);

  /// False if the time is invalid (zero, negative, beyond 10^17 ns); such rows are counted and noted. Throws UsageError
  /// above 8 million launches.
  bool add(const MeanRow& row);
  bool empty() const { return profile_.trace.kernels.empty(); }
  std::vector<std::string>& notes() { return profile_.notes; }
  ImportedProfile finish(std::vector<DeviceFacts> devices);

 private:
  ByteSource& source_;
  std::string reason_;
  ImportedProfile profile_;
  TraceBuilder builder_;
  std::uint64_t clock_ = 1;
  double launches_ = 0;
  DefectiveRecords without_time_ = {};
};

/// Work that is stated as rates; std::nullopt if none is positive. Reads and writes are not distinguished.
std::optional<Work> stated_work(double bytes, Pipe pipe, double flops);

}  // namespace roofline
