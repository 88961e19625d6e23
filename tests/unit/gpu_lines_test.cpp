// Source lines of GPU code: kernels of tests/data/sass/waits.cu, compiled for two architectures.
#include "sample/gpu_lines.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "device/sass.hpp"
#include "sample/own_files.hpp"

namespace roofline {
namespace {

using testing::Contains;
using testing::Each;

std::string cubin_of(std::string_view name, int architecture) {
  std::ifstream file(fmt::format("{}/tests/data/sass/{}.sm_{}.cubin", ROOFLINE_SOURCE_DIR, name, architecture),
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<GpuFunction> function_in(const std::string& cubin, std::string_view symbol) {
  return read_gpu_function(std::as_bytes(std::span(cubin)), symbol);
}

class GpuLines : public testing::TestWithParam<int> {
 protected:
  /// Instructions of a function, and the line of each; fails without the function.
  void open(std::string_view symbol) {
    const auto found = function_in(cubin_, symbol);
    ASSERT_TRUE(found) << symbol;
    function_ = *found;
    EXPECT_EQ(function_.symbol, symbol);
    EXPECT_EQ(function_.architecture, GetParam());
    ASSERT_EQ(function_.lines.size() * kSassBytes, function_.code.size());
    const std::span<const std::byte> code(function_.code);
    code_.clear();
    for (std::size_t at = 0; at < code.size(); at += kSassBytes) {
      code_.push_back(decode_sass(code.subspan(at, kSassBytes), function_.architecture, at));
    }
  }
  std::size_t find(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(code_, name, &SassInstruction::name) - code_.begin());
  }
  int line(std::size_t at) const { return function_.lines.at(at).line; }
  /// The lines of those that the one at `at` waits for.
  std::vector<int> lines_waited_for(std::size_t at) const {
    std::vector<int> lines;
    for (const std::size_t other : waited_for(code_, at)) lines.push_back(line(other));
    return lines;
  }
  std::vector<int> all_lines() const {
    std::vector<int> lines;
    for (const GpuFunction::At& at : function_.lines) lines.push_back(at.line);
    return lines;
  }

  const std::string cubin_ = cubin_of("waits", GetParam());
  GpuFunction function_;
  std::vector<SassInstruction> code_;
};

INSTANTIATE_TEST_SUITE_P(Architectures, GpuLines, testing::Values(80, 90));

TEST_P(GpuLines, ALoadAtOneLineIsWaitedForAtTheNext) {
  open("load_then_use");
  const std::size_t load = find("LDG"), use = find("FMUL"), store = find("STG");
  EXPECT_EQ(line(load), 7);
  EXPECT_EQ(line(use), 8);
  EXPECT_EQ(line(store), 8);
  EXPECT_EQ(line(find("EXIT")), 9);
  EXPECT_THAT(waited_for(code_, use), testing::ElementsAre(load));
  ASSERT_EQ(function_.files.size(), 1U);
  EXPECT_THAT(function_.files[0], testing::EndsWith("/waits.cu"));
}

TEST_P(GpuLines, ALoopWaitsForTheLoadOfTheIterationBefore) {
  open("chase");
  const std::size_t load = find("LDG");
  EXPECT_EQ(line(load), 15);
  bool waits = false;
  for (std::size_t at = 0; at < load; ++at) {
    const std::vector<std::size_t> producers = waited_for(code_, at);
    if (std::ranges::find(producers, load) == producers.end()) continue;
    waits = true;
    EXPECT_EQ(line(at), 15);
  }
  EXPECT_TRUE(waits) << "an instruction before the load waits for it, around the loop";
}

TEST_P(GpuLines, InlinedCodeHasTheUsersLines) {
  open("inlined");
  EXPECT_EQ(line(find("LDG")), 21) << "a function of the user's keeps its own lines";
  const std::size_t divides = find("MUFU");
  ASSERT_LT(divides, code_.size());
  EXPECT_EQ(line(divides), 29) << "__h2div is inlined from CUDA's header";
  EXPECT_THAT(all_lines(), Each(testing::AllOf(testing::Ge(20), testing::Le(30))));
  for (const std::string& file : function_.files) EXPECT_FALSE(is_system_source(file)) << file;
  const int callee = function_.lines[divides].callee;
  ASSERT_GE(callee, 0);
  EXPECT_THAT(function_.callees.at(static_cast<std::size_t>(callee)), testing::HasSubstr("__h2div"));
  EXPECT_EQ(function_.lines[find("LDG")].callee, -1) << "the user's own function";
}

/// tests/data/sass/library.ptx
TEST(GpuLinesOfALibrary, AreThoseOfTheKernelBefore) {
  const auto function = function_in(cubin_of("library", 90), "softmax_kernel");
  ASSERT_TRUE(function);
  std::set<int> lines;
  for (const GpuFunction::At& at : function->lines) lines.insert(at.line);
  EXPECT_THAT(lines, testing::IsSubsetOf({20, 25, 29, 33})) << "none of 263";
  EXPECT_THAT(lines, Contains(29));
  EXPECT_THAT(function->files, Each(testing::EndsWith("softmax.py")));
}

TEST_P(GpuLines, ADeviceFunctionIsPartOfItsKernelAndAFunctionItself) {
  open("inlined");
  const std::size_t call = find("CALL");
  ASSERT_TRUE(code_.at(call).target);
  const auto target = static_cast<std::size_t>(*code_[call].target) / kSassBytes;
  EXPECT_EQ(line(call), 28);
  EXPECT_EQ(line(target), 25);
  const std::vector<std::byte> kernel = function_.code;
  open("$inlined$_Z8far_awayPKfi");
  EXPECT_EQ(line(find("LDG")), 25);
  EXPECT_THAT(all_lines(), Each(25));
  ASSERT_LE(target * kSassBytes + function_.code.size(), kernel.size());
  EXPECT_TRUE(
      std::ranges::equal(function_.code, std::span(kernel).subspan(target * kSassBytes, function_.code.size())));
}

TEST_P(GpuLines, AnAsynchronousCopyIsWaitedFor) {
  open("asynchronous");
  const std::size_t wait = find("DEPBAR"), shared = find("LDS");
  EXPECT_EQ(line(wait), 36);
  EXPECT_THAT(lines_waited_for(wait), testing::ElementsAre(34));
  EXPECT_EQ(line(find("BAR")), 37);
  EXPECT_LT(shared, code_.size());
  EXPECT_THAT(lines_waited_for(find("STG")), Contains(38));
}

TEST_P(GpuLines, ThereIsNothingOfAnotherSymbol) {
  for (const char* symbol : {"", "load", "load_then_use2", ".text.chase", "far_away"}) {
    EXPECT_FALSE(function_in(cubin_, symbol)) << symbol;
  }
}

TEST_P(GpuLines, ACubinWithoutLinesHasCode) {
  std::string cubin = cubin_;
  for (std::size_t at = cubin.find(".debug_line"); at != cubin.npos; at = cubin.find(".debug_line", at))
    cubin[at] = '_';
  const auto function = function_in(cubin, "chase");
  ASSERT_TRUE(function);
  EXPECT_FALSE(function->lines.empty());
  for (const GpuFunction::At& at : function->lines) EXPECT_EQ(at.file, -1);
  EXPECT_EQ(function->code, function_in(cubin_, "chase")->code);
}

TEST_P(GpuLines, ACubinMayEndAnywhere) {
  const auto whole = std::as_bytes(std::span(cubin_));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    for (const char* symbol : {"chase", "$inlined$_Z8far_awayPKfi"}) {
      const auto function = read_gpu_function(whole.first(size), symbol);
      if (!function) continue;
      for (const GpuFunction::At& at : function->lines) {
        ASSERT_LT(at.file, static_cast<int>(function->files.size()));
        ASSERT_LT(at.callee, static_cast<int>(function->callees.size()));
      }
    }
  }
}

TEST_P(GpuLines, ADamagedCubinIsRead) {
  std::uint32_t random = 1;
  const auto next = [&random] { return random = random * 1664525 + 1013904223; };
  for (int round = 0; round < 500; ++round) {
    std::string cubin = cubin_;
    for (int change = 0; change < 4; ++change) {
      cubin[next() % cubin.size()] = static_cast<char>(next() >> 24);
    }
    const auto function = function_in(cubin, "inlined");
    if (!function) continue;
    ASSERT_EQ(function->lines.size(), function->code.size() / kSassBytes);
    for (const GpuFunction::At& at : function->lines) {
      ASSERT_LT(at.file, static_cast<int>(function->files.size()));
      ASSERT_LT(at.callee, static_cast<int>(function->callees.size()));
    }
  }
}

TEST(SystemSource, CudasHeadersAreOfTheSystemWhereverTheyAre) {
  for (const char* file : {"/usr/local/cuda/bin/../targets/x86_64-linux/include/cuda_fp16.hpp",
                           "/opt/cuda/include/cuda_fp16.h", "/home/me/env/targets/x86_64-linux/include/crt/math.h",
                           "/home/me/.venv/lib/python3.12/site-packages/nvidia/cuda_runtime/include/cuda_fp16.h",
                           "/home/me/.venv/lib/python3.12/site-packages/nvidia/cu13/include/cccl/cuda/std/span"}) {
    EXPECT_TRUE(is_system_source(file)) << file;
  }
  for (const char* file :
       {"/home/me/cuda-kernels/include/reduce.cuh", "/home/me/nvidia/kernels/include/a.cuh", "waits.cu"}) {
    EXPECT_FALSE(is_system_source(file)) << file;
  }
}

}  // namespace
}  // namespace roofline
