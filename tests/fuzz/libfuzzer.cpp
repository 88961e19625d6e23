// libFuzzer's side: --reader=NAME says who is fed (tests/fuzz/run).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/readers.hpp"

namespace {
const roofline::fuzz::Reader* fed = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kOption = "--reader=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word.starts_with(kOption)) fed = roofline::fuzz::find_reader(word.substr(kOption.size()));
  }
  if (fed != nullptr) return 0;
  std::fprintf(stderr, "--reader= names no reader\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  roofline::fuzz::feed(*fed, {reinterpret_cast<const char*>(data), size});
  return 0;
}
