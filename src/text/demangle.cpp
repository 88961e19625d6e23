#include "text/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace roofline {

std::string demangled(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return std::string(symbol);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && name ? name.get() : std::string(symbol);
}

}  // namespace roofline
