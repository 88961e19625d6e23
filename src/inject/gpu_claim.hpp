// A claim on a GPU that one process of the machine has at a time.
#pragma once

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

}  // namespace roofline::inject
