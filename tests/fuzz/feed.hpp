// What all fuzzers do: a reader is fed any bytes, and may refuse them with an Error, but nothing else.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>

#include "import/byte_source.hpp"
#include "import/imported.hpp"
#include "model/error.hpp"

namespace roofline {

/// Readers take files: this one is written anew for each input.
inline int feed(const std::uint8_t* data, std::size_t size,
                const std::function<ImportedProfile(const std::filesystem::path&)>& read) {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("roofline-fuzz-" + std::to_string(::getpid()));
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return 0;
  std::fwrite(data, 1, size, file);
  std::fclose(file);
  try {
    read(path);
  } catch (const Error&) {
    // What is broken is refused.
  }
  std::filesystem::remove(path);
  return 0;
}

inline int feed_source(const std::uint8_t* data, std::size_t size, ImportedProfile (*read)(ByteSource&)) {
  return feed(data, size, [read](const std::filesystem::path& path) {
    ByteSource source(path);
    return read(source);
  });
}

}  // namespace roofline
