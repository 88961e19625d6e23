// Places: the innermost range of a thread, and where in the program's Python or native code it is.
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/python.hpp"
#include "inject/session.hpp"
#include "inject/thread_state.hpp"
#include "inject/torch.hpp"

namespace roofline::inject {

ThreadState& thread_state(const Session& session) {
  static thread_local ThreadState state;
  if (state.session != &session) {
    state = {};
    state.session = &session;
    state.id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  }
  return state;
}

spool::Id current_place(Session& session, ThreadState& thread, const char* kernel) {
  spool::Place origin = {};
  if (thread.open_ranges > 0) {
    const std::size_t last = thread.ranges.size() - 1;
    origin.range = thread.ranges[thread.open_ranges > last ? last : thread.open_ranges - 1].range;
  }
  if (session.python) {
    const PythonOrigin python = python_origin(session);
    origin.line = python.line;
    origin.module = python.module;
    add_autograd(session, thread, python, origin);
    // A hook computes with gradients of many modules: what it launches belongs to none of them.
    if (python.hook != 0) {
      origin.line = python.hook;
      origin.module = 0;
    }
  }
  if (origin.line == 0) origin.code = session.call_sites.of(thread.caller, kernel);
  const spool::Place& known = thread.last_origin;
  if (origin.range != known.range || origin.line != known.line || origin.module != known.module ||
      origin.backward != known.backward || origin.operation != known.operation || origin.code != known.code) {
    thread.last_origin = origin;
    thread.last_place = session.spool.place(origin);
  }
  return thread.last_place;
}

}  // namespace roofline::inject
