// "Did you mean": edit distance with transpositions of adjacent characters.
#include "text/nearest_name.hpp"

#include <algorithm>
#include <limits>

namespace roofline {
namespace {

/// Insertions, deletions, substitutions and transpositions from `a` to `b`.
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string nearest_name(const std::string& given, const std::vector<std::string>& candidates) {
  // Longer than any name: not worth the table.
  constexpr std::size_t kLongestName = 64;
  std::string nearest;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  if (given.size() > kLongestName) return nearest;
  for (const std::string& candidate : candidates) {
    const std::size_t count = edits(given, candidate);
    if (3 * count <= candidate.size() && count < fewest) {
      nearest = candidate;
      fewest = count;
    }
  }
  return nearest;
}

}  // namespace roofline
