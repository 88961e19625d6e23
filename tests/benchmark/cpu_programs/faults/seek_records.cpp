// Reads the records of a file in order, and seeks before each; without the fault only once.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::atoi(argv[1]) : 8, records = 200000, size = 64;
  const char* path = "/tmp/seek_records.bin";
  std::ofstream(path, std::ios::binary).write(std::vector<char>(records * size, 'x').data(), records * size);
  std::ifstream file(path, std::ios::binary);
  char record[size];
  std::uint64_t sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
    for (int i = 0; i < records; ++i) {
#ifdef FIXED
      if (i == 0) file.seekg(0);
#else
      file.seekg(std::streamoff(i) * size);
#endif
      file.read(record, size);
      for (const char byte : record) sum = sum * 31 + static_cast<unsigned char>(byte);
    }
  }
  std::printf("%llu\n", static_cast<unsigned long long>(sum));
  std::remove(path);
}
