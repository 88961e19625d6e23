// The ranks of a job on this node: they record the same steps, so that their collectives can be matched. Each announces
// that it is ready by a folder beside the spools, because a file would need a descriptor.
#pragma once

#include <cstdint>
#include <string>

namespace roofline::inject {

class Peers {
 public:
  /// Peers of the job in the environment; a process without a job has none.
  explicit Peers(const std::string& folder);
  Peers(const std::string& folder, std::uint32_t rank, std::uint32_t ranks);

  bool alone() const { return ranks_ < 2; }
  /// This rank records steady steps from now on. Returns whether all ranks do, or have been waited for long enough.
  bool ready(std::uint64_t time);
  /// At the end of the recording, and before steps are waited for again.
  void leave();

 private:
  std::string name_of(std::uint32_t rank) const;

  std::string folder_;
  std::uint32_t rank_ = 0, ranks_ = 1;  ///< on this node
  std::uint64_t since_ = 0;             ///< that this one is ready
  bool all_ = false;
};

}  // namespace roofline::inject
