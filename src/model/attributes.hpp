// Looking up a fact of a device by its name.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "model/machine.hpp"

namespace roofline {

/// The value of that name, or null.
inline const std::string* find_attribute(std::span<const Attribute> attributes, std::string_view name) {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& known) { return known.name == name; });
  return found == attributes.end() ? nullptr : &found->value;
}

}  // namespace roofline
