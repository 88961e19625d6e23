// The code that is loaded onto the GPU, kept in files beside the spool, so that samples of instructions can be
// explained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "inject/cupti_library.hpp"

namespace roofline::inject {

struct Session;

class GpuModules {
 public:
  GpuModules(Session& session, std::string folder) : session_(session), folder_(std::move(folder)) {}

  /// A module is loaded: its code is valid during the call only.
  void loaded(const void* code, std::size_t size);
  /// Writes records of the modules with these checksums.
  void name(const std::set<std::uint64_t>& sampled, const CuptiInstructions& cupti);
  /// Deletes the files of modules without samples.
  void forget_unsampled();

 private:
  struct Module {
    std::string file;
    std::size_t size = 0;
    std::uint64_t checksum = 0;
    bool summed = false, named = false;
  };

  Session& session_;
  std::string folder_;
  std::mutex mutex_;
  std::vector<Module> modules_;
  std::size_t bytes_ = 0;  ///< of all files
  std::size_t made_ = 0;
};

}  // namespace roofline::inject
