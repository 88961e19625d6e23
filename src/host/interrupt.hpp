// Ctrl-C as a question that long work asks between two batches, not as a sudden end.
#pragma once

namespace roofline {

/// From now on SIGINT and SIGTERM only set a flag. A process forked later inherits that.
void catch_interrupts();

/// How often the user has asked to stop.
int interrupts();

inline bool interrupted() { return interrupts() > 0; }

}  // namespace roofline
