// The part of a program that launches a collective.
#pragma once

#include <cstdint>
#include <map>

#include "profile/recording.hpp"

namespace roofline {

enum class CollectiveOrigin : std::uint8_t {
  other,
  forward,      ///< a module's forward pass
  backward,     ///< autograd
  after_update  ///< the program itself, between the optimizer's update and the next forward pass
};

/// By group of launches, of collectives only. PyTorch only: other programs have no modules.
std::map<int, CollectiveOrigin> collective_origins(const Recording& recording);

}  // namespace roofline
