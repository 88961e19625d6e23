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

}  // namespace
}  // namespace roofline
