// Inner loops of the direct convolution, one per instruction-set level.
#include "kernels/conv2d/direct_conv.hpp"

#include <cstring>

#include "kernels/blocks/cpu/pack_panels.hpp"
#include "kernels/blocks/cpu/register_tile.hpp"

namespace roofline {
namespace {

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }

template <typename T, typename Factor>
class Direct {
 public:
  using Sum = Summed<Factor>;
  static constexpr std::int64_t kColumns = RegisterTile<kIsa, Factor>::kColumns;
  static constexpr std::int64_t kTallest = RegisterTile<kIsa, Factor>::kPlacedRows;

  /// Past the last filter a panel contains arbitrary values. An odd channel is paired with a zero.
  static void pack(const T* filters, const ConvSize& size, const ConvBlocks& blocks, std::int64_t first,
                   std::int64_t last, Factor* to) {
    const std::int64_t pixels = size.kernel * size.kernel;
    for (std::int64_t panel = first; panel < last; ++panel) {
      const T* rows[kColumns];
      for (std::int64_t i = 0; i < kColumns; ++i) {
        rows[i] = filters + smaller(panel * kColumns + i, size.filters - 1) * size.depth;
      }
      Factor* into = to + panel * kColumns * pixels * blocks.channels;
      // All pixels at once, or one at a time if channels are padded.
      const std::int64_t together = size.channels % kProducts<Factor> == 0 ? size.depth : size.channels;
      for (std::int64_t p = 0; p < size.depth; p += together) {
        pack_across<kColumns, kIsa>(rows, together, into);
        into += kColumns * steps_of<Factor>(together);
        for (const T*& row : rows) row += together;
      }
    }
  }

  /// Copies the needed part of an image, zeros around it, channels padded to whole factors.
  static void place(const T* input, const ConvSize& size, const ConvBlocks& blocks, const ConvPiece& piece,
                    Factor* to) {
    auto* pixel = reinterpret_cast<Element*>(to);
    const std::int64_t channels = blocks.channels * kProducts<Factor>;
    const std::int64_t width = piece.columns + size.kernel - 1;
    const std::int64_t x = piece.left - size.padding;
    const std::int64_t before = smaller(larger(-x, 0), width);
    const std::int64_t inside = larger(smaller(size.width - x, width), before);
    for (std::int64_t row = 0; row < piece.rows + size.kernel - 1; ++row, pixel += width * channels) {
      const std::int64_t y = piece.top - size.padding + row;
      if (y < 0 || y >= size.height || inside == before) {
        std::memset(pixel, 0, static_cast<std::size_t>(width * channels) * sizeof(Element));
        continue;
      }
      const T* from = input + ((piece.image * size.height + y) * size.width + x + before) * size.channels;
      std::memset(pixel, 0, static_cast<std::size_t>(before * channels) * sizeof(Element));
      if (channels == size.channels) {
        copy(from, (inside - before) * channels, pixel + before * channels);
      } else {
        for (std::int64_t i = before; i < inside; ++i, from += size.channels) {
          copy(from, size.channels, pixel + i * channels);
          for (std::int64_t c = size.channels; c < channels; ++c) pixel[i * channels + c] = Element{};
        }
      }
      std::memset(pixel + inside * channels, 0,
                  static_cast<std::size_t>((width - inside) * channels) * sizeof(Element));
    }
  }

  static void convolve(const Factor* image, const Factor* filters, T* output, const ConvSize& size,
                       const ConvBlocks& blocks, const ConvPiece& piece, Sum* sums) {
    const std::int64_t line = size.kernel * blocks.channels;
    const std::int64_t steps = size.kernel * line;
    for (std::int64_t panel = piece.first_panel; panel < piece.last_panel; ++panel) {
      const std::int64_t filter = panel * kColumns;
      const std::int64_t count = smaller(kColumns, size.filters - filter);
      T* out = output + ((piece.image * size.rows + piece.top) * size.columns + piece.left) * size.filters + filter;
      const Factor* right = filters + panel * kColumns * steps;
      // Accumulators are stored directly, or through a panel buffer.
      if constexpr (!kSmallFloat<T>) {
        if (count == kColumns) {
          multiply(image, right, blocks, size, piece, out, size.filters, size.columns * size.filters);
          continue;
        }
      }
      multiply(image, right, blocks, size, piece, sums, kColumns, piece.columns * kColumns);
      for (std::int64_t y = 0; y < piece.rows; ++y) {
        for (std::int64_t x = 0; x < piece.columns; ++x) {
          put(sums + (y * piece.columns + x) * kColumns, out + (y * size.columns + x) * size.filters, count);
        }
      }
    }
  }

 private:
  /// The type of the copied image.
  using Element = std::conditional_t<kProducts<Factor> == 1, Factor, T>;

  static void put(const Sum* from, T* to, std::int64_t count) {
    if constexpr (kSmallFloat<T>) {
      if (count == kColumns) {
        using V = Vector<kIsa, T>;
        for (std::int64_t i = 0; i < kColumns; i += V::kLanes) V::store(to + i, V::load_values(from + i));
        return;
      }
    }
    for (std::int64_t i = 0; i < count; ++i) to[i] = narrowed<T>(from[i]);
  }

  static void copy(const T* from, std::int64_t count, Element* to) {
    if constexpr (std::is_same_v<T, Element>) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
    } else {
      converters<kIsa, T>().widen(from, to, count);
    }
  }

  /// The products of a panel, part by part. `ldc` elements between pixels of `c`, `row` between rows.
  static void multiply(const Factor* image, const Factor* right, const ConvBlocks& blocks, const ConvSize& size,
                       const ConvPiece& piece, Sum* c, std::int64_t ldc, std::int64_t row) {
    const std::int64_t width = (piece.columns + size.kernel - 1) * blocks.channels;
    const std::int64_t line = size.kernel * blocks.channels;
    bool add = false;
    const auto part = [&](const Factor* from, std::int64_t rows, std::int64_t steps) {
      // Each tile prefetches part of the next filters or of the next panel.
      const std::int64_t bytes = rows * steps * kColumns * std::int64_t{sizeof(Factor)};
      const std::int64_t tiles = piece.rows * ((piece.columns + kTallest - 1) / kTallest);
      const std::int64_t asking = 1 + tiles * rows * (steps / kDepthUnroll);
      AskAhead<kIsa> ahead{reinterpret_cast<const char*>(right) + bytes, bytes / asking};
      const auto rows_of = [&](auto finish) {
        for (std::int64_t y = 0; y < piece.rows; ++y, from += width) {
          ahead = multiply_placed<kIsa>(PlacedRows<Factor>{from, blocks.channels, rows, width}, right, steps,
                                        c + y * row, ldc, piece.columns, finish, ahead);
        }
      };
      if (add) {
        rows_of(AddTo{});
      } else {
        rows_of(Overwrite{});
      }
      add = true;
      right += rows * steps * kColumns;
    };
    for (std::int64_t r = 0; r < size.kernel; r += blocks.part_rows) {
      const std::int64_t rows = smaller(blocks.part_rows, size.kernel - r);
      if (rows > 1 || blocks.part_steps == line) {
        part(image + r * width, rows, line);
      } else {
        for (std::int64_t p = 0; p < line; p += blocks.part_steps) {
          part(image + r * width + p, 1, smaller(blocks.part_steps, line - p));
        }
      }
    }
  }
};

}  // namespace

template <Isa isa, typename T, typename Factor>
ConvKernels<T, Factor> conv_kernels() {
  using Tile = RegisterTile<isa, Factor>;
  return {.tile = {Tile::kPlacedRows, Tile::kColumns, sizeof(Factor), Tile::kPanelLevel},
          .pack = &Direct<T, Factor>::pack,
          .place = &Direct<T, Factor>::place,
          .convolve = &Direct<T, Factor>::convolve};
}

template ConvKernels<float, float> conv_kernels<kIsa>();
template ConvKernels<double, double> conv_kernels<kIsa>();
template ConvKernels<Fp16, float> conv_kernels<kIsa>();
template ConvKernels<Bf16, float> conv_kernels<kIsa>();
template ConvKernels<Bf16, Bf16Pair> conv_kernels<kIsa>();

}  // namespace roofline
