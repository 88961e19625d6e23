// Running median of a noisy signal over a window.
#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

int main() {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0, 1);
  const int count = 60000, width = 1501;
  std::vector<double> signal(count);
  for (int i = 0; i < count; ++i) signal[i] = i * 1e-4 + noise(random);
  std::vector<double> median(count - width + 1);
#ifdef FIXED
  std::vector<double> window(signal.begin(), signal.begin() + width);
  std::sort(window.begin(), window.end());
  median[0] = window[width / 2];
  for (int i = 1; i + width <= count; ++i) {
    window.erase(std::lower_bound(window.begin(), window.end(), signal[i - 1]));
    double added = signal[i + width - 1];
    window.insert(std::upper_bound(window.begin(), window.end(), added), added);
    median[i] = window[width / 2];
  }
#else
  for (int i = 0; i + width <= count; ++i) {
    std::vector<double> window(signal.begin() + i, signal.begin() + i + width);
    std::sort(window.begin(), window.end());
    median[i] = window[width / 2];
  }
#endif
  double sum = 0;
  for (double m : median) sum += m;
  std::printf("mean of medians %.6f\n", sum / median.size());
}
