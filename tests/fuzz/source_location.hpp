// clang before 16 has no std::source_location in GNU's library. What is fuzzed asks for none; only its layout counts.
#pragma once

#include <source_location>

#ifndef __cpp_lib_source_location
namespace std {
struct source_location {
  static constexpr source_location current() { return {}; }
  const void* place = nullptr;
};
}  // namespace std
#endif
