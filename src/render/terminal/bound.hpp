// The colour of what limits a kernel, the same in the terminal's table and in its chart.
#pragma once

#include "model/bound.hpp"
#include "render/terminal/table.hpp"

namespace roofline {

inline Ink bound_ink(BoundLabel label) {
  switch (label) {
    case BoundLabel::memory:
      return Ink::cyan;
    case BoundLabel::compute:
      return Ink::magenta;
    case BoundLabel::latency:
      return Ink::blue;
    case BoundLabel::balanced:
      return Ink::plain;
    case BoundLabel::unknown:
      break;
  }
  return Ink::dim;
}

}  // namespace roofline
