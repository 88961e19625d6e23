// A shared library that is opened at run time and optional.
#pragma once

#include <span>
#include <string>

namespace roofline {

/// A table of functions derives from it and has a member for each of them, initialised by symbol().
class SharedLibrary {
 public:
  /// Opens the first of `names` that can be loaded. The dynamic loader searches for a name without a folder; a folder
  /// must be absolute. Never closed: NCCL and CUPTI leave threads and callbacks behind that run until the process ends.
  explicit SharedLibrary(std::span<const std::string> names);
  /// Looks into a library that is open. Null: every symbol is missing.
  explicit SharedLibrary(void* opened) : handle_(opened) {}
  ~SharedLibrary() = default;
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  /// True if it was found and has every symbol requested so far.
  bool complete() const { return handle_ != nullptr && missing_ == nullptr; }
  /// The first symbol that it lacks; null if there is none.
  const char* missing() const { return missing_; }
  void* handle() const { return handle_; }

 protected:
  /// Converts to any function pointer.
  struct Symbol {
    void* address;
    template <typename Function>
    operator Function*() const {  // NOLINT(google-explicit-constructor)
      return reinterpret_cast<Function*>(address);
    }
  };
  /// Null if there is none of that name.
  Symbol symbol(const char* name);

 private:
  void* handle_ = nullptr;
  const char* missing_ = nullptr;
};

}  // namespace roofline
