// A frame server: each frame is decoded into a new buffer, which is dropped afterwards.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

static const std::size_t frame_bytes = 48u << 20;

static void decode(std::uint8_t* pixels, std::size_t bytes, int frame) {
  auto* words = reinterpret_cast<std::uint64_t*>(pixels);
  for (std::size_t i = 0; i < bytes / 8; ++i) words[i] = (i + frame) * 0x9e3779b97f4a7c15ULL;
}

int main() {
  std::uint64_t check = 0;
#ifdef FIXED
  std::unique_ptr<std::uint8_t[]> pixels(new std::uint8_t[frame_bytes]);
#endif
  for (int frame = 0; frame < 260; ++frame) {
#ifndef FIXED
    std::unique_ptr<std::uint8_t[]> pixels(new std::uint8_t[frame_bytes]);
#endif
    decode(pixels.get(), frame_bytes, frame);
    check += pixels[std::size_t(frame) * 4096 % frame_bytes];
  }
  std::printf("%llu\n", (unsigned long long)check);
}
