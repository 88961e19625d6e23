// In the place of libFuzzer, where there is no clang.
//   roofline_fuzz CORPUS             each reader with its seeds in the folder CORPUS/<reader> and with mutants of them,
//                                    the same ones each time
//   roofline_fuzz CORPUS SEED S      the same with mutants of another seed, for S seconds
//   roofline_fuzz --reader=R FILE…   one reader with these files
//   roofline_fuzz --readers          their names
// What ends it is named on stderr, and lies in ./fuzz-finding.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "host/files.hpp"
#include "host/host.hpp"
#include "tests/fuzz/mutate.hpp"
#include "tests/fuzz/readers.hpp"

namespace {

namespace fs = std::filesystem;
using roofline::fuzz::Reader;

// For the handler of signals, which may use nothing else.
std::string_view bytes;
std::string what;

void say_what(int signal) {
  const int file = ::open("fuzz-finding", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  static_cast<void>(!::write(STDERR_FILENO, what.data(), what.size()));
  static_cast<void>(!::write(file, bytes.data(), bytes.size()));
  ::close(file);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void feed(const Reader& reader, const std::string& input, std::string name) {
  bytes = input;
  what = std::string(reader.name) + ": " + std::move(name) + ", in ./fuzz-finding\n";
  roofline::fuzz::feed(reader, input);
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Once, with the mutants of `seed`.
int run_all(const fs::path& corpus, unsigned seed) {
  for (const Reader& reader : roofline::fuzz::readers()) {
    const std::vector<fs::path> files = files_in(corpus / reader.name);
    if (files.empty()) {
      std::fprintf(stderr, "%s has no seeds\n", (corpus / reader.name).c_str());
      return 1;
    }
    std::mt19937 random(seed);
    const int mutants = reader.mutants / static_cast<int>(files.size());
    for (const fs::path& file : files) {
      const std::string right = roofline::read_file(file);
      feed(reader, right, file.string());
      for (int i = 0; i < mutants; ++i) {
        feed(reader, roofline::fuzz::mutated(right, random), "mutant " + std::to_string(i) + " of " + file.string());
      }
    }
    std::printf("%.*s: %zu seeds, %d mutants of each\n", static_cast<int>(reader.name.size()), reader.name.data(),
                files.size(), mutants);
  }
  return 0;
}

/// Again and again with other seeds, until the time is over; each of them is named, so that it can be repeated.
int run_for(const fs::path& corpus, unsigned seed, double seconds) {
  for (const double end = roofline::wall_seconds() + seconds; roofline::wall_seconds() < end; ++seed) {
    std::printf("seed %u\n", seed);
    std::fflush(stdout);
    if (const int status = run_all(corpus, seed)) return status;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, say_what);
  constexpr std::string_view kOption = "--reader=";
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--readers") {
    for (const Reader& reader : roofline::fuzz::readers()) std::puts(std::string(reader.name).c_str());
    return 0;
  }
  if (argc == 2 && fs::is_directory(argv[1])) return run_all(argv[1], 7);
  if (argc == 4 && fs::is_directory(argv[1])) {
    return run_for(argv[1], static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)), std::strtod(argv[3], nullptr));
  }
  const Reader* const reader =
      first.starts_with(kOption) ? roofline::fuzz::find_reader(first.substr(kOption.size())) : nullptr;
  if (reader == nullptr) {
    std::fputs("give a folder of seeds (and a seed and seconds), or --reader=R and files\n", stderr);
    return 2;
  }
  for (int i = 2; i < argc; ++i) feed(*reader, roofline::read_file(argv[i]), argv[i]);
  return 0;
}
