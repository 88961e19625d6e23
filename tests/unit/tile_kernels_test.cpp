// What runs on tiles: operands brought into them, the loops around them, and what the matrix ceilings are checked by,
// on computed tiles at every instruction-set level; and the implementations themselves where the CPU has AMX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "device/cpu/amx.hpp"
#include "device/cpu/cpu_device.hpp"
#include "kernels/calibration/cpu/tile_operands.hpp"
#include "measure/audit.hpp"
#include "op/case.hpp"
#include "op/registry.hpp"
#include "tests/emulated/tile_kernels.hpp"

namespace roofline {
namespace {

constexpr std::uint32_t kUntouched = 0xdeadbeef;

Tile untouched_tile() {
  Tile tile;
  for (auto& row : tile.words) std::fill(std::begin(row), std::end(row), kUntouched);
  return tile;
}

/// Tiles with one more behind them, which nobody may touch.
class GuardedTiles {
 public:
  explicit GuardedTiles(std::int64_t count) : tiles_(static_cast<std::size_t>(count) + 1, untouched_tile()) {}
  Tile* data() { return tiles_.data(); }
  bool intact() const {
    const Tile expected = untouched_tile();
    return std::memcmp(&tiles_.back(), &expected, sizeof expected) == 0;
  }

 private:
  std::vector<Tile> tiles_;
};

template <typename T>
T random_element(std::mt19937& random) {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    return static_cast<T>(std::uniform_int_distribution<int>(-128, 127)(random));
  } else {
    return narrowed<T>(std::uniform_real_distribution<float>(-1, 1)(random));
  }
}
template <typename T>
std::vector<T> random_elements(std::int64_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<T> elements(static_cast<std::size_t>(count));
  std::generate(elements.begin(), elements.end(), [&] { return random_element<T>(random); });
  return elements;
}
double value(std::int8_t element) { return element; }
double value(std::int32_t element) { return element; }
double value(float element) { return static_cast<double>(element); }
template <typename T>
double value(T element) {
  return static_cast<double>(widened(element));
}

template <typename F>
void at_every_level(F f) {
  for (const Isa isa : usable_isas()) {
    SCOPED_TRACE(to_string(isa));
    with_isa(isa, f);
  }
}

/// Element (row, column) of 16 bits as a tile holds it, and of B's interleaved form: depth p, column j.
std::uint16_t half_at(const Tile& tile, std::int64_t row, std::int64_t column) {
  return static_cast<std::uint16_t>(tile.words[row][column / 2] >> (column % 2 == 0 ? 0U : 16U));
}

TEST(TileForms, HoldWhatIsInsideAndZerosAroundIt) {
  constexpr std::int64_t kStride = 50;
  std::vector<Bf16> matrix(40 * kStride);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i].bits = static_cast<std::uint16_t>(i + 1);
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return matrix[static_cast<std::size_t>(row * kStride + column)].bits;
  };
  const std::pair<std::int64_t, std::int64_t> extents[] = {{16, 32}, {17, 33}, {40, 50}, {15, 32}, {16, 31},
                                                           {1, 1},   {0, 32},  {16, 0},  {-3, 5},  {5, -3}};
  at_every_level([&]<Isa isa>() {
    const EmulatedForms forms = emulated_forms<isa>();
    for (const auto& [rows, columns] : extents) {
      Tile tile = untouched_tile();
      forms.rows(matrix.data(), 2 * kStride, rows, 2 * columns, tile);
      for (std::int64_t i = 0; i < 16; ++i) {
        for (std::int64_t c = 0; c < 32; ++c) {
          ASSERT_EQ(half_at(tile, i, c), i < rows && c < columns ? at(i, c) : 0) << rows << 'x' << columns;
        }
      }
      // The other way round: depth down, 32 of it, and 16 columns.
      forms.pairs(matrix.data(), kStride, columns, rows, tile);
      for (std::int64_t p = 0; p < 32; ++p) {
        for (std::int64_t j = 0; j < 16; ++j) {
          ASSERT_EQ(half_at(tile, p / 2, 2 * j + p % 2), p < columns && j < rows ? at(p, j) : 0) << rows << columns;
        }
      }
    }
  });
}

TEST(TileForms, TransposeWords) {
  Tile tile;
  for (std::uint32_t i = 0; i < 16; ++i) {
    for (std::uint32_t j = 0; j < 16; ++j) tile.words[i][j] = 100 * i + j;
  }
  at_every_level([&]<Isa isa>() {
    Tile turned = tile;
    emulated_forms<isa>().transpose(turned);
    for (std::uint32_t i = 0; i < 16; ++i) {
      for (std::uint32_t j = 0; j < 16; ++j) ASSERT_EQ(turned.words[i][j], 100 * j + i);
    }
  });
}

/// C in the middle of a larger matrix, of which nothing else may change.
template <Isa isa, typename T>
void expect_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  SCOPED_TRACE(testing::Message() << m << 'x' << n << 'x' << k << ", " << sizeof(T) << " bytes");
  using Result = typename TiledProduct<T>::Result;
  constexpr bool kTransposed = std::is_same_v<T, std::int8_t>;
  const std::int64_t ldc = n + 5;
  const std::int64_t ldb = (kTransposed ? k : n) + 3;
  const auto a = random_elements<T>(m * k);
  const auto b = random_elements<T>((kTransposed ? n : k) * ldb);
  Result guard{};
  std::memset(&guard, 0x5a, sizeof guard);
  std::vector<Result> c(static_cast<std::size_t>(m * ldc), guard);
  GuardedTiles workspace(tiled_workspace(m, n));
  emulated_product<isa, T>({a.data(), k, b.data(), ldb, c.data(), ldc, m, n, k}, workspace.data());
  EXPECT_TRUE(workspace.intact());
  const double magnitude = std::sqrt(static_cast<double>(k)) / 3;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < ldc; ++j) {
      const Result found = c[static_cast<std::size_t>(i * ldc + j)];
      if (j >= n) {
        ASSERT_EQ(std::memcmp(&found, &guard, sizeof guard), 0) << "row " << i << ", past the end";
        continue;
      }
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        sum += value(a[static_cast<std::size_t>(i * k + p)]) *
               value(b[static_cast<std::size_t>(kTransposed ? j * ldb + p : p * ldb + j)]);
      }
      const double unit = kTransposed ? 0 : std::is_same_v<T, Bf16> ? 0x1p-8 : 0x1p-11;
      ASSERT_NEAR(value(found), sum, 2 * unit * (std::abs(sum) + magnitude)) << "row " << i << ", column " << j;
    }
  }
}

TEST(TiledProduct, IsRightAtEveryEdge) {
  // Below a tile, a block, and around each of the pieces that the loops cut it into.
  const std::int64_t shapes[][3] = {{1, 1, 1},
                                    {33, 15, 63},
                                    {31, 33, 65},
                                    {32, 64, 128},
                                    {kTiledRows + 1, 17, 40},
                                    {40, kTiledColumns + 17, 33},
                                    {35, 37, 2 * kTiledSteps * 64 + 1}};
  at_every_level([&]<Isa isa>() {
    for (const auto& [m, n, k] : shapes) {
      expect_product<isa, Bf16>(m, n, k);
      expect_product<isa, Fp16>(m, n, k);
      expect_product<isa, std::int8_t>(m, n, k);
    }
  });
}

/// Blocks of pixels in two parts, as two threads would take them.
template <Isa isa, typename T>
void expect_convolution(const Shape& shape) {
  SCOPED_TRACE(testing::Message() << shape["height"] << 'x' << shape["width"] << ", " << shape["channels"]
                                  << " channels, kernel " << shape["kernel"]);
  const ConvSize size = conv_size(shape);
  const ConvTiles count(size);
  const auto input = random_elements<T>(size.batch * size.height * size.width * size.channels);
  const auto filters = random_elements<T>(size.filters * size.depth);
  std::vector<T> output(static_cast<std::size_t>(size.pixels * size.filters + 1), T{0x7777});
  GuardedTiles packed(count.filters);
  GuardedTiles workspace(count.workspace);
  const std::int64_t some = count.filter_blocks * count.steps / 3;
  emulated_pack_filters<isa>(filters.data(), size, 0, some, packed.data());
  emulated_pack_filters<isa>(filters.data(), size, some, count.filter_blocks * count.steps - some, packed.data());
  const std::int64_t blocks = count.pixel_blocks / 3;
  for (const auto& [first, part] :
       {std::pair(blocks, count.pixel_blocks - blocks), std::pair(std::int64_t{0}, blocks)}) {
    emulated_convolution<isa>(input.data(), packed.data(), output.data(), size, first, part, workspace.data());
  }
  EXPECT_TRUE(packed.intact());
  EXPECT_TRUE(workspace.intact());
  EXPECT_EQ(output.back().bits, 0x7777);
  const double unit = std::is_same_v<T, Bf16> ? 0x1p-8 : 0x1p-11;
  const double magnitude = std::sqrt(static_cast<double>(size.depth)) / 3;
  for (std::int64_t i = 0; i < size.pixels * size.filters; ++i) {
    const std::int64_t pixel = i / size.filters;
    double sum = 0;
    for (std::int64_t p = 0; p < size.depth; ++p) {
      const std::int64_t y = pixel / size.columns % size.rows - size.padding + p / size.channels / size.kernel;
      const std::int64_t x = pixel % size.columns - size.padding + p / size.channels % size.kernel;
      if (y < 0 || y >= size.height || x < 0 || x >= size.width) continue;
      const std::int64_t image = pixel / size.columns / size.rows;
      const std::int64_t at = ((image * size.height + y) * size.width + x) * size.channels + p % size.channels;
      sum += value(input[static_cast<std::size_t>(at)]) *
             value(filters[static_cast<std::size_t>(i % size.filters * size.depth + p)]);
    }
    ASSERT_NEAR(value(output[static_cast<std::size_t>(i)]), sum, 2 * unit * (std::abs(sum) + magnitude))
        << "pixel " << pixel << ", filter " << i % size.filters;
  }
}

Shape conv_shape(std::int64_t batch, std::int64_t height, std::int64_t width, std::int64_t channels,
                 std::int64_t filters, std::int64_t kernel, std::int64_t padding) {
  return {{"batch", batch},     {"height", height}, {"width", width},    {"channels", channels},
          {"filters", filters}, {"kernel", kernel}, {"padding", padding}};
}

TEST(TiledConv, IsRightAtEveryEdge) {
  at_every_level([]<Isa isa>() {
    for (const Shape& shape : {
             conv_shape(1, 1, 1, 1, 1, 1, 0), conv_shape(1, 1, 2, 3, 2, 3, 1),  // a window's row is shorter than a step
             conv_shape(3, 7, 5, 19, 33, 5, 2),    // steps that begin in one row and end in another
             conv_shape(2, 6, 6, 64, 17, 3, 1),    // and that never do; several depths
             conv_shape(2, 5, 9, 48, 31, 2, 2),    // padding wider than the kernel reaches
             conv_shape(1, 33, 33, 4, 540, 1, 0),  // more blocks than are worked on at a time
         }) {
      expect_convolution<isa, Bf16>(shape);
      expect_convolution<isa, Fp16>(shape);
    }
  });
}

template <Isa isa, typename T>
void expect_attention(std::int64_t queries, std::int64_t keys, std::int64_t d, bool causal) {
  SCOPED_TRACE(testing::Message() << queries << " of " << keys << ", d " << d << (causal ? ", causal" : ""));
  const auto q = random_elements<T>(queries * d);
  const auto k = random_elements<T>(keys * d);
  const auto v = random_elements<T>(keys * d + 1);
  std::vector<T> o(static_cast<std::size_t>(queries * d + 1), T{0x7777});
  GuardedTiles head(head_tiles(keys, d));
  GuardedTiles workspace(tiled_attention_workspace(d));
  for (std::int64_t first = 0; first < keys; first += kTiledKeys) {
    emulated_pack_head<isa>(k.data() + first * d, v.data() + first * d, std::min(kTiledKeys, keys - first), d,
                            head.data() + head_tiles(first, d));
  }
  emulated_attention<isa>(q.data(), head.data(), keys, o.data(), workspace.data(), queries, keys, d, causal);
  EXPECT_TRUE(head.intact());
  EXPECT_TRUE(workspace.intact());
  EXPECT_EQ(o.back().bits, 0x7777);
  const auto at = [d](const std::vector<T>& tensor, std::int64_t row, std::int64_t c) {
    return value(tensor[static_cast<std::size_t>(row * d + c)]);
  };
  for (std::int64_t i = 0; i < queries; ++i) {
    std::vector<double> weights;
    for (std::int64_t j = 0; j < (causal ? keys - queries + i + 1 : keys); ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < d; ++c) score += at(q, i, c) * at(k, j, c);
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(d))));
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::int64_t c = 0; c < d; ++c) {
      double expected = 0;
      for (std::size_t j = 0; j < weights.size(); ++j) {
        expected += weights[j] / sum * at(v, static_cast<std::int64_t>(j), c);
      }
      // Of weights and of the result, each rounded to the type.
      const double unit = std::is_same_v<T, Bf16> ? 0x1p-8 : 0x1p-11;
      ASSERT_NEAR(at(o, i, c), expected, unit * (std::abs(expected) + 1 / std::sqrt(weights.size())))
          << "query " << i << ", element " << c;
    }
  }
}

TEST(TiledAttention, IsRightAtEveryEdge) {
  at_every_level([&]<Isa isa>() {
    for (const bool causal : {false, true}) {
      expect_attention<isa, Bf16>(1, 1, 1, causal);
      expect_attention<isa, Bf16>(33, 67, 19, causal);
      expect_attention<isa, Fp16>(kTiledQueries, 200, 64, causal);
      expect_attention<isa, Bf16>(kTiledQueries, kTiledKeys + 40, 33, causal);
      expect_attention<isa, Fp16>(3, 2 * kTiledKeys + 1, 8, causal);
    }
    expect_attention<isa, Bf16>(100, 100, 16, true);
  });
}

template <typename T>
void expect_exact_sums() {
  constexpr std::int64_t kRounds = 3;
  const TileOperands operands = random_tile_operands<T>(1 << 14);
  for (int sum = 0; sum < kBlockTiles; ++sum) {
    Tile computed{};
    for (int round = 0; round < kRounds; ++round) {
      emulated_step<Isa::baseline, T>(operands.left[sum / 2], operands.right[sum % 2], computed);
    }
    int differs = 0;
    for (int i = 0; i < kTileRows; ++i) {
      for (int j = 0; j < kTileRows; ++j) {
        const std::int64_t step = tile_step<T>(operands, sum, i, j);
        ASSERT_EQ(std::llround(value(std::bit_cast<TileSum<T>>(computed.words[i][j]))), kRounds * step);
        differs += step != 0 ? 1 : 0;
        if constexpr (!std::is_same_v<T, std::int8_t>) {
          EXPECT_LT(std::abs(step) << 14, 1 << 24) << "fp32 would round";
        }
      }
    }
    EXPECT_GT(differs, 240) << "a lost round must show";
  }
  const auto bytes = std::as_bytes(std::span(&operands, 1));
  EXPECT_EQ(audit_operands(bytes).status, CheckStatus::pass);
}

/// On computed tiles, claims of different length, one after the other.
template <Isa isa, typename T>
void expect_exact_chains() {
  const TileOperands operands = random_tile_operands<T>(1 << 14);
  GuardedTiles totals(kBlockTiles);
  std::fill_n(totals.data(), kBlockTiles, Tile{});
  for (const std::int64_t rounds : {5, 1, 3}) emulated_chains<isa, T>(rounds, operands, totals.data());
  EXPECT_TRUE(totals.intact());
  for (int sum = 0; sum < kBlockTiles; ++sum) {
    for (int i = 0; i < kTileRows; ++i) {
      for (int j = 0; j < kTileRows; ++j) {
        ASSERT_EQ(totals.data()[sum].words[i][j], static_cast<std::uint32_t>(9 * tile_step<T>(operands, sum, i, j)));
      }
    }
  }
}

TEST(TileChains, AddUpWhatClaimsComeTo) {
  at_every_level([]<Isa isa>() {
    expect_exact_chains<isa, Bf16>();
    expect_exact_chains<isa, Fp16>();
    expect_exact_chains<isa, std::int8_t>();
  });
}

TEST(TileOperands, AreRandomAndTheirSumsExact) {
  expect_exact_sums<Bf16>();
  expect_exact_sums<Fp16>();
  expect_exact_sums<std::int8_t>();
}

#if defined(__x86_64__)
/// Each op's implementation on AMX, at a shape beyond its pieces.
TEST(AmxImplementations, RunOrSayWhyNot) {
  CpuDevice device({});
  const Workload workloads[] = {
      {.op = "gemm",
       .implementation = "amx",
       .dtype = DType::bf16,
       .shape = {{"m", 300}, {"n", 1100}, {"k", 700}},
       .label = ""},
      {.op = "gemm",
       .implementation = "amx",
       .dtype = DType::fp16,
       .shape = {{"m", 300}, {"n", 1100}, {"k", 700}},
       .label = ""},
      {.op = "gemm",
       .implementation = "amx",
       .dtype = DType::int8,
       .shape = {{"m", 300}, {"n", 700}, {"k", 2100}},
       .label = ""},
      {.op = "conv2d",
       .implementation = "amx",
       .dtype = DType::bf16,
       .shape = conv_shape(2, 30, 40, 70, 100, 3, 1),
       .label = ""},
      {.op = "conv2d",
       .implementation = "amx",
       .dtype = DType::fp16,
       .shape = conv_shape(1, 56, 56, 64, 64, 3, 1),
       .label = ""},
      {.op = "attention",
       .implementation = "amx",
       .dtype = DType::bf16,
       .shape = {{"batch", 1}, {"heads", 4}, {"seq", 1100}, {"head_dim", 128}, {"causal", 1}, {"kv_heads", 2}},
       .label = ""}};
  std::string missing;
  for (const Workload& w : workloads) {
    const Op& op = *find_op(w.op);
    const Implementation implementation = implementations_of(op, DeviceKind::cpu).back();
    ASSERT_EQ(implementation.name, "amx");
    if (const auto reason = amx_missing(w.dtype, device.isa())) {
      EXPECT_EQ(implementation.unsupported(w, device), reason);
      EXPECT_THROW(Case(op, implementation, w, device), Unsupported);
      missing = *reason;
    } else {
      const Verification result = Case(op, implementation, w, device).verify();
      EXPECT_TRUE(result.passed) << w.op << ' ' << to_string(w.dtype) << ": " << result.failure;
    }
  }
  if (!missing.empty()) GTEST_SKIP() << "not all were run: " << missing;
}
#endif

}  // namespace
}  // namespace roofline
