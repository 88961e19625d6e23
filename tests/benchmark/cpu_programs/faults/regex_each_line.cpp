// Finds times in the lines of a log, with a regular expression that is made for each line.
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <string>
bool has_time(const std::string& line) {
#ifdef FIXED
  static const std::regex time("([0-2][0-9]):([0-5][0-9]):([0-5][0-9])");
#else
  const std::regex time("([0-2][0-9]):([0-5][0-9]):([0-5][0-9])");  // FAULT
#endif
  return std::regex_search(line, time);
}
int main(int argc, char** argv) {
  const int lines = argc > 1 ? std::atoi(argv[1]) : 60000;
  int found = 0;
  for (int i = 0; i < lines; ++i) found += has_time(i % 2 ? "at 12:30:59 ok" : "no time here");
  std::printf("%d\n", found);
}
