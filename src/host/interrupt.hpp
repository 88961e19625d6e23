// What SIGINT, SIGTERM and SIGHUP do: a flag that long work reads between two batches, or the end of the process.
#pragma once

namespace roofline {

/// From now on SIGINT, SIGTERM and SIGHUP only set a flag, and a write beyond the limit of file sizes fails with EFBIG.
/// A process forked later inherits that; a program that it executes does not. SIGHUP stays ignored where it is (nohup).
void catch_interrupts();

/// For work without partial results: from now on those signals end this process at once with ExitCode::cancelled,
/// after its unfinished files are removed. It must have no children.
void end_at_interrupts();

/// What such an end writes to stdout: a text that outlives the process's work, or null for nothing.
void set_interrupt_answer(const char* text);

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
