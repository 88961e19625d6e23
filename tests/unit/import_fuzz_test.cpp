// The fuzzers' driver where there is no libFuzzer: files that are right, and what becomes of them when some bytes are
// others, are missing, or come twice. Each run tries the same ones.
#include <gtest/gtest.h>

#include "host/files.hpp"
#include "import/kineto.hpp"
#include "import/ncu.hpp"
#include "import/proton.hpp"
#include "tests/fuzz/mutate.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

std::function<ImportedProfile(const std::filesystem::path&)> from_source(ImportedProfile (*read)(ByteSource&)) {
  return [read](const std::filesystem::path& path) {
    ByteSource source(path);
    return read(source);
  };
}

std::string beginning_of(std::string_view name, std::size_t size) { return first_bytes(recorded(name), size); }

TEST(ImportFuzz, Kineto) { try_mutants(beginning_of("trace.json.gz", 60'000), from_source(read_kineto)); }
TEST(ImportFuzz, PackedFiles) { try_mutants(read_file(recorded("wide.csv.gz")), from_source(read_ncu_csv)); }
TEST(ImportFuzz, NcuReport) { try_mutants(beginning_of("kernels.ncu-rep", 120'000), from_source(read_ncu_report)); }
TEST(ImportFuzz, NcuCsv) { try_mutants(beginning_of("wide.csv.gz", 30'000), from_source(read_ncu_csv)); }
TEST(ImportFuzz, NcuDetails) { try_mutants(beginning_of("details.csv.gz", 30'000), from_source(read_ncu_csv)); }
TEST(ImportFuzz, ProtonTree) {
  try_mutants(
      R"json([{"frame":{"name":"a","type":"function"},"metrics":{"count":4,"time (ns)":800,"flops16":4,)json"
      R"json("bytes":1},"children":[{"frame":{"name":"b"},"metrics":{"time (ns)":5,"count":1},"children":[]}]},)json"
      R"json({"CUDA":{"0":{"arch":"90","num_sms":132}}}])json",
      from_source(read_proton_tree));
}
TEST(ImportFuzz, ProtonTrace) {
  try_mutants(R"({"traceEvents":[{"args":{"call_stack":["ROOT","k"],"metrics":{"flops16":1}},"cat":"kernel","dur":2.5,)"
              R"("name":"k","ph":"X","pid":0,"tid":7,"ts":1.0}]})",
              from_source(read_proton_trace));
}

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

}  // namespace
}  // namespace roofline
