// Files that end too early.
#include <gtest/gtest.h>

#include <filesystem>

#include "host/files.hpp"
#include "import/byte_source.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

std::string beginning_of(std::string_view name, std::size_t size) { return first_bytes(recorded(name), size); }

/// A file that ends too early is refused with its place, or is whole as far as it goes: as between two rows of a table.
void try_beginnings(std::string_view name, const std::string& text, bool may_end_early) {
  constexpr std::size_t kParts = 100;
  for (std::size_t part = 1; part < kParts; ++part) {
    const std::string refusal = refusal_of(name, text.substr(0, text.size() * part / kParts));
    if (refusal.empty() && may_end_early) continue;
    EXPECT_TRUE(refusal.find("byte ") != std::string::npos || refusal.find("line ") != std::string::npos)
        << name << " at " << part << " %: " << refusal;
  }
}

TEST(ImportTruncated, PackedFiles) {
  for (const char* name : {"trace.json.gz", "wide.csv.gz", "details.csv.gz"}) {
    try_beginnings(name, read_file(recorded(name)), false);
  }
}
TEST(ImportTruncated, UnpackedFiles) {
  constexpr std::size_t kAll = std::size_t{1} << 27;
  try_beginnings("trace.json", beginning_of("trace.json.gz", kAll), false);
  try_beginnings("kernels.ncu-rep", beginning_of("kernels.ncu-rep", kAll), true);
  try_beginnings("wide.csv", beginning_of("wide.csv.gz", kAll), true);
  try_beginnings("details.csv", beginning_of("details.csv.gz", kAll), true);
}

/// Seeds of the fuzzing: small files of each format.
TEST(ImportTruncated, FilesOfEveryFormat) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(ROOFLINE_SOURCE_DIR) / "tests" / "fuzz" / "corpus";
  constexpr std::size_t kParts = 100;
  for (const char* reader : {"rocprof", "rocprof_trace", "rocprof_json", "rocprof_compute", "rocprof_roofs", "likwid",
                             "ert_json", "ert_text", "xplane", "nvbench", "google_benchmark", "tensorrt", "nsys_sums",
                             "proton_tree", "proton_trace", "xla_trace"}) {
    for (const auto& entry : fs::directory_iterator(folder / reader)) {
      const std::string name = entry.path().filename().string(), text = read_file(entry.path());
      EXPECT_EQ(refusal_of(name, text), "") << reader << ": the whole file";
      for (std::size_t part = 1; part < kParts; ++part) {
        const std::string refusal = refusal_of(name, text.substr(0, text.size() * part / kParts));
        const bool is_cut = refusal.find("byte ") != std::string::npos || refusal.find("line ") != std::string::npos;
        // A beginning may tell nothing yet, and a table may end behind a line.
        EXPECT_TRUE(is_cut || refusal.empty() || refusal.find("known format") != std::string::npos ||
                    refusal.find("empty") != std::string::npos)
            << name << " at " << part << " %: " << refusal;
      }
    }
  }
}

}  // namespace
}  // namespace roofline
