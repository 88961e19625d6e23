// FLOPs and bytes from the hardware counters of AMD GPUs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/imported.hpp"

namespace roofline {

/// Sums counters of dispatches by launch signature. A counter's value of a signature is its mean over the dispatches
/// that have it: tools collect counters in several runs.
class RocmCounters {
 public:
  /// True if FLOPs or bytes depend on that counter.
  static bool wants(std::string_view counter);

  /// The value of one dispatch, over all instances of the counter.
  void add(spool::Id kind, std::string_view counter, double value);
  bool empty() const { return kinds_.empty(); }

  /// Gives each signature its work, or the reason why it has none. `arch`: "gfx90a"; empty: unknown. `by` counted.
  /// Returns what the report has to say about the counters.
  std::vector<std::string> put_work(ProcessTrace& trace, TraceBuilder& builder, std::string_view arch,
                                    const std::string& by) const;

 private:
  struct Sum {
    double value = 0, dispatches = 0;
  };
  std::map<spool::Id, std::map<std::string, Sum, std::less<>>> kinds_;
};

/// The last step of all readers of rocprofv3's formats: devices, times in order, and work from the counters. A profile
/// without devices gets one of which nothing is known. `file`: for messages.
void finish_rocprofv3(ImportedProfile& profile, TraceBuilder& builder, const RocmCounters& counters,
                      const std::string& file);

/// The means of a launch signature by counter.
using RocmMeans = std::map<std::string, double, std::less<>>;

/// What the counters of a signature say.
struct RocmWork {
  Work work = {};
  bool has_flops = false;  ///< all types of operands that the counters cover; 0 if there are none
  bool has_bytes = false;
  std::string_view why_not = {};  ///< of neither
};

/// The formulas of rocprof-compute (roofline_calc.py): 64 lanes per vector instruction, 512 operations per unit of an
/// MFMA counter, and 32, 64 and 128 bytes per request of the L2 cache to memory.
RocmWork rocm_work(const RocmMeans& means, std::string_view arch);

}  // namespace roofline
