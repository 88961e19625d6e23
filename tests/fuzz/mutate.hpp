// Files that are right, with some bytes changed, missing, or there twice: each run makes the same ones.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/fuzz/feed.hpp"

namespace roofline {

inline std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t most) { return std::uniform_int_distribution<std::size_t>(0, most - 1)(random); };
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

inline void try_mutants(const std::string& seed,
                        const std::function<ImportedProfile(const std::filesystem::path&)>& read) {
  constexpr int kMutants = 300;
  std::mt19937 random(7);
  for (int i = 0; i < kMutants; ++i) {
    const std::string text = mutated(seed, random);
    EXPECT_NO_THROW(feed(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), read)) << "mutant " << i;
  }
}

}  // namespace roofline
