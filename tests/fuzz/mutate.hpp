// Files that are right, with some bytes changed, missing, or there twice: each run makes the same ones.
#pragma once

#include <algorithm>
#include <random>
#include <string>

namespace roofline::fuzz {

inline std::string mutated(std::string text, std::mt19937& random) {
  // std::uniform_int_distribution gives other numbers in other libraries.
  const auto below = [&](std::size_t most) { return static_cast<std::size_t>(random()) % most; };
  for (std::size_t times = 1 + below(4); times > 0 && !text.empty(); --times) {
    const std::size_t at = below(text.size()), length = 1 + below(std::min<std::size_t>(64, text.size() - at));
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 2:
        text.erase(at, length);
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        text.insert(at, std::string(length, static_cast<char>(0xff)));
    }
  }
  return text;
}

}  // namespace roofline::fuzz
