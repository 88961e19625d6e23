// The colour of what limits a kernel, the same in the terminal's table and in its chart.
#pragma once

#include <array>

#include "model/bound.hpp"
#include "render/terminal/table.hpp"

namespace roofline {

inline Ink bound_ink(BoundLabel label) {
  static constexpr std::array kInks = {Ink::cyan, Ink::magenta, Ink::blue, Ink::plain, Ink::dim};  // by the label
  return kInks.at(static_cast<std::size_t>(label));
}

}  // namespace roofline
