// A NCCL without GPUs: each call launches a kernel; the calls of a group launch one kernel per communicator.
#include <cuda.h>

#include <cstddef>
#include <set>

#include "fake_gpu.hpp"

namespace {

struct Communicator {
  int rank, ranks;
};
struct UniqueId {
  char bytes[128];
};

FakeFunction all_reduce_kernel = {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, {}, false};
FakeFunction other_kernel = {"ncclDevKernel_AllGather_RING_LL", 0, {}, false};
FakeFunction send_kernel = {"ncclDevKernel_SendRecv", 0, {}, false};

thread_local int depth = 0;
thread_local std::set<void*> waiting;

void launch(FakeFunction& function, void* stream) {
  cuLaunchKernel(reinterpret_cast<CUfunction>(&function), 1, 1, 1, 64, 1, 1, 0, static_cast<CUstream>(stream), nullptr,
                 nullptr);
}

int run(FakeFunction& function, void* communicator, void* stream) {
  if (depth > 0) {
    waiting.insert(communicator);
  } else {
    launch(function, stream);
  }
  return 0;
}

int make(void** made, int rank, int ranks) {
  *made = new Communicator{rank, ranks};
  return 0;
}

}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT int ncclAllReduce(const void*, void*, std::size_t, int, int, void* communicator, void* stream) {
  return run(all_reduce_kernel, communicator, stream);
}
FAKE_EXPORT int ncclAllGather(const void*, void*, std::size_t, int, void* communicator, void* stream) {
  return run(other_kernel, communicator, stream);
}
FAKE_EXPORT int ncclReduceScatter(const void*, void*, std::size_t, int, int, void* communicator, void* stream) {
  return run(other_kernel, communicator, stream);
}
/// By a call of its own, as NCCL has some functions: not the program's.
FAKE_EXPORT int ncclBroadcast(const void*, void*, std::size_t, int, int, void* communicator, void* stream) {
  return run(other_kernel, communicator, stream);
}
FAKE_EXPORT int ncclBcast(void* data, std::size_t count, int type, int root, void* communicator, void* stream) {
  return ncclBroadcast(data, data, count, type, root, communicator, stream);
}
FAKE_EXPORT int ncclSend(const void*, std::size_t, int, int, void* communicator, void* stream) {
  return run(send_kernel, communicator, stream);
}
FAKE_EXPORT int ncclRecv(void*, std::size_t, int, int, void* communicator, void* stream) {
  return run(send_kernel, communicator, stream);
}
FAKE_EXPORT int ncclGroupStart() {
  ++depth;
  return 0;
}
FAKE_EXPORT int ncclGroupEnd() {
  if (--depth > 0) return 0;
  for (std::size_t i = 0; i < waiting.size(); ++i) launch(other_kernel, nullptr);
  waiting.clear();
  return 0;
}
FAKE_EXPORT int ncclCommInitRank(void** made, int ranks, UniqueId, int rank) { return make(made, rank, ranks); }
FAKE_EXPORT int ncclCommInitRankConfig(void** made, int ranks, UniqueId, int rank, void*) {
  return make(made, rank, ranks);
}
FAKE_EXPORT int ncclCommSplit(void* parent, int color, int, void** made, void*) {
  *made = nullptr;
  return color < 0 ? 0 : make(made, static_cast<Communicator*>(parent)->rank / 2, 2);
}
FAKE_EXPORT int ncclCommCount(void* communicator, int* ranks) {
  *ranks = static_cast<Communicator*>(communicator)->ranks;
  return 0;
}
FAKE_EXPORT int ncclCommUserRank(void* communicator, int* rank) {
  *rank = static_cast<Communicator*>(communicator)->rank;
  return 0;
}
FAKE_EXPORT int ncclCommDestroy(void* communicator) {
  delete static_cast<Communicator*>(communicator);
  return 0;
}
