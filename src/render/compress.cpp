#include "render/compress.hpp"

#include <libdeflate.h>

#include <memory>
#include <new>

namespace roofline {

std::string compressed(std::string_view bytes) {
  // For inputs of megabytes, the best level takes longer than the rest of the output and saves only a tenth.
  constexpr std::size_t kLarge = 4'000'000;
  constexpr int kBest = 12, kFast = 6;
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(bytes.size() < kLarge ? kBest : kFast), &libdeflate_free_compressor);
  if (!compressor) throw std::bad_alloc();
  std::string result(libdeflate_zlib_compress_bound(compressor.get(), bytes.size()), '\0');
  result.resize(libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), result.data(), result.size()));
  return result;
}

}  // namespace roofline
