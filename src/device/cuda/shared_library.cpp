// dlopen for the rest of the process.
#include "device/cuda/shared_library.hpp"

#include <dlfcn.h>

namespace roofline {

SharedLibrary::SharedLibrary(std::span<const std::string> names) {
  for (const std::string& name : names) {
    // CUDA_HOME=cuda would mean whatever lies in the working folder.
    if (name.find('/') != std::string::npos && !name.starts_with('/')) continue;
    if (handle_ == nullptr) handle_ = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  }
  complete_ = handle_ != nullptr;
}

SharedLibrary::Symbol SharedLibrary::symbol(const char* name) {
  void* const address = handle_ != nullptr ? dlsym(handle_, name) : nullptr;
  complete_ = complete_ && address != nullptr;
  return {address};
}

}  // namespace roofline
