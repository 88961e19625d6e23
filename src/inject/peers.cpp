#include "inject/peers.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "inject/clock.hpp"
#include "inject/rank.hpp"

namespace roofline::inject {
namespace {

/// A rank that uses no GPU is never ready. One that counts for the others takes 4 s of its cost, up to 10 s of wall
/// time.
constexpr std::uint64_t kLongestWait = 15 * kSecond;

/// One process has so many GPUs at most.
constexpr std::uint32_t kMostPeers = 64;

}  // namespace

Peers::Peers(const std::string& folder) : folder_(folder) {
  const RankOnNode own = rank_on_node();
  rank_ = own.rank;
  ranks_ = own.ranks <= kMostPeers ? own.ranks : 1;
}

Peers::Peers(const std::string& folder, std::uint32_t rank, std::uint32_t ranks)
    : folder_(folder), rank_(rank), ranks_(ranks) {}

std::string Peers::name_of(std::uint32_t rank) const { return folder_ + "/ready." + std::to_string(rank); }

bool Peers::ready(std::uint64_t time) {
  if (all_ || alone()) return true;
  if (since_ == 0) {
    since_ = time;
    mkdir(name_of(rank_).c_str(), 0700);
  }
  all_ = time - since_ >= kLongestWait;
  for (std::uint32_t rank = 0; rank < ranks_ && !all_; ++rank) {
    struct stat status {};
    if (stat(name_of(rank).c_str(), &status) != 0) return false;
  }
  all_ = true;
  return true;
}

void Peers::leave() {
  if (since_ != 0) rmdir(name_of(rank_).c_str());
  since_ = 0;
  all_ = false;
}

}  // namespace roofline::inject
