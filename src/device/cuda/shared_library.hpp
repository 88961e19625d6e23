// A library that is looked for at run time: what it offers is used where it is found, and nothing else
// depends on it.
#pragma once

#include <span>
#include <string>

namespace roofline {

/// A table of functions derives from it and has a member for each of them, initialised by symbol().
class SharedLibrary {
 public:
  /// The first of `names` that can be loaded. A name without a folder is looked for where the system says; a folder
  /// must be absolute. Never unloaded: NCCL and CUPTI leave threads and callbacks behind that run until the process
  /// ends, and dlclose in a static destructor takes the code from under them.
  explicit SharedLibrary(std::span<const std::string> names);
  ~SharedLibrary() = default;
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  /// Whether it was found, and has every symbol that was asked of it so far.
  bool complete() const { return complete_; }

 protected:
  /// Whatever pointer it is assigned to.
  struct Symbol {
    void* address;
    template <typename Function>
    operator Function*() const {  // NOLINT(google-explicit-constructor)
      return reinterpret_cast<Function*>(address);
    }
  };
  /// Null where there is none of that name.
  Symbol symbol(const char* name);

 private:
  void* handle_ = nullptr;
  bool complete_;
};

}  // namespace roofline
