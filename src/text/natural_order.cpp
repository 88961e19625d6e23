#include "text/natural_order.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace roofline {

bool natural_less(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    const auto end = std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) == 0; });
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
  };
  while (!a.empty() && !b.empty()) {
    std::string_view x = digits(a), y = digits(b);
    if (x.empty() || y.empty()) {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
      continue;
    }
    a.remove_prefix(x.size());
    b.remove_prefix(y.size());
    x.remove_prefix(std::min(x.find_first_not_of('0'), x.size()));
    y.remove_prefix(std::min(y.find_first_not_of('0'), y.size()));
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() < b.size();
}

std::vector<double> natural_ranks(const std::vector<std::string>& texts) {
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return natural_less(texts[a], texts[b]); });
  std::vector<double> ranks(texts.size());
  double rank = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && natural_less(texts[order[i - 1]], texts[order[i]])) ++rank;
    ranks[order[i]] = rank;
  }
  return ranks;
}

}  // namespace roofline
