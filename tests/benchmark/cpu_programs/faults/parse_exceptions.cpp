// Cells of a table are numbers or words; which, an exception tells.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>
long number_of(const std::string& cell) {
#ifdef FIXED
  long value = -1;
  std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return value;
#else
  try {
    return std::stol(cell);  // FAULT
  } catch (const std::invalid_argument&) {
    return -1;
  }
#endif
}
int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 4500;
  std::vector<std::string> cells;
  for (int i = 0; i < 2000; ++i) cells.push_back(i % 2 ? std::to_string(i) : "unknown");
  long sum = 0;
  for (int p = 0; p < passes; ++p)
    for (const std::string& cell : cells) sum += number_of(cell);
  std::printf("%ld\n", sum);
}
