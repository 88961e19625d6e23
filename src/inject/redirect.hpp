// Redirects calls between loaded libraries, through their global offset tables: how calls that CUPTI does not report
// are seen, without a change to the program.
#pragma once

#include <atomic>
#include <mutex>
#include <span>

namespace roofline::inject {

/// Calls of one function of another library. `replacement` has its signature, and calls `original`.
struct Redirection {
  const char* symbol;            ///< mangled, as the calling library imports it
  void* replacement;             ///< of this library
  std::atomic<void*>* original;  ///< set before the first call arrives at `replacement`
};

/// The function of that name in the library that contains `function`; null if there is none.
void* function_beside(void* function, const char* symbol);

/// Lives as long as the process. Thread-safe.
class Redirections {
 public:
  explicit Redirections(std::span<const Redirection> table) : table_(table) {}

  /// Redirects the calls of all loaded libraries; cheap if none was loaded since the last time. A library's calls of
  /// its own functions stay as they are if it binds them itself. Returns the number of changed places.
  int apply();

 private:
  std::span<const Redirection> table_;
  std::mutex mutex_;
  unsigned long long loads_ = 0;  ///< how many libraries had been loaded the last time
};

}  // namespace roofline::inject
