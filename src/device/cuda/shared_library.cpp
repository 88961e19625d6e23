// dlopen, owned.
#include "device/cuda/shared_library.hpp"

#include <dlfcn.h>

namespace roofline {

std::unique_ptr<SharedLibrary> SharedLibrary::open(std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
      return std::unique_ptr<SharedLibrary>(new SharedLibrary(handle));
    }
  }
  return nullptr;
}

SharedLibrary::~SharedLibrary() { dlclose(handle_); }

void* SharedLibrary::address(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace roofline
