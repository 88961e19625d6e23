#include "host/shared_library.hpp"

#include <dlfcn.h>

namespace roofline {

SharedLibrary::SharedLibrary(std::span<const std::string> names) {
  for (const std::string& name : names) {
    // CUDA_HOME=cuda would mean a folder below the working folder.
    if (name.find('/') != std::string::npos && !name.starts_with('/')) continue;
    if (handle_ == nullptr) handle_ = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  }
}

SharedLibrary::Symbol SharedLibrary::symbol(const char* name) {
  void* const address = handle_ != nullptr ? dlsym(handle_, name) : nullptr;
  if (address == nullptr && missing_ == nullptr) missing_ = name;
  return {address};
}

}  // namespace roofline
