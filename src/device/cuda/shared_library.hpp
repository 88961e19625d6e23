// A library that is looked for at run time: what it offers is used where it is found, and nothing else
// depends on it.
#pragma once

#include <memory>
#include <span>
#include <string>

namespace roofline {

class SharedLibrary {
 public:
  /// The first of `names` that can be loaded, or null. Kept loaded as long as the object lives.
  static std::unique_ptr<SharedLibrary> open(std::span<const std::string> names);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  /// Sets `function` to the symbol of that name; false, and null, where there is none.
  template <typename Function>
  bool bind(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(address(symbol));
    return function != nullptr;
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* address(const char* symbol) const;

  void* handle_;
};

}  // namespace roofline
