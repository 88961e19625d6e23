// Where in the program's native code a call of the driver comes from.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "inject/loaded_modules.hpp"
#include "inject/spool_writer.hpp"
#include "sample/stack_step.hpp"

namespace roofline::inject {

/// The function that called the library, at the time of the call.
struct Caller {
  std::uintptr_t program_counter, stack_pointer, frame_pointer;
};

/// Unwinds a stack once for each sequence of return addresses on it; later ones are read from the same places, which
/// costs about 50 ns.
class CallSites {
 public:
  explicit CallSites(SpoolWriter& spool) : spool_(spool) {}

  /// The innermost call in the program's own code: of its modules by their paths, and not in CUDA's functions that are
  /// linked into them. Without one, that in another module that has source lines. 0: none was found. `kernel`: the
  /// symbol of a kernel that is launched, whose wrapper is no code of the program; nullptr: none is.
  spool::Id of(const Caller& caller, const char* kernel);

  /// Stacks that were unwound so far.
  std::uint64_t unwound() const { return unwound_; }

 private:
  struct Recent;
  struct Found {
    spool::Id code = 0;
    std::vector<std::uint64_t> slots;  ///< where the return addresses are that led to it
  };
  class Walk;

  bool may_unwind();
  Found unwind(const Caller& caller, const char* kernel, std::uint64_t stack_end);

  SpoolWriter& spool_;
  std::mutex mutex_;
  LoadedModules modules_;
  std::atomic<std::uint64_t> unwound_ = 0;
  std::uint64_t began_ = 0, spent_ = 0;  ///< ns, of time and of CPU time
};

}  // namespace roofline::inject
