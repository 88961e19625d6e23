// Bindings for the NCCL functions that are used, with prototypes declared here: entry points and type numbers are
// stable throughout NCCL 2.
#include "device/cuda/nccl.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "host/shared_library.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

using Comm = void*;
/// ncclUniqueId; passed by value.
struct UniqueId {
  std::array<char, 128> bytes;
};
constexpr int kSum = 0;
/// Capture of several GPUs of one process into one graph requires 2.9, fp8 requires 2.24.
constexpr int kFirstWithGraphs = 20900;
constexpr int kFirstWithFp8 = 22400;

struct NcclFunctions : SharedLibrary {
  using SharedLibrary::SharedLibrary;
  int (*get_version)(int*) = symbol("ncclGetVersion");
  const char* (*error_string)(int) = symbol("ncclGetErrorString");
  const char* (*last_error)(Comm) = symbol("ncclGetLastError");
  int (*init_all)(Comm*, int, const int*) = symbol("ncclCommInitAll");
  int (*get_unique_id)(UniqueId*) = symbol("ncclGetUniqueId");
  int (*init_rank)(Comm*, int, UniqueId, int) = symbol("ncclCommInitRank");
  int (*destroy)(Comm) = symbol("ncclCommDestroy");
  int (*group_start)() = symbol("ncclGroupStart");
  int (*group_end)() = symbol("ncclGroupEnd");
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Comm, cudaStream_t) = symbol("ncclAllReduce");
  int (*all_gather)(const void*, void*, std::size_t, int, Comm, cudaStream_t) = symbol("ncclAllGather");
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, Comm, cudaStream_t) = symbol("ncclReduceScatter");
  int (*broadcast)(const void*, void*, std::size_t, int, int, Comm, cudaStream_t) = symbol("ncclBroadcast");
  int (*send)(const void*, std::size_t, int, int, Comm, cudaStream_t) = symbol("ncclSend");
  int (*receive)(void*, std::size_t, int, int, Comm, cudaStream_t) = symbol("ncclRecv");
};

std::vector<std::string> nccl_library_names() {
  const char* chosen = std::getenv("ROOFLINE_NCCL");
  if (chosen != nullptr) return {chosen};
  std::vector<std::string> names = {"libnccl.so.2"};
  for (const char* variable : {"NCCL_HOME", "CUDA_HOME"}) {
    const char* home = std::getenv(variable);
    if (home == nullptr) continue;
    for (const char* folder : {"/lib/", "/lib64/"}) names.push_back(std::string(home) + folder + "libnccl.so.2");
  }
  return names;
}

/// Null if NCCL is missing or lacks a function.
const NcclFunctions* nccl() {
  static const NcclFunctions table(nccl_library_names());
  return table.complete() ? &table : nullptr;
}

/// 22809 for 2.28.9; 0 if NCCL is missing.
int version_code() {
  int code = 0;
  if (nccl() == nullptr || nccl()->get_version(&code) != 0) return 0;
  return code;
}

std::string version_words(int code) {
  // Up to 2.8 the minor version had one digit less.
  const int major = code < 10000 ? code / 1000 : code / 10000;
  const int minor = code < 10000 ? code % 1000 / 100 : code % 10000 / 100;
  return fmt::format("{}.{}.{}", major, minor, code % 100);
}

void check_nccl(int status, const char* what, Comm comm = nullptr) {
  if (status == 0) return;
  // If the context is lost, CUDA's error is more specific than NCCL's "unhandled cuda error".
  check(cudaPeekAtLastError(), what);
  const char* const details = nccl()->last_error(comm);
  const bool any = details != nullptr && *details != '\0';
  throw Error(fmt::format("{}: {}{}{}", what, nccl()->error_string(status), any ? ": " : "", any ? details : ""),
              "set NCCL_DEBUG=WARN for details");
}

int nccl_type(DType dtype) {
  // ncclInt8, Uint8, Int32, Uint32, Int64, Uint64, Float16, Float32, Float64, Bfloat16, Float8e4m3: 0 to 10
  static constexpr std::array kTypes = {8, 7, 7, 6, 9, 10, 0, 2};  // by the DType
  return kTypes.at(static_cast<std::size_t>(dtype));
}

bool adds(std::string_view collective) { return collective == "all_reduce" || collective == "reduce_scatter"; }

}  // namespace

std::optional<std::string> nccl_missing() {
  if (nccl() == nullptr)
    return "NCCL was not found: install it (libnccl.so.2), or name the file in ROOFLINE_NCCL (PyTorch's wheel has one "
           "in nvidia/nccl/lib)";
  if (version_code() < kFirstWithGraphs)
    return fmt::format("NCCL {} can't be captured into a graph: 2.9 or newer is needed", nccl_version());
  return std::nullopt;
}

std::string nccl_version() {
  const int code = version_code();
  return code == 0 ? "" : version_words(code);
}

std::string new_nccl_id() {
  if (const auto reason = nccl_missing()) throw Error(*reason);
  UniqueId id = {};
  check_nccl(nccl()->get_unique_id(&id), "creating an NCCL id");
  std::string text;
  for (const char byte : id.bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::optional<std::string> nccl_lacks(std::string_view collective, DType dtype) {
  if (dtype != DType::fp8 || !adds(collective) || version_code() >= kFirstWithFp8) return std::nullopt;
  return fmt::format("NCCL {} can't reduce fp8: 2.24 or newer is needed", nccl_version());
}

struct Communicators::State {
  /// A communicator and its rank.
  struct Rank {
    int number = 0;
    int device = 0;
    cudaStream_t stream = nullptr;
    Comm comm = nullptr;
    Event done = {};
  };

  std::vector<Rank> ranks;  ///< of this process
  int all = 0;              ///< number of ranks of all processes
  Event begun;
  DeviceMemory aligned;  ///< one element
  bool together = false;

  ~State() {
    for (const Rank& rank : ranks) {
      if (rank.comm != nullptr) static_cast<void>(nccl()->destroy(rank.comm));
    }
  }

  /// Fork: the other ranks' streams wait for the first one. Join: the first one waits for them.
  void fork() const;
  void join() const;
  void add(CudaDevice& device, int number, Comm comm);
  /// The call of one rank, inside a group.
  int call(const CollectiveCall& wanted, const Rank& rank) const;
  /// The calls of all ranks.
  void call(const CollectiveCall& wanted) const;
};

void Communicators::State::fork() const {
  check(cudaEventRecord(begun.get(), ranks.front().stream), "forking to other GPUs");
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    check(cudaStreamWaitEvent(ranks[i].stream, begun.get(), 0), "forking to other GPUs");
  }
}

void Communicators::State::join() const {
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const CurrentDevice here(ranks[i].device);
    check(cudaEventRecord(ranks[i].done.get(), ranks[i].stream), "joining other GPUs");
    check(cudaStreamWaitEvent(ranks.front().stream, ranks[i].done.get(), 0), "joining other GPUs");
  }
}

void Communicators::State::call(const CollectiveCall& wanted) const {
  const CurrentDevice guard(ranks.front().device);
  check_nccl(nccl()->group_start(), "starting an NCCL group");
  int status = 0;
  for (std::size_t i = 0; i < ranks.size() && status == 0; ++i) status = call(wanted, ranks[i]);
  const int ended = nccl()->group_end();
  const std::string what = fmt::format("{} by NCCL", wanted.collective);
  check_nccl(status != 0 ? status : ended, what.c_str(), ranks.front().comm);
}

int Communicators::State::call(const CollectiveCall& wanted, const Rank& rank) const {
  const NcclFunctions& table = *nccl();
  const auto stream = rank.stream;
  const auto comm = rank.comm;
  const int me = rank.number;
  const auto count = static_cast<std::size_t>(wanted.n);
  const std::size_t part = count / static_cast<std::size_t>(all);
  // Types that are only moved are passed as bytes, which every NCCL version supports.
  const bool bytes = wanted.dtype == DType::fp8 && !adds(wanted.collective);
  const int type = bytes ? 1 : nccl_type(wanted.dtype);
  void* const receive = wanted.receive[static_cast<std::size_t>(me)];
  const void* send = wanted.send[static_cast<std::size_t>(me)];
  if (send == nullptr) send = receive;  // broadcast to this rank
  if (wanted.collective == "all_reduce") return table.all_reduce(send, receive, count, type, kSum, comm, stream);
  if (wanted.collective == "all_gather") return table.all_gather(send, receive, part, type, comm, stream);
  if (wanted.collective == "reduce_scatter") return table.reduce_scatter(send, receive, part, type, kSum, comm, stream);
  if (wanted.collective == "broadcast") return table.broadcast(send, receive, count, type, 0, comm, stream);
  if (wanted.collective == "send_recv") {
    const int status = table.send(send, count, type, (me + 1) % all, comm, stream);
    return status != 0 ? status : table.receive(receive, count, type, (me + all - 1) % all, comm, stream);
  }
  const std::size_t stride = part * static_cast<std::size_t>(element_size(wanted.dtype));
  for (int other = 0; other < all; ++other) {
    const std::size_t at = stride * static_cast<std::size_t>(other);
    int status = table.send(static_cast<const std::byte*>(send) + at, part, type, other, comm, stream);
    if (status == 0) status = table.receive(static_cast<std::byte*>(receive) + at, part, type, other, comm, stream);
    if (status != 0) return status;
  }
  return 0;
}

void Communicators::State::add(CudaDevice& device, int number, Comm comm) {
  Rank& rank = ranks.emplace_back();
  rank = {.number = number, .device = device.properties().index, .stream = device.stream(), .comm = comm};
  const CurrentDevice here(rank.device);
  rank.done = make_ordering_event();
  if (ranks.size() == 1) begun = make_ordering_event();
}

Communicators::Communicators(std::span<CudaDevice* const> devices) : state_(std::make_unique<State>()) {
  if (const auto reason = nccl_missing()) throw Error(*reason);
  std::vector<int> numbers;
  for (const CudaDevice* device : devices) numbers.push_back(device->properties().index);
  std::vector<Comm> comms(devices.size());
  const CurrentDevice guard(numbers.front());  // NCCL changes the current device
  check_nccl(nccl()->init_all(comms.data(), static_cast<int>(comms.size()), numbers.data()),
             "creating an NCCL communicator");
  state_->all = static_cast<int>(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) state_->add(*devices[i], static_cast<int>(i), comms[i]);
}

Communicators::Communicators(CudaDevice& device, int rank, int ranks, const std::string& id)
    : state_(std::make_unique<State>()) {
  if (const auto reason = nccl_missing()) throw Error(*reason);
  UniqueId whole = {};
  if (id.size() != 2 * whole.bytes.size()) throw Error("rank 0 sent no NCCL id");
  for (std::size_t i = 0; i < whole.bytes.size(); ++i) {
    whole.bytes[i] = static_cast<char>(std::strtol(id.substr(2 * i, 2).c_str(), nullptr, 16));
  }
  const CurrentDevice guard(device.properties().index);
  Comm comm = nullptr;
  check_nccl(nccl()->init_rank(&comm, ranks, whole, rank), "joining an NCCL communicator");
  state_->all = ranks;
  state_->add(device, rank, comm);
  state_->aligned = make_device_memory(sizeof(float));
  check(cudaMemset(state_->aligned.get(), 0, sizeof(float)), "clearing a flag");
}

Communicators::~Communicators() = default;

int Communicators::ranks() const { return state_->all; }

void Communicators::align() {
  const auto me = static_cast<std::size_t>(state_->ranks.front().number);
  std::vector<const void*> send(static_cast<std::size_t>(state_->all));
  std::vector<void*> receive(static_cast<std::size_t>(state_->all));
  send[me] = receive[me] = state_->aligned.get();
  state_->call({.collective = "all_reduce", .dtype = DType::fp32, .n = 1, .send = send, .receive = receive});
}

void Communicators::enqueue(const CollectiveCall& call) {
  if (state_->together) return state_->call(call);
  state_->fork();
  state_->call(call);
  state_->join();
}

void Communicators::together(const std::function<void()>& enqueue_all) {
  if (state_->together) return enqueue_all();
  struct Mark {
    bool& set;
    explicit Mark(bool& flag) : set(flag) { set = true; }
    ~Mark() { set = false; }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
  };
  state_->fork();
  {
    const Mark mark(state_->together);
    enqueue_all();
  }
  state_->join();
}

}  // namespace roofline
