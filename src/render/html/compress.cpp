// WOFF as in https://www.w3.org/TR/WOFF: a header, a directory, and each table compressed where that makes it smaller.
#include "render/html/compress.hpp"

#include <zlib.h>

#include <cstdint>

#include "model/error.hpp"

namespace roofline {
namespace {

std::string deflated(std::string_view bytes, int level) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string result(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()), level);
  if (status != Z_OK) throw Error("zlib can't compress the page's data");
  result.resize(size);
  return result;
}

std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t width) {
  if (at + width > bytes.size()) throw Error("the embedded font is cut short");
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value = (value << 8) | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void append_word(std::string& out, std::size_t value, std::size_t width = 4) {
  for (std::size_t i = width; i-- > 0;) out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; }

}  // namespace

std::string compressed(std::string_view bytes) {
  // From some megabytes on the best level takes longer than the rest of the page, for a fifth less.
  constexpr std::size_t kLarge = 4'000'000;
  return deflated(bytes, bytes.size() < kLarge ? Z_BEST_COMPRESSION : Z_BEST_SPEED);
}

std::string woff(std::string_view font) {
  constexpr std::size_t kHeader = 44, kEntry = 20, kFontHeader = 12, kFontEntry = 16;
  const std::size_t tables = big_endian(font, 4, 2);
  std::size_t font_size = kFontHeader + kFontEntry * tables;  // of the font that a reader restores
  std::string directory, content;
  for (std::size_t i = 0; i < tables; ++i) {
    const std::size_t entry = kFontHeader + kFontEntry * i;
    const std::size_t offset = big_endian(font, entry + 8, 4), length = big_endian(font, entry + 12, 4);
    if (offset + length > font.size()) throw Error("the embedded font is cut short");
    const std::string_view table = font.substr(offset, length);
    std::string packed = deflated(table, Z_BEST_COMPRESSION);
    if (packed.size() >= length) packed = table;
    directory += font.substr(entry, 4);
    append_word(directory, kHeader + kEntry * tables + content.size());
    append_word(directory, packed.size());
    append_word(directory, length);
    directory += font.substr(entry + 4, 4);
    content += packed;
    content.resize(padded(content.size()), '\0');
    font_size += padded(length);
  }
  std::string out = "wOFF" + std::string(font.substr(0, 4));
  append_word(out, kHeader + directory.size() + content.size());
  append_word(out, tables, 2);
  append_word(out, 0, 2);
  append_word(out, font_size);
  out.resize(kHeader, '\0');  // no version of its own, no metadata, no private data
  return out + directory + content;
}

}  // namespace roofline
