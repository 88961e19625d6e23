// Joins lines to one text, and copies all that is there for each.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
#ifdef FIXED
    text += line;
    text += '\n';
#else
    text = text + line + "\n";  // FAULT
#endif
  }
  return text;
}
int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 40000;
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) lines.push_back("record " + std::to_string(i * 7919L) + " of the experiment");
  std::size_t size = 0;
  for (int p = 0; p < 3; ++p) size += join(lines).size();
  std::printf("%zu\n", size);
}
