// A list of events in the order of their times, whose nodes were allocated in another order.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <random>
#include <vector>
struct Event {
  double time, weight;
};
#ifdef FIXED
using Events = std::vector<Event>;
#else
using Events = std::list<Event>;
#endif
double weighted(const Events& events) {
  double sum = 0;
  for (const Event& event : events) sum += event.time * event.weight;  // FAULT
  return sum;
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 120;
  std::mt19937 random(3);
  Events events;
  for (int i = 0; i < 600000; ++i) events.push_back({random() * 1e-9, 1.0 / (i + 1)});
  const auto earlier = [](const Event& a, const Event& b) { return a.time < b.time; };
#ifdef FIXED
  std::sort(events.begin(), events.end(), earlier);
#else
  events.sort(earlier);
#endif
  double sum = 0;
  for (int p = 0; p < passes; ++p) sum += weighted(events);
  std::printf("%g\n", sum);
}
