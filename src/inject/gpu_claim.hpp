// Claims on a GPU that one process of the machine has at a time. Processes in other network namespaces, as those of
// containers, are not seen.
#pragma once

#include <cuda.h>

#include <map>
#include <string>

namespace roofline::inject {

/// Released when the process ends, however it ends. A forked child does not have it.
class GpuClaim {
 public:
  GpuClaim() = default;
  GpuClaim(const GpuClaim&) = delete;
  GpuClaim& operator=(const GpuClaim&) = delete;
  ~GpuClaim() { give(); }

  /// False: another process has it. True where the system has no such names.
  bool take(const std::string& name);
  void give();

 private:
  int socket_ = -1;
};

/// Claims on the counters of GPUs, which count or sample instructions. Where two processes use them at the same time,
/// CUPTI 13.0 reports nothing more to one of them, and crashes as it ends (docs/evidence/profile-counting.md).
class CounterClaims {
 public:
  static constexpr const char* kTaken = "another process that roofline profiles uses the counters of this GPU";

  /// False: another process that roofline profiles has them.
  bool take(CUdevice device);
  void give() { claims_.clear(); }

 private:
  std::map<CUdevice, GpuClaim> claims_;
};

}  // namespace roofline::inject
