// One thread reads numbers from text, then all threads use them.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
constexpr int kThreads = 2;
std::string table(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "12.5 " + std::to_string(i) + ".25 3e-2\n";
  return text;
}
void parse(const std::string& text, std::vector<double>& values) {
  std::istringstream in(text);
  double value;
  while (in >> value) values.push_back(value);  // FAULT
}
double smooth(const std::vector<double>& values) {
  double sum = 0;
  for (int p = 0; p < 20; ++p)
    for (std::size_t i = 1; i < values.size(); ++i) sum += std::sqrt(values[i] * values[i] + values[i - 1] + p);
  return sum;
}
int main(int argc, char** argv) {
  const int lines = argc > 1 ? std::atoi(argv[1]) : 3600000;
  const std::string part = table(lines / kThreads);
  std::vector<std::vector<double>> values(kThreads);
  std::vector<double> sums(kThreads);
  std::vector<std::thread> threads;
#ifndef FIXED
  for (int t = 0; t < kThreads; ++t) parse(part, values[t]);  // FAULT
#endif
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
#ifdef FIXED
      parse(part, values[t]);
#endif
      sums[t] = smooth(values[t]);
    });
  }
  for (auto& thread : threads) thread.join();
  std::printf("%g\n", sums[0] + sums[1]);
}
