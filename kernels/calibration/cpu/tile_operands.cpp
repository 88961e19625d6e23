// Sums stay small without small operands: the second half of the depth nearly cancels the first.
#include "kernels/calibration/cpu/tile_operands.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

namespace roofline {
namespace {

/// Elements that share a 32-bit word.
template <typename T>
constexpr std::int64_t kInWord = std::int64_t{4 / sizeof(T)};

template <typename T>
std::byte* place(std::uint32_t& word, std::int64_t depth) {
  return reinterpret_cast<std::byte*>(&word) + depth % kInWord<T> * std::int64_t{sizeof(T)};
}

template <typename T>
void put(std::uint32_t& word, std::int64_t depth, int value) {
  T element{};
  if constexpr (std::is_same_v<T, std::int8_t>) {
    element = static_cast<T>(value);
  } else {
    element = narrowed<T>(static_cast<float>(value));
  }
  std::memcpy(place<T>(word, depth), &element, sizeof element);
}

template <typename T>
std::int64_t get(std::uint32_t word, std::int64_t depth) {
  T element{};
  std::memcpy(&element, place<T>(word, depth), sizeof element);
  if constexpr (std::is_same_v<T, std::int8_t>) {
    return element;
  } else {
    return std::llround(widened(element));
  }
}

/// What one product adds to an element.
template <typename T>
std::int64_t step(const Tile& left, const Tile& right, int i, int j) {
  std::int64_t sum = 0;
  for (std::int64_t p = 0; p < kTileDepth<T>; ++p) {
    sum += get<T>(left.words[i][p / kInWord<T>], p) * get<T>(right.words[p / kInWord<T>][j], p);
  }
  return sum;
}

/// True if all sums with this right tile stay exact in fp32, including partial sums within the last product.
template <typename T>
bool stays_exact(const TileOperands& operands, const Tile& right, std::int64_t rounds) {
  constexpr std::int64_t kWithin = kTileDepth<T> * 127 * 127;
  const std::int64_t most = ((std::int64_t{1} << 24) - kWithin) / rounds;
  for (const Tile& left : operands.left) {
    for (int i = 0; i < kTileRows; ++i) {
      for (int j = 0; j < kTileRows; ++j) {
        if (std::abs(step<T>(left, right, i, j)) > most) return false;
      }
    }
  }
  return true;
}

}  // namespace

template <>
TileOperands random_tile_operands<std::int8_t>(std::int64_t) {
  std::mt19937 random(20);
  TileOperands operands;
  for (auto* tiles : {&operands.left, &operands.right}) {
    for (Tile& tile : *tiles) {
      for (auto& row : tile.words) {
        for (std::uint32_t& word : row) word = static_cast<std::uint32_t>(random());
      }
    }
  }
  return operands;
}

template <typename T>
TileOperands random_tile_operands(std::int64_t rounds) {
  constexpr std::int64_t kHalf = kTileDepth<T> / 2;
  std::mt19937 random(20);
  std::uniform_int_distribution<int> whole(-126, 126);
  std::uniform_int_distribution<int> rest(-1, 1);
  TileOperands operands{};
  for (Tile& left : operands.left) {
    for (auto& row : left.words) {
      for (std::int64_t p = 0; p < kHalf; ++p) {
        const int value = whole(random);
        put<T>(row[p / kInWord<T>], p, value);
        put<T>(row[(p + kHalf) / kInWord<T>], p + kHalf, value);
      }
    }
  }
  for (Tile& right : operands.right) {
    do {
      for (int j = 0; j < kTileRows; ++j) {
        for (std::int64_t p = 0; p < kHalf; ++p) {
          const int value = whole(random);
          put<T>(right.words[p / kInWord<T>][j], p, value);
          put<T>(right.words[(p + kHalf) / kInWord<T>][j], p + kHalf, rest(random) - value);
        }
      }
    } while (!stays_exact<T>(operands, right, rounds));
  }
  return operands;
}

template <typename T>
std::int64_t tile_step(const TileOperands& operands, int sum, int i, int j) {
  return step<T>(operands.left[sum / kStepTiles], operands.right[sum % kStepTiles], i, j);
}

template TileOperands random_tile_operands<Bf16>(std::int64_t);
template TileOperands random_tile_operands<Fp16>(std::int64_t);
template std::int64_t tile_step<Bf16>(const TileOperands&, int, int, int);
template std::int64_t tile_step<Fp16>(const TileOperands&, int, int, int);
template std::int64_t tile_step<std::int8_t>(const TileOperands&, int, int, int);

}  // namespace roofline
