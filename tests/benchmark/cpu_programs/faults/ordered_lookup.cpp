// Prices by article number in an ordered map, looked up for each order.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unordered_map>
#ifdef FIXED
using Prices = std::unordered_map<unsigned, double>;
#else
using Prices = std::map<unsigned, double>;
#endif
double revenue(const Prices& prices, int orders) {
  double sum = 0;
  unsigned article = 17;
  for (int i = 0; i < orders; ++i) {
    article = article * 1664525u + 1013904223u;
    const auto found = prices.find(article >> 13);  // FAULT
    if (found != prices.end()) sum += found->second;
  }
  return sum;
}
int main(int argc, char** argv) {
  const int orders = argc > 1 ? std::atoi(argv[1]) : 6000000;
  Prices prices;
  for (unsigned i = 0; i < 400000; ++i) prices[i * 2654435761u >> 13] = i * 0.01;
  std::printf("%g\n", revenue(prices, orders));
}
