// The hash of a sequence of words.
#pragma once

#include <cstdint>

namespace roofline::inject {

/// `hash` of the words so far, and one more.
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

}  // namespace roofline::inject
