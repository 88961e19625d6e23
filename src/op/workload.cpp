// Shapes by name: small enough that a list beats a map, and the op's order is kept for printing.
#include "op/workload.hpp"

#include <algorithm>

#include "model/error.hpp"

namespace roofline {
namespace {

auto find_extent(const std::vector<std::pair<std::string, std::int64_t>>& extents, std::string_view name) {
  return std::find_if(extents.begin(), extents.end(), [&](const auto& extent) { return extent.first == name; });
}

}  // namespace

std::int64_t Shape::operator[](std::string_view name) const {
  const auto found = find_extent(extents_, name);
  if (found != extents_.end()) return found->second;
  std::string known;
  for (const auto& [key, value] : extents_) known += (known.empty() ? "" : ", ") + key;
  throw Error("the shape has no extent '" + std::string(name) + "'",
              known.empty() ? "it is empty" : "it has: " + known);
}

bool Shape::contains(std::string_view name) const { return find_extent(extents_, name) != extents_.end(); }

void Shape::set(std::string_view name, std::int64_t value) {
  for (auto& [key, extent] : extents_) {
    if (key == name) {
      extent = value;
      return;
    }
  }
  extents_.emplace_back(std::string(name), value);
}

std::string_view to_string(CacheMode mode) { return mode == CacheMode::cold ? "cold" : "hot"; }

}  // namespace roofline
