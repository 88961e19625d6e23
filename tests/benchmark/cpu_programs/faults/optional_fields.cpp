// A third of the records has no price: map::at throws for them; without the fault find tells it.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <unordered_map>
static std::unordered_map<int, double> prices;
static double price_of(int id) {
#ifdef FIXED
  auto at = prices.find(id);
  return at == prices.end() ? 0.0 : at->second;
#else
  try {
    return prices.at(id);
  } catch (const std::out_of_range&) {
    return 0.0;
  }
#endif
}
int main(int argc, char** argv) {
  int orders = argc > 1 ? std::atoi(argv[1]) : 3000000;
  for (int i = 0; i < 1000; ++i)
    if (i % 3) prices[i] = i * 0.5;
  double sum = 0;
  for (int i = 0; i < orders; ++i) sum += price_of(i * 7 % 1000);
  std::printf("%g\n", sum);
}
