#include "inject/trace.hpp"

#include <sys/prctl.h>

#include <atomic>
#include <memory>
#include <utility>

#include "cupti/profiler.hpp"
#include "inject/clock.hpp"
#include "inject/collectives.hpp"
#include "inject/copy_sources.hpp"
#include "inject/counting.hpp"
#include "inject/cupti_library.hpp"
#include "inject/instruction_sampling.hpp"
#include "inject/launch_arguments.hpp"
#include "inject/memory.hpp"
#include "inject/sampling.hpp"
#include "inject/subscription.hpp"
#include "inject/thread_state.hpp"
#include "inject/xla_graphs.hpp"

namespace roofline::inject {
namespace {

std::atomic<int> captures;

bool is_launch(spool::CallKind kind) {
  return kind == spool::CallKind::launch || kind == spool::CallKind::graph_launch;
}

/// True for calls that counting delays while the GPU must be idle.
bool gives_work(spool::CallKind kind) {
  return is_launch(kind) || kind == spool::CallKind::copy || kind == spool::CallKind::fill ||
         kind == spool::CallKind::load;
}

bool is_captured(CUstream stream, bool per_thread) {
  if (captures.load(std::memory_order_relaxed) <= 0) return false;
  const auto ask = per_thread ? driver().stream_is_capturing_ptsz : driver().stream_is_capturing;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  // Even a query of the legacy stream is an error while another stream is captured.
  return ask == nullptr || ask(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/// True if the present call belongs to the window, which launches begin and end.
bool in_window(Session& session, bool launch, std::uint32_t correlation) {
  const Phase phase = session.phase.load(std::memory_order_acquire);
  if (phase == Phase::recording && session.window == 0) return true;
  if (phase == Phase::recording) {
    if (now() < window_end(session)) return true;
    end_window(session);
  } else if (phase == Phase::warming && launch) {
    const std::uint64_t time = now();
    std::uint64_t first = 0;
    if (session.first_launch.compare_exchange_strong(first, time)) first = time;
    if (time < first + session.warmup) return false;
    begin_window(session, correlation);
    return true;
  }
  if (session.phase.load() == Phase::draining && launch && !session.end_correlation_known) {
    session.end_correlation = correlation;
    session.end_correlation_known = true;
  }
  return false;
}

void announce(Session& session, ThreadState& thread) {
  if (thread.announced) return;
  thread.announced = true;
  char name[17] = {};
  prctl(PR_GET_NAME, name);
  session.spool.write(spool::Type::thread, spool::Thread{thread.id, session.spool.text(name)});
}

/// The time that counting has taken from the program's thread since then.
void note_counting_delay(Session& session, std::uint64_t since) {
  constexpr std::uint64_t kNoticeable = 20'000;
  const std::uint64_t time = now();
  if (time - since < kNoticeable) return;
  session.spool.write(spool::Type::overhead,
                      spool::Overhead{since, time, session.spool.text(spool::kCountingOverhead), 0});
}

/// A kernel becomes a node of a graph.
Kind& node_of(Session& session, ThreadState::Call& state, const KernelLaunch& launch) {
  std::unique_ptr<NodeMemory> memory;
  Kind& kind = session.kinds.of_node(launch, state.place, memory);
  state.memory = memory.release();
  return kind;
}

void enter_launch(Session& session, ThreadState& thread, const DriverCall& call, const CUpti_CallbackData& data) {
  ThreadState::Call& state = thread.call;
  const LaunchArguments arguments = launch_arguments(call.arguments, data);
  state.captured = is_captured(arguments.stream, call.per_thread_stream);
  if (!state.recorded && !state.captured) return;
  state.place = current_place(session, thread, arguments.kernel.symbol);
  place_allocations(session, thread, state.place);
  if (arguments.graph != nullptr) {
    const Graphs::Kernels kernels = session.graphs.kernels(arguments.graph);
    state.kind = &session.kinds.of_graph(kernels.count, kernels.signature, state.place);
    session.graphs.run(arguments.graph, session.kinds.inputs());
  } else if (state.captured) {
    state.kind = &node_of(session, state, arguments.kernel);
  } else {
    state.kind = &session.kinds.of_kernel(arguments.kernel, state.place, state.same_input);
  }
  if (state.captured) return;
  if (session.instructions != nullptr && !capturing()) session.instructions->before_launch(data.context);
  const std::uint64_t number = ++state.kind->launches;
  session.kinds.launched(*state.kind, data.correlationId);
  state.site = {.context = data.context,
                .stream = arguments.stream,
                .kind = state.kind->id,
                .alike = state.kind->alike,
                .flags = state.kind->flags,
                .number = number,
                .usual = state.kind->usual_time(),
                .graph = arguments.graph,
                .correlation = data.correlationId};
  if (!counting_asks()) return;
  const std::uint64_t before = now();
  state.counted = counting_enters(state.site);
  note_counting_delay(session, before);
}

void enter(Session& session, ThreadState& thread, const DriverCall& call, const CUpti_CallbackData& data) {
  if (thread.nesting++ != 0) return;
  ThreadState::Call& state = thread.call;
  delete state.memory;  // of a call that made no node
  state = {};
  state.correlation = data.correlationId;
  if (call.arguments == Arguments::begin_capture) {
    counting_capture_begins();
    // Launches in a capture give the names of the graph's kernels, which their records lack.
    if (session.sampling != nullptr) session.sampling->capture_begins();
  }
  if (thread.cloned.cloned) session.graphs.forget_cloned(thread.id);
  thread.cloned = {};
  state.recorded = call.recorded && in_window(session, is_launch(call.kind), data.correlationId);
  if (is_launch(call.kind)) {
    enter_launch(session, thread, call, data);
  } else if (call.arguments == Arguments::kernel_node) {
    KernelLaunch node;
    if (!node_arguments(data, node)) return;
    state.place = current_place(session, thread, nullptr);
    state.kind = &node_of(session, state, node);
  } else if (call.arguments == Arguments::any_node) {
    KernelLaunch node;
    state.place = current_place(session, thread, nullptr);
    if (any_node_arguments(data, node)) state.kind = &node_of(session, state, node);
  } else if (state.recorded || captures.load(std::memory_order_relaxed) > 0) {
    state.place = current_place(session, thread, nullptr);
    if (call.kind == spool::CallKind::copy || call.kind == spool::CallKind::fill) {
      place_allocations(session, thread, state.place);
      remember_place(data.correlationId, state.place);
      state.memory = follow_transfer(session, call, data, state.recorded).release();
    }
  }
  if (call.memory != MemoryCall::none) enters_memory_call(session, thread, call.memory, data.functionParams);
  if (gives_work(call.kind) && !state.counted) state.working = counting_work_begins();
  if (gives_work(call.kind) && session.instructions != nullptr && session.instructions->on()) {
    state.sampled = true;
    session.instructions->work_begins();
  }
  state.start = now();
}

void learn_memory(Arguments arguments, const void* given) {
  if (arguments == Arguments::memory) {
    const auto& call = *static_cast<const cuMemAlloc_v2_params*>(given);
    if (call.dptr != nullptr) Kinds::remember_memory(*call.dptr, call.bytesize);
  } else if (arguments == Arguments::pitched) {
    const auto& call = *static_cast<const cuMemAllocPitch_v2_params*>(given);
    if (call.dptr != nullptr && call.pPitch != nullptr) Kinds::remember_memory(*call.dptr, *call.pPitch * call.Height);
  } else if (arguments == Arguments::registered) {
    const auto& call = *static_cast<const cuMemHostRegister_v2_params*>(given);
    Kinds::remember_memory(reinterpret_cast<std::uintptr_t>(call.p), call.bytesize);
  }
}

void leave(Session& session, ThreadState& thread, const DriverCall& call, CUpti_CallbackId id,
           const CUpti_CallbackData& data) {
  const std::uint64_t end = now();
  if (thread.nesting == 0 || --thread.nesting != 0) return;
  ThreadState::Call& state = thread.call;
  const auto* const status = static_cast<const CUresult*>(data.functionReturnValue);
  const bool succeeded = status == nullptr || *status == CUDA_SUCCESS;
  if (state.counted) {
    counting_exits(state.site, succeeded);
    note_counting_delay(session, end);
  }
  if (state.working) counting_work_ends();
  if (state.sampled) session.instructions->work_ends();
  if (call.arguments == Arguments::begin_capture && succeeded) ++captures;
  if (call.arguments == Arguments::end_capture && captures > 0 && --captures == 0 && session.sampling != nullptr) {
    session.sampling->captures_end();
  }
  if (call.arguments == Arguments::end_capture || (call.arguments == Arguments::begin_capture && !succeeded)) {
    counting_capture_ends();
  }
  if (succeeded) learn_memory(call.arguments, data.functionParams);
  if (call.memory != MemoryCall::none && (succeeded || *status == CUDA_ERROR_OUT_OF_MEMORY)) {
    if (!succeeded && !state.recorded) current_place(session, thread, nullptr);
    leaves_memory_call(session, thread, call.memory, data.functionParams, succeeded);
  }
  if (!state.recorded || session.phase.load(std::memory_order_relaxed) == Phase::ended) return;
  announce(session, thread);
  if (!is_launch(call.kind)) {
    session.spool.write(spool::Type::call, spool::Call{state.start, end, state.correlation,
                                                       subscription().name_of(session.spool, id, data.functionName),
                                                       call.kind, thread.id, state.place, 0});
  } else if (succeeded && state.kind != nullptr) {
    const std::uint32_t flags = (state.counted ? spool::kCounted : 0U) | (state.captured ? spool::kCaptured : 0U) |
                                (state.same_input ? spool::kSameInput : 0U);
    session.spool.write(spool::Type::launch,
                        spool::Launch{state.start, end, state.correlation, state.kind->id, thread.id, flags});
    if (!state.captured) ++session.launches;
    if (!state.captured) note_collective_launch(state.correlation);
  }
}

void keep_module(Session& session, const CUpti_ResourceData& data) {
  if (session.instructions == nullptr || data.resourceDescriptor == nullptr) return;
  const auto& module = *static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor);
  session.instructions->modules().loaded(module.pCubin, module.cubinSize);
}

void on_resource(Session& session, ThreadState& thread, CUpti_CallbackId id, const CUpti_ResourceData& data) {
  const auto& graph = *static_cast<const CUpti_GraphData*>(data.resourceDescriptor);
  std::uint64_t node = 0, original = 0;
  switch (id) {
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
      if (session.instructions != nullptr) session.instructions->context_destroyed(data.context);
      counting_context_destroyed(data.context);
      flush_activities(true);
      session.spool.flush();
      break;
    case CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
      session.kinds.forget_functions();
      break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
      // A kernel's, if a launch or a kernel node's making is under way; the callback itself says of all nodes that they
      // are kernels.
      if (thread.nesting == 0 || cupti().graph_node_id(graph.node, &node) != CUPTI_SUCCESS) break;
      session.graphs.made(node, {thread.call.kind,
                                 thread.call.place,
                                 std::shared_ptr<const NodeMemory>(std::exchange(thread.call.memory, nullptr)),
                                 {}});
      if (thread.call.kind != nullptr) thread.call.captured = true;
      break;
    case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
      if (cupti().graph_node_id(graph.node, &node) != CUPTI_SUCCESS ||
          cupti().graph_node_id(graph.originalNode, &original) != CUPTI_SUCCESS) {
        break;
      }
      thread.cloned.cloned = true;
      if (const Graphs::Node clone = session.graphs.cloned(node, original, thread.id); clone.kind != nullptr) {
        thread.cloned.add(clone);
      }
      break;
    case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
      session.graphs.instantiated(graph.graphExec, thread.cloned, thread.id);
      break;
    default:
      break;
  }
}

/// The end of a call is not reported where callbacks were disabled meanwhile.
void forget_unended(const Session& session, ThreadState& thread) {
  const std::uint32_t epoch = session.epoch.load(std::memory_order_acquire);
  if (thread.epoch == epoch) return;
  thread.epoch = epoch;
  if (thread.nesting > 0 && thread.call.working) counting_work_ends();
  if (thread.nesting > 0 && thread.call.sampled) session.instructions->work_ends();
  thread.nesting = 0;
  thread.call = {};
}

void on_callback(Session& session, const Caller& caller, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                 const void* data) {
  ThreadState& thread = thread_state(session);
  // Code is also loaded by our own question for a function's parameters.
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
    keep_module(session, *static_cast<const CUpti_ResourceData*>(data));
    return;
  }
  if (thread.working) return;
  thread.caller = caller;
  const Working working(thread);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    on_resource(session, thread, id, *static_cast<const CUpti_ResourceData*>(data));
    return;
  }
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id >= Subscription::kMostCalls) return;
  const auto& call_data = *static_cast<const CUpti_CallbackData*>(data);
  const DriverCall& call = subscription().call(id);
  const bool enters = call_data.callbackSite == CUPTI_API_ENTER;
  if (enters) forget_unended(session, thread);
  if (session.phase.load(std::memory_order_acquire) == Phase::quiet && thread.nesting == 0 && !capturing() &&
      session.sampling->marks(id, call, call_data)) {
    return;
  }
  if (enters) {
    subscription().seen(id);
    enter(session, thread, call, call_data);
  } else {
    leave(session, thread, call, id, call_data);
  }
}

void CUPTIAPI callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  Session* const current = live_session();
  if (current == nullptr) return;
  const auto* const frame = static_cast<const std::uintptr_t*>(__builtin_frame_address(0));
  const Caller caller = {reinterpret_cast<std::uintptr_t>(__builtin_extract_return_addr(__builtin_return_address(0))),
                         reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa()), frame[0]};
  try {
    on_callback(*current, caller, domain, id, data);
  } catch (...) {  // called by the driver, which is C: exceptions must not propagate
  }
}

std::uint64_t CUPTIAPI clock() { return now(); }

}  // namespace

std::string start_trace(Session& session) {
  const Cupti& library = cupti();
  prepare_buffers();
  std::uint8_t zeroed = 1;
  std::size_t bytes = sizeof(zeroed);
  CUptiResult status = subscription().subscribe(callback);
  if (status != CUPTI_SUCCESS) {
    const std::string remedy = cupti_remedy(status);
    return "CUPTI can't trace this process: " + (remedy.empty() ? cupti_message(library.handle(), status) : remedy);
  }
  library.set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &zeroed);
  status = library.register_clock(clock);
  if (status == CUPTI_SUCCESS) status = library.register_buffers(give_buffer, take_buffer);
  if (status == CUPTI_SUCCESS) status = subscription().begin();
  if (status != CUPTI_SUCCESS) return "CUPTI can't trace kernels: " + cupti_message(library.handle(), status);

  constexpr std::uint32_t kHandOver = 100;  // ms
  library.flush_period(kHandOver);

  session.phase = Phase::warming;
  // Without a window all is recorded; a window begins with a launch.
  if (session.warmup == 0 && session.window == 0) begin_window(session, 0);
  subscription().record();
  return {};
}

bool capturing() { return captures.load() > 0; }

void flush_activities(bool all) {
  if (!all && is_xla_loaded()) return;  // BufferSize says why
  cupti().flush(all ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

void stop_trace() { subscription().end(); }

}  // namespace roofline::inject
