// The product of 8-bit integers, one for each instruction-set level. Several neighbours along k share a 32-bit lane,
// and one step adds their products to it: pairs, widened to 16 bits, everywhere (a multiplication of pairs and an
// addition); fours where there is VNNI, or AArch64's sdot. Such lanes are numbers to the register tile of
// register_tile.hpp like any others. VNNI takes unsigned bytes on one side: A's are raised by 128, and 128 times the
// sum of B's column is taken off again.
#include "kernels/gemm/gemm_int8.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/blocks/cpu/register_tile.hpp"

namespace roofline {
namespace {

using Lanes [[gnu::vector_size(kVectorBytes)]] = std::int32_t;

struct alignas(4) Pairs {
  std::int16_t of[2];
  static constexpr std::int64_t kProducts = 2;
  static constexpr std::int32_t kRaised = 0;  ///< what A's elements are raised by
};

struct alignas(4) Fours {
#if defined(__aarch64__)
  std::int8_t of[4];
  static constexpr std::int32_t kRaised = 0;
#else
  std::uint8_t of[4];
  static constexpr std::int32_t kRaised = 128;
#endif
  static constexpr std::int64_t kProducts = 4;
};

inline void add_products(Lanes& sums, const Lanes& a, const Lanes& b, Pairs) {
#if defined(__AVX512BW__)
  sums += reinterpret_cast<Lanes>(_mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  sums += reinterpret_cast<Lanes>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  sums += reinterpret_cast<Lanes>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#elif defined(__aarch64__)
  // Four lanes' products in eight, and neighbours added up.
  const auto left = reinterpret_cast<int16x8_t>(a);
  const auto right = reinterpret_cast<int16x8_t>(b);
  const int32x4_t lower = vmull_s16(vget_low_s16(left), vget_low_s16(right));
  sums += reinterpret_cast<Lanes>(vpaddq_s32(lower, vmull_high_s16(left, right)));
#else
  sums += (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
}

/// Written out, as the level's flags don't include it; run only where the CPU has it.
inline void add_products(Lanes& sums, const Lanes& a, const Lanes& b, Fours) {
#if defined(__AVX512F__)
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b));
#elif defined(__AVX2__)
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(a), "x"(b));
#elif defined(__aarch64__)
  asm(".arch armv8.2-a+dotprod\n\tsdot %0.4s, %1.16b, %2.16b" : "+w"(sums) : "w"(a), "w"(b));
#else
  (void)sums, (void)a, (void)b;
#endif
}

/// A lane's worth of A or B.
template <typename Word>
Word word_of(const std::int8_t* from, std::int64_t count, std::int32_t raised) {
  Word word{};
  for (std::int64_t i = 0; i < Word::kProducts && i < count; ++i) {
    word.of[i] = static_cast<std::remove_reference_t<decltype(word.of[0])>>(from[i] + raised);
  }
  return word;
}

}  // namespace

/// Lanes that hold several products each, or a sum of them, as vectors of register_tile.hpp.
template <Isa isa, typename Word>
requires requires { Word::kProducts; }
struct Vector<isa, Word> {
  using Packet = Lanes;
  static constexpr std::int64_t kLanes = kVectorBytes / 4;

  static Packet load(const Word* from) {
    Packet packet;
    std::memcpy(&packet, from, sizeof packet);
    return packet;
  }
  static void store(Word* to, Packet packet) { std::memcpy(to, &packet, sizeof packet); }
  static Packet add(Packet a, Packet b) { return a + b; }
  static Packet all(Word word) { return Packet{} + std::bit_cast<std::int32_t>(word); }
  static Packet multiply_add(Packet a, Packet b, Packet sums) {
    add_products(sums, a, b, Word{});
    return sums;
  }
};

namespace {

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr std::int64_t up_to(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit * unit; }

template <typename Word>
constexpr std::int64_t kPanel = RegisterTile<kIsa, Word>::kColumns;

/// Rows of A that are multiplied at a time: 24 to 48 KiB, which stay in L2 beside a panel of B in L1.
constexpr std::int64_t kRowBlock = 96;

/// A workspace's parts.
template <typename Word>
struct Parts {
  static constexpr std::int64_t kSteps = kInt8Depth / Word::kProducts;
  static constexpr std::int64_t kColumns = up_to(kInt8Tile, kPanel<Word>);

  Word* left;           ///< [kRowBlock × kSteps]
  Word* right;          ///< panels of [kSteps × kPanel]
  Word* sums;           ///< panels of [kInt8Tile × kPanel]
  std::uint32_t* over;  ///< [kColumns], what raising A adds to a column of C, modulo 2^32 like the sums themselves

  static constexpr std::int64_t words() {
    return kRowBlock * kSteps + kColumns * kSteps + kColumns * kInt8Tile + kColumns;
  }
  explicit Parts(std::uint32_t* workspace)
      : left(reinterpret_cast<Word*>(workspace)),
        right(left + kRowBlock * kSteps),
        sums(right + kColumns * kSteps),
        over(reinterpret_cast<std::uint32_t*>(sums + kColumns * kInt8Tile)) {}
};

/// Rows of A in panels, zeros (raised, too: B has zeros there) behind the last product.
template <typename Word>
void pack_left(const std::int8_t* a, std::int64_t lda, std::int64_t rows, std::int64_t depth, Word* to) {
  constexpr std::int64_t kRows = RegisterTile<kIsa, Word>::kRows;
  const std::int64_t steps = up_to(depth, Word::kProducts) / Word::kProducts;
  for (std::int64_t i = 0; i < rows; ++i, a += lda) {
    Word* row = to + i / kRows * kRows * steps + i % kRows;
    for (std::int64_t p = 0; p < depth; p += Word::kProducts, row += kRows) {
      *row = word_of<Word>(a + p, smaller(Word::kProducts, depth - p), Word::kRaised);
    }
  }
}

/// Columns of B in panels, zeros past the last one; adds to `over`.
template <typename Word>
void pack_right(const std::int8_t* b, std::int64_t ldb, std::int64_t columns, std::int64_t depth, Word* to,
                std::uint32_t* over) {
  const std::int64_t steps = up_to(depth, Word::kProducts) / Word::kProducts;
  const std::int64_t whole = depth / Word::kProducts;
  for (std::int64_t j = 0; j < up_to(columns, kPanel<Word>); ++j) {
    Word* lane = to + j / kPanel<Word> * kPanel<Word> * steps + j % kPanel<Word>;
    if (j >= columns) {
      for (std::int64_t step = 0; step < steps; ++step) lane[step * kPanel<Word>] = Word{};
      continue;
    }
    const std::int8_t* from = b + j * ldb;
    for (std::int64_t step = 0; step < whole; ++step) {
      lane[step * kPanel<Word>] = word_of<Word>(from + step * Word::kProducts, Word::kProducts, 0);
    }
    const std::int64_t done = whole * Word::kProducts;
    if (done < depth) lane[whole * kPanel<Word>] = word_of<Word>(from + done, depth - done, 0);
    if constexpr (Word::kRaised != 0) {
      std::int32_t sum = 0;
      for (std::int64_t p = 0; p < depth; ++p) sum += from[p];
      over[j] += static_cast<std::uint32_t>(Word::kRaised * sum);
    }
  }
}

/// All of the products of one tile of C.
template <typename Word>
void sum_tile(const std::int8_t* a, const std::int8_t* b, std::int64_t rows, std::int64_t columns, std::int64_t depth,
              const Parts<Word>& parts) {
  const std::int64_t panels = up_to(columns, kPanel<Word>) / kPanel<Word>;
  for (std::int64_t i = 0; i < panels * kPanel<Word> * rows; ++i) parts.sums[i] = Word{};
  for (std::int64_t j = 0; j < panels * kPanel<Word>; ++j) parts.over[j] = 0;
  for (std::int64_t p = 0; p < depth; p += kInt8Depth) {
    const std::int64_t products = smaller(kInt8Depth, depth - p);
    const std::int64_t steps = up_to(products, Word::kProducts) / Word::kProducts;
    pack_right(b + p, depth, columns, products, parts.right, parts.over);
    for (std::int64_t i = 0; i < rows; i += kRowBlock) {
      const std::int64_t count = smaller(kRowBlock, rows - i);
      pack_left(a + i * depth + p, depth, count, products, parts.left);
      for (std::int64_t panel = 0; panel < panels; ++panel) {
        multiply_rows<kIsa>(parts.left, steps, parts.right + panel * kPanel<Word> * steps, steps,
                            parts.sums + (panel * rows + i) * kPanel<Word>, kPanel<Word>, count, AddTo{});
      }
    }
  }
}

template <typename Word>
void product(const std::int8_t* a, const std::int8_t* b, std::int32_t* c, std::int64_t ldc, std::int64_t rows,
             std::int64_t columns, std::int64_t depth, std::uint32_t* workspace) {
  const Parts<Word> parts(workspace);
  for (std::int64_t left = 0; left < columns; left += kInt8Tile) {
    const std::int64_t width = smaller(kInt8Tile, columns - left);
    for (std::int64_t top = 0; top < rows; top += kInt8Tile) {
      const std::int64_t height = smaller(kInt8Tile, rows - top);
      sum_tile(a + top * depth, b + left * depth, height, width, depth, parts);
      for (std::int64_t i = 0; i < height; ++i) {
        for (std::int64_t j = 0; j < width; ++j) {
          const Word sum = parts.sums[(j / kPanel<Word> * height + i) * kPanel<Word> + j % kPanel<Word>];
          c[(top + i) * ldc + left + j] = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(sum) - parts.over[j]);
        }
      }
    }
  }
}

}  // namespace

template <>
Int8Product int8_product<kIsa>(bool dots) {
  if (dots) return {.workspace = Parts<Fours>::words(), .run = &product<Fours>};
  return {.workspace = Parts<Pairs>::words(), .run = &product<Pairs>};
}

}  // namespace roofline
