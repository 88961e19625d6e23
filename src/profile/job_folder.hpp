// The recordings of ranks that each run under a roofline of their own: `mpirun -n 4 roofline profile -- ./program`.
// Every rank leaves its recording in a folder that all of them see, and the first one reports on all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "host/world.hpp"

namespace roofline {

class JobFolder {
 public:
  /// `folder`: the same for all ranks of the job, made where it is missing. This rank has begun. Throws UsageError.
  JobFolder(std::filesystem::path folder, World world);

  const World& world() const { return world_; }
  bool leads() const { return world_.rank == 0; }
  /// Of this rank's recording.
  std::filesystem::path own() const;

  /// This rank's recording is complete.
  void end() const;

  /// The folders of all ranks whose recordings are complete, by rank. Waits for ranks that have begun, as long as one
  /// of them ends every `patience_s` seconds.
  std::vector<std::filesystem::path> await(double patience_s,
                                           const std::function<void(const std::string&)>& print_status) const;

  /// Removes what all ranks have left.
  void remove() const;

 private:
  std::filesystem::path folder_;
  World world_;
  double began_s_;  ///< since 1970
};

/// The folders of ranks below a folder, by rank.
std::vector<std::filesystem::path> rank_folders(const std::filesystem::path& folder);

}  // namespace roofline
