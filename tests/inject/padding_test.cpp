// Rows of token ids with padding, and what looks like them.
#include "inject/padding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace roofline::inject {
namespace {

enum class Side { right, left };

/// Rows of ids of random lengths between `shortest` and `longest`, padded to `length`.
template <typename Word>
std::vector<Word> batch(int rows, int length, int shortest, int longest, Side side = Side::right, Word pad = 0) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> ids(1000, 30000), lengths(shortest, longest);
  std::vector<Word> all;
  for (int row = 0; row < rows; ++row) {
    const int used = lengths(random);
    std::vector<Word> of_row(static_cast<std::size_t>(length), pad);
    for (int i = 0; i < used; ++i) {
      of_row[static_cast<std::size_t>(side == Side::right ? i : length - 1 - i)] = static_cast<Word>(ids(random));
    }
    all.insert(all.end(), of_row.begin(), of_row.end());
  }
  return all;
}

template <typename Word>
std::uint32_t padding(const std::vector<Word>& values) {
  return padding_of(values.data(), values.size() * sizeof(Word));
}

TEST(Padding, IsCountedInRowsOfIds) {
  EXPECT_NEAR(padding(batch<std::int64_t>(64, 512, 40, 80)), 883, 10);
  EXPECT_NEAR(padding(batch<std::int64_t>(64, 512, 40, 80, Side::left, 1)), 883, 10);
  EXPECT_NEAR(padding(batch<std::int32_t>(64, 512, 40, 80)), 883, 10);
  EXPECT_NEAR(padding(batch<std::int32_t>(64, 512, 40, 80, Side::left)), 883, 10);
  EXPECT_NEAR(padding(batch<std::int64_t>(100, 128, 64, 120, Side::right, 50256)), 281, 30);
  EXPECT_EQ(padding(batch<std::int64_t>(64, 512, 512, 512)), 0U) << "full rows";
  EXPECT_EQ(padding(batch<std::int64_t>(3, 512, 40, 80)), 0U) << "too few rows";
}

TEST(Padding, OtherBatchesHaveNone) {
  std::mt19937 random(7);
  // A mask beside the ids: ones, then zeros.
  std::vector<std::int64_t> mask = batch<std::int64_t>(64, 512, 40, 80);
  for (std::int64_t& value : mask) value = value != 0;
  EXPECT_EQ(padding(mask), 0U);
  // Images with dark borders, of bytes and of floats.
  std::vector<float> image(64 * 784);
  std::vector<std::uint8_t> bytes(64 * 784);
  for (std::size_t i = 0; i < image.size(); ++i) {
    const std::size_t column = i % 28;
    const bool inside = column > 8 && column < 20;
    image[i] = inside ? std::uniform_real_distribution<float>(0, 1)(random) : 0;
    bytes[i] = inside ? static_cast<std::uint8_t>(random() % 256) : 0;
  }
  EXPECT_EQ(padding(image), 0U);
  EXPECT_EQ(padding(bytes), 0U);
  // Boards: mostly zeros, with pieces anywhere. Labels; random numbers; one value.
  std::vector<std::int64_t> boards(64 * 361), labels(4096), numbers(4096);
  for (std::int64_t& value : boards) value = random() % 12 == 0 ? 1 + static_cast<std::int64_t>(random() % 2) : 0;
  for (std::int64_t& value : labels) value = static_cast<std::int64_t>(random() % 10);
  for (std::int64_t& value : numbers) value = static_cast<std::int64_t>(random());
  EXPECT_EQ(padding(boards), 0U);
  EXPECT_EQ(padding(labels), 0U);
  EXPECT_EQ(padding(numbers), 0U);
  EXPECT_EQ(padding(std::vector<std::int64_t>(4096, 5)), 0U);
  EXPECT_EQ(padding(std::vector<std::int64_t>()), 0U);
  EXPECT_EQ(padding_of("1234567", 7), 0U);
}

}  // namespace
}  // namespace roofline::inject
