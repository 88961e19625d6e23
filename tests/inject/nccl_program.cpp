// A rank of a job: nccl_program SCENARIO RANK. It calls the fake NCCL as a framework's library does.
#include <cuda.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

struct UniqueId {
  char bytes[128];
};
extern "C" {
int ncclAllReduce(const void*, void*, std::size_t, int, int, void*, void*);
int ncclAllGather(const void*, void*, std::size_t, int, void*, void*);
int ncclReduceScatter(const void*, void*, std::size_t, int, int, void*, void*);
int ncclBcast(void*, std::size_t, int, int, void*, void*);
int ncclSend(const void*, std::size_t, int, int, void*, void*);
int ncclRecv(void*, std::size_t, int, int, void*, void*);
int ncclGroupStart();
int ncclGroupEnd();
int ncclCommInitRank(void**, int, UniqueId, int);
int ncclCommInitRankConfig(void**, int, UniqueId, int, void*);
int ncclCommSplit(void*, int, int, void**, void*);
int ncclCommDestroy(void*);
}

namespace {

constexpr int kFloat32 = 7, kBfloat16 = 9, kUint8 = 1;
constexpr int kRanks = 4;
int rank = 0;

void* make(char name, bool config = false) {
  UniqueId id = {};
  id.bytes[0] = name;
  void* made = nullptr;
  if (config) {
    ncclCommInitRankConfig(&made, kRanks, id, rank, nullptr);
  } else {
    ncclCommInitRank(&made, kRanks, id, rank);
  }
  return made;
}

void kinds() {
  void* const world = make('w');
  ncclAllReduce(nullptr, nullptr, 1000, kFloat32, 0, world, nullptr);
  ncclAllGather(nullptr, nullptr, 1000, kBfloat16, world, nullptr);
  ncclReduceScatter(nullptr, nullptr, 1000, kBfloat16, 0, world, nullptr);
  ncclBcast(nullptr, 1000, kUint8, 0, world, nullptr);
  ncclAllReduce(nullptr, nullptr, 1000, 99, 0, world, nullptr);  // a type of a later version
  ncclCommDestroy(world);
}

void groups() {
  void* const world = make('w');
  ncclGroupStart();
  for (int i = 0; i < 3; ++i) ncclAllReduce(nullptr, nullptr, 100, kFloat32, 0, world, nullptr);
  ncclGroupEnd();
  ncclGroupStart();  // one inside the other
  ncclGroupStart();
  for (int peer = 0; peer < kRanks; ++peer) {
    ncclSend(nullptr, 10, kFloat32, peer, world, nullptr);
    ncclRecv(nullptr, 10, kFloat32, peer, world, nullptr);
  }
  ncclGroupEnd();
  ncclGroupEnd();
  ncclGroupStart();
  ncclSend(nullptr, 10, kFloat32, 1, world, nullptr);
  ncclGroupEnd();
  ncclAllReduce(nullptr, nullptr, 100, kFloat32, 0, world, nullptr);
}

void communicators() {
  void* const world = make('w');
  void* const other = make('o', true);
  void *pair = nullptr, *none = nullptr;
  ncclCommSplit(world, rank % 2, rank, &pair, nullptr);
  ncclCommSplit(world, -1, rank, &none, nullptr);
  ncclAllReduce(nullptr, nullptr, 1, kFloat32, 0, world, nullptr);
  ncclAllGather(nullptr, nullptr, 8, kFloat32, pair, nullptr);
  ncclAllReduce(nullptr, nullptr, 1, kFloat32, 0, world, nullptr);
  ncclGroupStart();
  ncclAllReduce(nullptr, nullptr, 2, kFloat32, 0, world, nullptr);
  ncclAllReduce(nullptr, nullptr, 3, kFloat32, 0, other, nullptr);
  ncclGroupEnd();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::map<std::string, std::function<void()>> scenarios = {
      {"kinds", kinds}, {"groups", groups}, {"communicators", communicators}};
  const auto chosen = scenarios.find(arguments[1]);
  if (chosen == scenarios.end()) return 2;
  rank = std::atoi(arguments[2]);
  if (cuInit(0) != CUDA_SUCCESS) return 3;
  chosen->second();
  return 0;
}
