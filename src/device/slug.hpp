// Names as used in a device's identity, and so in file names.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace roofline {

/// Lower-case letters and digits, everything between them one '-': "NVIDIA H200" is "nvidia-h200".
inline std::string slug(std::string_view text) {
  std::string out;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (std::isalnum(byte) != 0) {
      out += static_cast<char>(std::tolower(byte));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  if (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

}  // namespace roofline
