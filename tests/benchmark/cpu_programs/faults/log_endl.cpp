// A table of results that flushes each line.
#include <cmath>
#include <cstdlib>
#include <fstream>
void write_table(const char* path, int rows) {
  std::ofstream out(path);
  double state = 0.5;
  for (int i = 0; i < rows; ++i) {
    state = 3.7 * state * (1 - state);
#ifdef FIXED
    out << i << ' ' << state << '\n';
#else
    out << i << ' ' << state << std::endl;  // FAULT
#endif
  }
}
int main(int argc, char** argv) { write_table("/tmp/log_endl.txt", argc > 1 ? std::atoi(argv[1]) : 2500000); }
