#include "inject/buffer_size.hpp"

#include <gtest/gtest.h>

namespace roofline::inject {
namespace {

std::size_t after(BufferSize& size, int buffers, std::uint64_t pause) {
  static std::uint64_t time = kSecond;
  std::size_t bytes = 0;
  for (int i = 0; i < buffers; ++i) bytes = size.next(time += pause);
  return bytes;
}

TEST(BufferSize, RareRecordsComeInSmallBuffers) {
  BufferSize size;
  EXPECT_EQ(after(size, 10, kSecond), BufferSize::kLeast);
}

TEST(BufferSize, BuffersGrowWithTheirNumberAndShrinkBehindIt) {
  BufferSize size;
  EXPECT_EQ(after(size, 10, kSecond / 1000), BufferSize::kMost);
  EXPECT_EQ(after(size, 10, kSecond / 10), BufferSize::kMost);
  EXPECT_EQ(after(size, 10, kSecond), BufferSize::kLeast);
}

}  // namespace
}  // namespace roofline::inject
