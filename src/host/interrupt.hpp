// Handling of SIGINT, SIGTERM and SIGHUP: a flag that long work polls, or the end of the process.
#pragma once

namespace roofline {

/// Makes SIGINT, SIGTERM and SIGHUP set a flag only, and writes beyond the file-size limit fail with EFBIG. Forked
/// processes inherit this, executed programs do not. An ignored SIGHUP stays ignored (nohup).
void catch_interrupts();

/// For work without partial results: these signals now end the process with ExitCode::cancelled, after removing its
/// unfinished files. The process must have no children.
void end_at_interrupts();

/// Text that end_at_interrupts() writes to stdout; it must outlive the process's work. Null: none.
void set_interrupt_answer(const char* text);

/// Number of interrupts by the user.
int interrupts();

/// The last one: SIGINT or SIGTERM, and whether it came from the keyboard and so went to all processes of the terminal.
struct Interrupt {
  int signal = 0;
  bool by_terminal = false;
};
Interrupt last_interrupt();

inline bool interrupted() { return interrupts() > 0; }

}  // namespace roofline
