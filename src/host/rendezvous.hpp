// Processes that find each other in a folder which all of them see, and then exchange short texts through it. No
// transport of its own: files that appear whole. What an earlier start has left there is never taken for this one's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "host/world.hpp"

namespace roofline {

/// Rank 0 leads: it begins as often as it has to (a process of it that died has a successor), and the others follow.
class Rendezvous {
 public:
  /// `folder` is made where it is missing.
  Rendezvous(const std::filesystem::path& folder, World world, double patience_s = 600);

  const World& world() const { return world_; }
  bool leads() const { return world_.rank == 0; }

  /// Waits until all processes are here. A follower's answer: false where the leader has ended instead. Throws Error
  /// after `patience_s`.
  bool begin();

  /// The texts of the first `ranks` processes, of which this is one, in their order: each waits for all. Throws Error
  /// in the leader where one has not given its own within `patience_s`, and in a follower when its leader has begun
  /// anew or ended: for as long as it has not, a follower waits.
  std::vector<std::string> exchange(int ranks, const std::string& mine);

  /// Identifies the rendezvous that this process joined, so that a successor can tell whether the leader has restarted
  /// since.
  const std::string& session() const { return leader_; }
  void succeed(const std::string& session) { leader_ = session; }

  /// The leader has restarted or ended since this process joined it.
  bool abandoned() const;

  /// Called by the leader after its last begin: followers need not wait any more. May be called from another process
  /// than the one that began.
  void end() const;

 private:
  std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  bool lead();
  bool follow();

  std::filesystem::path folder_;
  World world_;
  double patience_s_;
  std::string leader_;                     ///< the nonce of the leader that this process has begun with
  std::string past_;                       ///< session of the previous begin
  std::map<int, std::int64_t> exchanges_;  ///< so far, by the number of ranks
};

}  // namespace roofline
