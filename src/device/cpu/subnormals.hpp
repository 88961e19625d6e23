// Flushing of subnormal numbers to zero by the processor: a state of each thread.
#pragma once

namespace roofline {

/// For the calling thread, as long as it lives: results and operands (FTZ and DAZ, on Arm FZ). On other processors
/// nothing changes.
void flush_subnormals(bool flush);

/// While it lives; a kernel that throws must not leave the thread so.
struct SubnormalsFlushed {
  SubnormalsFlushed() { flush_subnormals(true); }
  ~SubnormalsFlushed() { flush_subnormals(false); }
  SubnormalsFlushed(const SubnormalsFlushed&) = delete;
  SubnormalsFlushed& operator=(const SubnormalsFlushed&) = delete;
};

}  // namespace roofline
