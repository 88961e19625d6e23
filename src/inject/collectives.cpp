#include "inject/collectives.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <utility>

#include "inject/clock.hpp"
#include "inject/communicators.hpp"
#include "inject/mix.hpp"
#include "inject/redirect.hpp"
#include "inject/session.hpp"
#include "inject/thread_state.hpp"

namespace roofline::inject {
namespace {

// As nccl.h declares them: enumerations are ints, handles are pointers.
using NcclStream = void*;
struct NcclUniqueId {
  char bytes[128];
};

using spool::CollectiveKind;

/// Bytes of an element of ncclDataType_t; 0 for a type that this version does not know.
std::uint64_t element_bytes(int type) {
  static constexpr std::array<std::uint8_t, 12> kBytes = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && static_cast<std::size_t>(type) < kBytes.size() ? kBytes[static_cast<std::size_t>(type)] : 0;
}

/// The program goes on without a record if there is no memory for one: its calls are those of C.
template <typename Work>
void quietly(const Work& work) noexcept {
  try {
    work();
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

/// Collectives of one kind and communicator that the thread has called since the beginning of its group.
struct OpenCollective {
  spool::Collective record;
  std::uint64_t received;  ///< bytes, of an exchange: those of the record are sent
  std::uint32_t ranks;
};

/// Trivial, as ThreadState is.
struct ThreadCalls {
  int groups;   ///< that it is in, one inside the other
  bool inside;  ///< in a call of NCCL that may launch
  std::uint32_t open, launched;
  std::array<OpenCollective, 16> collectives;
  std::array<std::uint32_t, 16> correlations;
};

ThreadCalls& thread_calls() {
  static thread_local ThreadCalls calls;
  return calls;
}

bool is_recording(const Session& current) {
  const Phase phase = current.phase.load(std::memory_order_relaxed);
  return phase == Phase::recording || phase == Phase::draining;
}

/// What all ranks' data together is of what a call states for one.
std::uint64_t buffers(CollectiveKind kind, std::uint32_t ranks) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
                 kind == CollectiveKind::all_to_all
             ? std::max(1U, ranks)
             : 1;
}

OpenCollective* find_open(ThreadCalls& thread, spool::Id communicator, CollectiveKind kind) {
  for (std::uint32_t i = 0; i < thread.open; ++i) {
    const spool::Collective& open = thread.collectives[i].record;
    if (open.communicator == communicator && open.kind == kind) return &thread.collectives[i];
  }
  return nullptr;
}

struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::other;
  std::uint64_t bytes = 0;
  NcclComm communicator = nullptr;
  void* original = nullptr;
  bool receives = false;  ///< of an exchange
};

/// Counts the call, and adds it to those of its group.
void count_call(Session& current, ThreadCalls& thread, const CollectiveCall& call) {
  communicators().with(current, call.communicator, call.original, [&](KnownCommunicator& of) {
    OpenCollective* open = find_open(thread, of.about.id, call.kind);
    const bool exchange = call.kind == CollectiveKind::send_recv;
    // Sends and receives of a group are one exchange, whose number of calls differs from rank to rank.
    const std::uint64_t sequence = !exchange ? of.collectives++ : open != nullptr ? of.exchanges - 1 : of.exchanges++;
    if (open == nullptr && thread.open < thread.collectives.size()) {
      open = &thread.collectives[thread.open++];
      *open = {};
      open->record.start = now();
      open->record.sequence = sequence;
      open->record.communicator = of.about.id;
      open->record.kind = call.kind;
      open->ranks = of.about.ranks;
    }
    if (open == nullptr) return;
    const std::uint64_t bytes = call.bytes * buffers(call.kind, of.about.ranks);
    (call.receives ? open->received : open->record.bytes) += bytes;
    ++open->record.calls;
  });
}

/// The group's collectives, with their kernels: one each in their order, or the first one for all.
void finish_group(Session& current, ThreadCalls& thread) {
  const std::uint64_t time = now();
  const std::uint32_t open = std::exchange(thread.open, 0), launched = std::exchange(thread.launched, 0);
  if (!is_recording(current)) return;
  const ThreadState& state = thread_state(current);
  for (std::uint32_t i = 0; i < open; ++i) {
    const OpenCollective& collective = thread.collectives[i];
    spool::Collective record = collective.record;
    record.end = time;
    record.thread = state.id;
    if (launched > 0) record.correlation = thread.correlations[launched == open ? i : 0];
    if (launched != open && open > 1) record.flags |= spool::kShared;
    // With data for and from every other rank it is an all-to-all, which each rank calls once; among two ranks only
    // with data for the rank itself.
    const std::uint32_t others = collective.ranks > 1 ? collective.ranks - 1 : UINT32_MAX;
    const std::uint32_t least = std::max(2U, others);
    const bool all = record.kind == CollectiveKind::send_recv && record.calls / 2 >= least;
    record.bytes = std::max(record.bytes, collective.received);
    if (all) record.kind = CollectiveKind::all_to_all;
    if (record.calls > 1) record.flags |= spool::kGrouped;
    current.spool.write(spool::Type::collective, record);
  }
}

/// Makes a call that gives NCCL work, or ends a group of such calls.
template <typename Original>
int inside_nccl(ThreadCalls& thread, const Original& original) {
  thread.inside = true;
  const int status = original();
  thread.inside = false;
  return status;
}

/// The original of a redirected function.
template <auto Replacement>
std::atomic<void*> original_of = nullptr;
#define ORIGINAL(name) (reinterpret_cast<decltype(&name)>(original_of<&name>.load(std::memory_order_acquire)))

int nccl_receive(void* to, std::size_t count, int type, int peer, NcclComm comm, NcclStream stream);

/// Calls of a redirected function: `arguments` are the program's.
template <auto Replacement, typename... Arguments>
int call_collective(CollectiveKind kind, std::uint64_t bytes, NcclComm communicator, Arguments... arguments) {
  void* const found = original_of<Replacement>.load(std::memory_order_acquire);
  const auto original = [&] { return reinterpret_cast<decltype(Replacement)>(found)(arguments...); };
  Session* const current = live_session();
  ThreadCalls& thread = thread_calls();
  // Calls by NCCL itself are part of the one that the program made.
  if (current == nullptr || thread.inside) return original();
  const bool receives = found == original_of<&nccl_receive>.load(std::memory_order_acquire);
  quietly([&] { count_call(*current, thread, {kind, bytes, communicator, found, receives}); });
  const int status = inside_nccl(thread, original);
  if (thread.groups == 0) quietly([&] { finish_group(*current, thread); });
  return status;
}

/// A communicator was made, or is being made in the background.
void note_made(int status, NcclComm* made, std::uint64_t hash, int rank, int ranks) {
  constexpr int kSuccess = 0, kInProgress = 7;
  if (made == nullptr || (status != kSuccess && status != kInProgress)) return;
  quietly(
      [&] { communicators().made(*made, hash, static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks)); });
}

std::uint64_t hash_of_id(const NcclUniqueId& id) {
  std::uint64_t hash = 1;
  for (const char byte : id.bytes) hash = mix(hash, static_cast<unsigned char>(byte));
  return hash != 0 ? hash : 1;
}

int nccl_all_reduce(const void* from, void* to, std::size_t count, int type, int op, NcclComm comm, NcclStream stream) {
  return call_collective<&nccl_all_reduce>(CollectiveKind::all_reduce, count * element_bytes(type), comm, from, to,
                                           count, type, op, comm, stream);
}
int nccl_reduce_scatter(const void* from, void* to, std::size_t count, int type, int op, NcclComm comm,
                        NcclStream stream) {
  return call_collective<&nccl_reduce_scatter>(CollectiveKind::reduce_scatter, count * element_bytes(type), comm, from,
                                               to, count, type, op, comm, stream);
}
int nccl_all_gather(const void* from, void* to, std::size_t count, int type, NcclComm comm, NcclStream stream) {
  return call_collective<&nccl_all_gather>(CollectiveKind::all_gather, count * element_bytes(type), comm, from, to,
                                           count, type, comm, stream);
}
int nccl_broadcast(const void* from, void* to, std::size_t count, int type, int root, NcclComm comm,
                   NcclStream stream) {
  return call_collective<&nccl_broadcast>(CollectiveKind::broadcast, count * element_bytes(type), comm, from, to, count,
                                          type, root, comm, stream);
}
int nccl_broadcast_in_place(void* data, std::size_t count, int type, int root, NcclComm comm, NcclStream stream) {
  return call_collective<&nccl_broadcast_in_place>(CollectiveKind::broadcast, count * element_bytes(type), comm, data,
                                                   count, type, root, comm, stream);
}
int nccl_reduce(const void* from, void* to, std::size_t count, int type, int op, int root, NcclComm comm,
                NcclStream stream) {
  return call_collective<&nccl_reduce>(CollectiveKind::reduce, count * element_bytes(type), comm, from, to, count, type,
                                       op, root, comm, stream);
}
int nccl_all_to_all(const void* from, void* to, std::size_t count, int type, NcclComm comm, NcclStream stream) {
  return call_collective<&nccl_all_to_all>(CollectiveKind::all_to_all, count * element_bytes(type), comm, from, to,
                                           count, type, comm, stream);
}
int nccl_send(const void* from, std::size_t count, int type, int peer, NcclComm comm, NcclStream stream) {
  return call_collective<&nccl_send>(CollectiveKind::send_recv, count * element_bytes(type), comm, from, count, type,
                                     peer, comm, stream);
}
int nccl_receive(void* to, std::size_t count, int type, int peer, NcclComm comm, NcclStream stream) {
  return call_collective<&nccl_receive>(CollectiveKind::send_recv, count * element_bytes(type), comm, to, count, type,
                                        peer, comm, stream);
}

int nccl_group_start() {
  ThreadCalls& thread = thread_calls();
  if (!thread.inside) ++thread.groups;
  return ORIGINAL(nccl_group_start)();
}
int nccl_group_end() {
  ThreadCalls& thread = thread_calls();
  if (thread.inside || thread.groups == 0) return ORIGINAL(nccl_group_end)();
  if (--thread.groups > 0) return ORIGINAL(nccl_group_end)();
  const int status = inside_nccl(thread, [] { return ORIGINAL(nccl_group_end)(); });
  if (Session* const current = live_session()) {
    quietly([&] { finish_group(*current, thread); });
  } else {
    thread.open = thread.launched = 0;
  }
  return status;
}

int nccl_init_rank(NcclComm* made, int ranks, NcclUniqueId id, int rank) {
  const int status = ORIGINAL(nccl_init_rank)(made, ranks, id, rank);
  note_made(status, made, hash_of_id(id), rank, ranks);
  return status;
}
int nccl_init_rank_config(NcclComm* made, int ranks, NcclUniqueId id, int rank, void* config) {
  const int status = ORIGINAL(nccl_init_rank_config)(made, ranks, id, rank, config);
  note_made(status, made, hash_of_id(id), rank, ranks);
  return status;
}
int nccl_init_rank_scalable(NcclComm* made, int ranks, int rank, int ids, NcclUniqueId* id, void* config) {
  const int status = ORIGINAL(nccl_init_rank_scalable)(made, ranks, rank, ids, id, config);
  const std::uint64_t hash = id != nullptr ? hash_of_id(*id) : 0;
  note_made(status, made, hash, rank, ranks);
  return status;
}
int nccl_split(NcclComm parent, int color, int key, NcclComm* made, void* config) {
  const int status = ORIGINAL(nccl_split)(parent, color, key, made, config);
  Session* const current = live_session();
  if (current == nullptr) return status;
  std::uint64_t hash = 0;
  // All ranks of the parent split it in the same order; those of one color are together.
  quietly([&] {
    communicators().with(*current, parent, original_of<&nccl_split>, [&](KnownCommunicator& of) {
      const std::uint64_t number = ++of.splits;
      if (of.about.hash != 0) hash = mix(mix(of.about.hash, number), static_cast<std::uint32_t>(color));
    });
  });
  note_made(status, made, hash, 0, 0);
  return status;
}
int nccl_destroy(NcclComm comm) {
  communicators().destroyed(comm);
  return ORIGINAL(nccl_destroy)(comm);
}
int nccl_abort(NcclComm comm) {
  communicators().destroyed(comm);
  return ORIGINAL(nccl_abort)(comm);
}

#undef ORIGINAL
#define REDIRECT(symbol, name) \
  Redirection { symbol, reinterpret_cast<void*>(&name), &original_of<&name> }

std::span<const Redirection> nccl_table() {
  static const auto kTable = std::to_array<Redirection>({
      REDIRECT("ncclAllReduce", nccl_all_reduce),
      REDIRECT("ncclReduceScatter", nccl_reduce_scatter),
      REDIRECT("ncclAllGather", nccl_all_gather),
      REDIRECT("ncclBroadcast", nccl_broadcast),
      REDIRECT("ncclBcast", nccl_broadcast_in_place),
      REDIRECT("ncclReduce", nccl_reduce),
      REDIRECT("ncclAlltoAll", nccl_all_to_all),
      REDIRECT("ncclSend", nccl_send),
      REDIRECT("ncclRecv", nccl_receive),
      REDIRECT("ncclGroupStart", nccl_group_start),
      REDIRECT("ncclGroupEnd", nccl_group_end),
      REDIRECT("ncclCommInitRank", nccl_init_rank),
      REDIRECT("ncclCommInitRankConfig", nccl_init_rank_config),
      REDIRECT("ncclCommInitRankScalable", nccl_init_rank_scalable),
      REDIRECT("ncclCommSplit", nccl_split),
      REDIRECT("ncclCommDestroy", nccl_destroy),
      REDIRECT("ncclCommAbort", nccl_abort),
  });
  return kTable;
}
#undef REDIRECT

}  // namespace

void look_for_nccl() {
  static auto* const redirections = new Redirections(nccl_table());
  redirections->apply();
}

void note_collective_launch(std::uint32_t correlation) {
  ThreadCalls& thread = thread_calls();
  if (!thread.inside || thread.launched >= thread.correlations.size()) return;
  thread.correlations[thread.launched++] = correlation;
}

}  // namespace roofline::inject
