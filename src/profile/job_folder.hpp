// Recordings of ranks that each run under their own roofline: `mpirun -n 4 roofline profile -- ./program`. Every rank
// leaves its recording in a shared folder, and the first one reports on all.
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
  /// Registers this rank. `folder`: shared by all ranks of the job, created if missing. Throws UsageError.
  JobFolder(std::filesystem::path folder, World world);

  const World& world() const { return world_; }
  bool leads() const { return world_.rank == 0; }
  /// Folder of this rank's recording.
  std::filesystem::path own() const;

  /// Marks this rank's recording as complete.
  void end() const;

  /// Folders of all complete recordings, by rank. Waits for started ranks as long as one of them finishes every
  /// `patience_s` seconds.
  std::vector<std::filesystem::path> await(double patience_s,
                                           const std::function<void(const std::string&)>& print_status) const;

  /// Removes the files of all ranks.
  void remove() const;

 private:
  std::filesystem::path folder_;
  World world_;
  double began_s_;  ///< seconds since 1970
};

/// Rank folders below a folder, by rank.
std::vector<std::filesystem::path> rank_folders(const std::filesystem::path& folder);

}  // namespace roofline
