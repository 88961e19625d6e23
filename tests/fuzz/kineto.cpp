#include "import/kineto.hpp"

#include "tests/fuzz/feed.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return roofline::feed_source(data, size, roofline::read_kineto);
}
