// Wrappers of the AMX tile instructions, as inline assembly: no compiler flags are needed, and they run only on CPUs
// with AMX (device/cpu/amx.hpp). Include only in *.amx.cpp files.
#pragma once

#include <cstdint>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/small_float.hpp"
#include "kernels/blocks/cpu/tile.hpp"

namespace roofline {

/// The eight tile registers of this thread, each 16 rows of 64 bytes, for the lifetime of the object. They are
/// released afterwards, because a thread with live tiles saves 8 KiB more at every context switch. The level,
/// always AVX-512, is a parameter for unique symbols, as in Vector.
template <Isa isa>
class AmxTiles {
 public:
  AmxTiles() {
    struct alignas(64) Configuration {
      std::uint8_t palette, first_row, reserved[14];
      std::uint16_t row_bytes[16];
      std::uint8_t rows[16];
    } configuration{};
    configuration.palette = 1;
    for (int tile = 0; tile < 8; ++tile) {
      configuration.row_bytes[tile] = 64;
      configuration.rows[tile] = 16;
    }
    asm volatile("ldtilecfg %0" ::"m"(configuration));
  }
  ~AmxTiles() { asm volatile("tilerelease"); }
  AmxTiles(const AmxTiles&) = delete;
  AmxTiles& operator=(const AmxTiles&) = delete;

  template <int kTile>
  void zero() {
    asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
  }
  template <int kTile>
  void load(const Tile& from) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(&from), "r"(kRowBytes), "i"(kTile), "m"(from));
  }
  template <int kTile>
  void store(Tile& to) const {
    asm volatile("tilestored %%tmm%c3, (%1,%2,1)" : "=m"(to) : "r"(&to), "r"(kRowBytes), "i"(kTile));
  }

  /// sums += left · right, with the rows of `right` interleaved as described in tile.hpp: TDPBF16PS, TDPFP16PS or
  /// TDPBSSD. Encoded as bytes, for assemblers older than AMX-FP16.
  template <typename T, int kSums, int kLeft, int kRight>
  void multiply_add() {
    constexpr int kPrefix = std::is_same_v<T, Bf16> ? 2 : 3;  // F3 and F2
    constexpr int kOpcode = std::is_same_v<T, std::int8_t> ? 0x5e : 0x5c;
    asm volatile(".byte 0xc4, 0xe2, %c0, %c1, %c2" ::"i"((~kRight & 15) << 3 | kPrefix), "i"(kOpcode),
                 "i"(0xc0 | kSums << 3 | kLeft));
  }

 private:
  static constexpr std::int64_t kRowBytes = 64;
};

}  // namespace roofline
