#include "text/source_place.hpp"

#include <algorithm>

namespace roofline {

std::string_view line_of_place(std::string_view place) { return place.substr(0, place.find(' ')); }

std::string_view without_class(std::string_view function) { return function.substr(function.rfind('.') + 1); }

std::string function_of_place(std::string_view place) {
  const std::string_view line = line_of_place(place);
  const std::string_view function = place.substr(std::min(place.size(), line.size() + 1));
  return std::string(line.substr(0, line.rfind(':'))) + ' ' + std::string(without_class(function));
}

}  // namespace roofline
