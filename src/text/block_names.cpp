#include "text/block_names.hpp"

#include <algorithm>

namespace roofline {

std::string without_numbers(std::string_view text) {
  std::string result;
  for (const char character : text) {
    const bool digit = character >= '0' && character <= '9';
    if (!digit) result += character;
    if (digit && (result.empty() || result.back() != '*')) result += '*';
  }
  return result;
}

std::string any_block(std::string_view module) {
  std::string result;
  while (!module.empty()) {
    const std::string_view part = module.substr(0, module.find('.'));
    // "4", or "encoder_layer_4"; fc1 and fc2 are different layers, and so are Linear_0 and Linear_1 of a trace.
    const std::size_t digits = part.find_last_not_of("0123456789") + 1;
    const bool of_class = !part.empty() && part.front() >= 'A' && part.front() <= 'Z';
    const bool number = digits < part.size() && (digits == 0 || (part[digits - 1] == '_' && !of_class));
    if (!result.empty()) result += '.';
    result += part.substr(0, number ? digits : part.size());
    if (number) result += '*';
    module.remove_prefix(std::min(part.size() + 1, module.size()));
  }
  return result;
}

}  // namespace roofline
