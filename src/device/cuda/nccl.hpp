// NCCL, loaded at run time: collectives among GPUs. No header of it is needed to build and no library to run.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "model/names.hpp"

namespace roofline {

class CudaDevice;

/// Why NCCL can't be used on this machine, with what to do; nothing when it can.
std::optional<std::string> nccl_missing();

/// "2.28.9"; empty where it is missing.
std::string nccl_version();

/// Why this NCCL has no such collective in this type; nothing when it has.
std::optional<std::string> nccl_lacks(std::string_view collective, DType dtype);

/// An id for Communicators of several processes, as text. Throws Error where NCCL is missing.
std::string new_nccl_id();

/// One collective, as all ranks call it.
struct CollectiveCall {
  std::string_view collective;  ///< of kCollectives
  DType dtype = DType::fp32;
  std::int64_t n = 0;  ///< elements of a rank's larger buffer, as nccl-tests counts them
  /// By rank; null for those that other processes hold. Broadcast is from rank 0, whose `send` alone is read. In place
  /// as NCCL has it: the smaller buffer of a rank is its part of the larger one.
  std::span<const void* const> send;
  std::span<void* const> receive;
};

/// One communicator a device, for collectives among them. The first one's stream leads: what is enqueued runs after
/// what that stream holds, on the streams of all, and that stream goes on when all have ended. So it can be captured
/// and timed there.
class Communicators {
 public:
  /// Of all ranks, which are this process's. Throws Error where NCCL is missing or refuses.
  explicit Communicators(std::span<CudaDevice* const> devices);
  /// Of one rank among so many, whose processes all make theirs with the same id. Throws Error likewise.
  Communicators(CudaDevice& device, int rank, int ranks, const std::string& id);
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  int ranks() const;
  /// Enqueues the collective. Throws Error, with NCCL's words.
  void enqueue(const CollectiveCall& call);
  /// Calls `enqueue_all`, between whose collectives the ranks don't wait for each other but as the collectives
  /// themselves do: a join of all GPUs behind each would cost more than a small collective.
  void together(const std::function<void()>& enqueue_all);
  /// Enqueues a wait on the first stream until all ranks have come so far.
  void align();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace roofline
