// Ctrl-C as a question that long work asks between two batches, not as a sudden end.
#pragma once

namespace roofline {

/// From now on SIGINT and SIGTERM only set a flag, and a write beyond the limit of file sizes fails with EFBIG. A
/// process forked later inherits that; a program that it executes does not.
void catch_interrupts();

/// For work without partial results: from now on they end this process at once, with 130 and without half-written
/// files.
void end_at_interrupts();

/// How often the user has asked to stop.
int interrupts();

/// The last one: SIGINT or SIGTERM, and whether it came from the keyboard and so went to all processes of the terminal.
struct Interrupt {
  int signal = 0;
  bool by_terminal = false;
};
Interrupt last_interrupt();

inline bool interrupted() { return interrupts() > 0; }

}  // namespace roofline
