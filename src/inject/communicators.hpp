// The communicators of NCCL in this process, and how many collectives were called on each.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "inject/spool.hpp"

namespace roofline::inject {

struct Session;

/// A handle, as nccl.h declares it.
using NcclComm = void*;

struct KnownCommunicator {
  spool::Communicator about = {};
  std::uint64_t collectives = 0, exchanges = 0;  ///< calls so far; exchanges: groups of sends and receives
  std::uint64_t splits = 0;
  bool asked = false;  ///< the library was queried for its ranks
};

/// Communicators by their handles, which are reused. Thread-safe.
class Communicators {
 public:
  /// `hash`: the same on all of its ranks. `ranks` 0: the library is queried for them later.
  void made(NcclComm handle, std::uint64_t hash, std::uint32_t rank, std::uint32_t ranks);
  void destroyed(NcclComm handle);

  /// Calls `use` with the communicator, under the lock. `original`: a function of its library.
  template <typename Use>
  void with(Session& current, NcclComm handle, void* original, const Use& use) {
    const std::lock_guard lock(mutex_);
    use(find_locked(current, handle, original));
  }

 private:
  KnownCommunicator& add_locked(Session& current, NcclComm handle, std::uint64_t hash, std::uint32_t rank,
                                std::uint32_t ranks);
  KnownCommunicator& find_locked(Session& current, NcclComm handle, void* original);

  std::mutex mutex_;
  const Session* owner_ = nullptr;
  spool::Id last_id_ = 0;
  std::unordered_map<NcclComm, KnownCommunicator> known_;
};

/// The communicators of this process, never freed.
Communicators& communicators();

}  // namespace roofline::inject
