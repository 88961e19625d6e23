// Whether the processor flushes subnormal numbers to zero: a state of each thread.
#pragma once

namespace roofline {

/// For the calling thread, as long as it lives: results and operands (FTZ and DAZ, on Arm FZ). On other processors
/// nothing changes.
void flush_subnormals(bool flush);

}  // namespace roofline
