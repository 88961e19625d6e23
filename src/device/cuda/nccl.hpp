// NCCL, loaded at run time: collectives among GPUs. Neither the build nor the program depends on it.
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

/// Why NCCL cannot be used on this machine, with the remedy; empty if it can.
std::optional<std::string> nccl_missing();

/// "2.28.9"; empty if NCCL is missing.
std::string nccl_version();

/// Why this NCCL version does not support the collective in this type; empty if it does.
std::optional<std::string> nccl_lacks(std::string_view collective, DType dtype);

/// An id for Communicators of several processes, as text. Throws Error if NCCL is missing.
std::string new_nccl_id();

/// Arguments of one collective for all ranks.
struct CollectiveCall {
  std::string_view collective;  ///< of kCollectives
  DType dtype = DType::fp32;
  std::int64_t n = 0;  ///< elements of a rank's larger buffer, as nccl-tests counts them
  /// Buffers by rank; null for ranks of other processes. Broadcast reads only the `send` of rank 0. In-place operation
  /// as in NCCL: the smaller buffer of a rank is its part of the larger one.
  std::span<const void* const> send;
  std::span<void* const> receive;
};

/// One communicator per device. The first rank's stream leads: a collective starts on all streams after earlier work of
/// that stream, and later work of that stream waits for all ranks. It can therefore be captured and timed on that
/// stream.
class Communicators {
 public:
  /// All ranks in this process. Throws Error if NCCL is missing or fails.
  explicit Communicators(std::span<CudaDevice* const> devices);
  /// One of `ranks` ranks; all processes pass the same id. Throws Error as above.
  Communicators(CudaDevice& device, int rank, int ranks, const std::string& id);
  ~Communicators();
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;

  int ranks() const;
  /// Enqueues the collective. Throws Error with NCCL's message.
  void enqueue(const CollectiveCall& call);
  /// Calls `enqueue_all` without a join of all ranks after each collective, which would cost more than a small
  /// collective. Only the collectives themselves synchronise the ranks.
  void together(const std::function<void()>& enqueue_all);
  /// Enqueues a wait of the first stream for all ranks.
  void align();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace roofline
