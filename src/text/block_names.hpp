// Names of what repeats: the layers of a model, the steps of a loop.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// Replaces every number in the text by '*' ("step *"), to identify repeated ranges.
std::string without_numbers(std::string_view text);

/// Replaces the numbers of repeated blocks in a module path by '*': "blocks.*.fc1", "encoder_layer_*.mlp".
std::string any_block(std::string_view module);

}  // namespace roofline
