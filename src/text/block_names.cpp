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
    const bool number = part.find_first_not_of("0123456789") == std::string_view::npos;
    if (!result.empty()) result += '.';
    result += number ? std::string_view("*") : part;
    module.remove_prefix(std::min(part.size() + 1, module.size()));
  }
  return result;
}

}  // namespace roofline
