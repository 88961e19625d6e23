// The state that the library keeps for each thread of the program.
#pragma once

#include <array>
#include <cstdint>

#include "inject/call_sites.hpp"
#include "inject/counting.hpp"
#include "inject/graphs.hpp"
#include "inject/spool.hpp"

namespace roofline::inject {

struct Kind;
struct Session;

/// Trivial, so that callbacks that come while a thread ends find it whole.
struct ThreadState {
  struct OpenRange {
    spool::Id range, domain;
    std::uint64_t start;
  };
  struct Call {
    std::uint64_t start = 0;
    std::uint32_t correlation = 0;
    spool::Id place = 0;
    Kind* kind = nullptr;  ///< of a launch, and of a node that is being made
    bool recorded = false, captured = false, counted = false;
    bool working = false;          ///< registered with counting
    bool sampled = false;          ///< registered with instruction sampling
    bool same_input = false;       ///< of a launch
    NodeMemory* memory = nullptr;  ///< owned, of a node that is being made; null: not known
    LaunchSite site = {};          ///< of a counted launch
  };

  const Session* session;  ///< that the rest is of
  std::uint32_t id;        ///< the system's
  std::uint32_t epoch;     ///< the session's, at its last call
  bool announced;          ///< its record is written
  bool working;            ///< in our own code: what it calls is not the program's
  int nesting;             ///< calls of the driver it is in
  Call call;               ///< the outermost of them
  Caller caller;           ///< of our callback, in the call that it is in

  std::array<OpenRange, 64> ranges;
  std::uint32_t open_ranges;  ///< may be more than there is room for

  spool::Place last_origin;  ///< of which last_place is the id
  spool::Id last_place;

  std::uint64_t last_sequence;  ///< of autograd, at the last launch in forward
  const void* python_node;      ///< of autograd, a Python function that was met last
  std::uint64_t python_node_sequence;
  spool::Id python_node_name;
  spool::Id last_backward_line, last_backward_module;

  std::array<spool::Allocation, 16> allocations;  ///< that wait for their place
  std::uint32_t waiting_allocations;

  Graphs::Kernels cloned;  ///< in the call it is in, which may be the instantiation of a graph
};

ThreadState& thread_state(const Session& session);

/// During its lifetime, the thread runs roofline's own code.
class Working {
 public:
  explicit Working(ThreadState& state) : state_(state) { state_.working = true; }
  ~Working() { state_.working = false; }
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

 private:
  ThreadState& state_;
};

/// The place of what the thread launches now. `kernel`: the symbol of a kernel; nullptr: none, or not known.
spool::Id current_place(Session& session, ThreadState& thread, const char* kernel);

}  // namespace roofline::inject
