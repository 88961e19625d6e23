#include "inject/communicators.hpp"

#include <algorithm>

#include "inject/nccl_variables.hpp"
#include "inject/redirect.hpp"
#include "inject/session.hpp"

namespace roofline::inject {
namespace {

void ask_for_ranks(Session& current, NcclComm handle, void* original, KnownCommunicator& of) {
  using Query = int(NcclComm, int*);
  of.asked = true;
  auto* const count = reinterpret_cast<Query*>(function_beside(original, "ncclCommCount"));
  auto* const own_rank = reinterpret_cast<Query*>(function_beside(original, "ncclCommUserRank"));
  int ranks = 0, rank = 0;
  if (count == nullptr || own_rank == nullptr || count(handle, &ranks) != 0 || own_rank(handle, &rank) != 0) return;
  of.about.ranks = static_cast<std::uint32_t>(std::max(0, ranks));
  of.about.rank = static_cast<std::uint32_t>(std::max(0, rank));
  current.spool.write(spool::Type::communicator, of.about);
}

}  // namespace

void Communicators::made(NcclComm handle, std::uint64_t hash, std::uint32_t rank, std::uint32_t ranks) {
  Session* const current = live_session();
  if (handle == nullptr || current == nullptr) return;
  const std::lock_guard lock(mutex_);
  add_locked(*current, handle, hash, rank, ranks);
}

void Communicators::destroyed(NcclComm handle) {
  const std::lock_guard lock(mutex_);
  known_.erase(handle);
}

KnownCommunicator& Communicators::add_locked(Session& current, NcclComm handle, std::uint64_t hash, std::uint32_t rank,
                                             std::uint32_t ranks) {
  if (owner_ != &current) known_.clear();  // a child of fork()
  if (owner_ != &current) write_nccl_variables(current);
  owner_ = &current;
  KnownCommunicator communicator;
  communicator.about = {hash, ++last_id_, rank, ranks, 0};
  current.spool.write(spool::Type::communicator, communicator.about);
  return known_[handle] = communicator;
}

KnownCommunicator& Communicators::find_locked(Session& current, NcclComm handle, void* original) {
  const auto found = known_.find(handle);
  KnownCommunicator& known =
      found != known_.end() && owner_ == &current ? found->second : add_locked(current, handle, 0, 0, 0);
  if (known.about.ranks == 0 && !known.asked) ask_for_ranks(current, handle, original, known);
  return known;
}

Communicators& communicators() {
  static auto* const made = new Communicators;
  return *made;
}

}  // namespace roofline::inject
