// Compiling for CUDA needs no GPU: NVRTC and nvcc, where they are, make the same kernels of the examples, and say the
// same of what is none.
#include "user/compile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "model/error.hpp"
#include "tests/support/mentions.hpp"
#include "user/nvrtc.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CompileForCuda : public testing::TestWithParam<CudaCompiler> {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "roofline-compile-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    ::setenv("XDG_CACHE_HOME", name.c_str(), 1);
    if (GetParam() == CudaCompiler::nvrtc) {
      if (nvrtc_version().empty()) GTEST_SKIP() << "there is no NVRTC";
    } else {
      const bool in_path = std::system("nvcc --version >/dev/null 2>&1") == 0;
      if (!in_path && !fs::exists("/usr/local/cuda/bin/nvcc")) GTEST_SKIP() << "there is no nvcc";
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  CompileRequest request(const std::string& entry, const std::string& file = "saxpy.cu") const {
    CompileRequest made;
    made.source = fs::path(ROOFLINE_SOURCE_DIR) / "configs" / "examples" / file;
    made.kind = SourceKind::cuda;
    made.compiler = GetParam();
    made.architecture = "sm_90a";
    made.entries = {entry};
    return made;
  }

  std::string complaint(const CompileRequest& made) const {
    try {
      compiled(made);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_P(CompileForCuda, ATemplateIsInstantiatedAndItsNameFound) {
  const CompileRequest made = request("saxpy<float>");
  const fs::path cubin = compiled(made);
  EXPECT_THAT(entry_names(made, cubin), testing::ElementsAre("_Z5saxpyIfEvPKT_PS0_S0_x"));
  EXPECT_EQ(compiled(made), cubin);
}

TEST_P(CompileForCuda, DefinesReachTheSource) {
  CompileRequest made = request("transpose_tiled", "transpose.cu");
  EXPECT_THAT(complaint(made), HasSubstr("TILE"));
  made.defines = {{"TILE", "32"}, {"ROWS", "8"}};
  EXPECT_EQ(entry_names(made, compiled(made)).size(), 1U);
}

TEST_P(CompileForCuda, AKernelThatIsNotThereIsSaid) {
  EXPECT_THAT(complaint(request("saxpi<float>")), HasSubstr("saxpi"));
}

TEST_P(CompileForCuda, WhatFailedAheadFailsAtOnceAndWithTheSameWords) {
  const CompileRequest wrong = request("saxpi<float>");
  const CompileRequest right = request("saxpy<double>");
  std::size_t done = 0;
  compile_ahead({wrong, right, right}, [&](std::size_t count) { done = count; });
  EXPECT_EQ(done, 2U) << "the same is compiled once";
  EXPECT_THAT(complaint(wrong), HasSubstr("saxpi"));
  EXPECT_EQ(complaint(right), "");
  for (const auto& entry : fs::directory_iterator(folder_ / "roofline" / "kernels")) {
    EXPECT_THAT(entry.path().extension().string(), testing::AnyOf(".cubin", ".names")) << entry.path();
  }
}

TEST_P(CompileForCuda, APathWithQuotesOrBackslashesCompilesOrIsRefusedWithoutTheCompiler) {
  CompileRequest made = request("saxpy<float>");
  const fs::path folder = folder_ / R"(of\x)";
  fs::create_directory(folder);
  for (const char* name : {R"(a\b.cu)", "a'b $(c).cu", R"(a"b.cu)"}) {
    fs::copy_file(request("saxpy<float>").source, folder / name);
    made.source = folder / name;
    const std::string said = complaint(made);
    if (made.source.string().find('"') == std::string::npos) {
      EXPECT_EQ(said, "") << name;
    } else if (!said.empty()) {
      EXPECT_THAT(said, HasSubstr(made.source.string()));
      EXPECT_THAT(said, testing::Not(HasSubstr("\n"))) << "a compiler's output";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Compilers, CompileForCuda, testing::Values(CudaCompiler::nvrtc, CudaCompiler::nvcc),
                         [](const auto& tested) { return tested.param == CudaCompiler::nvrtc ? "Nvrtc" : "Nvcc"; });

TEST(Triton, AnEntryIsFoundInACubin) {
  CompileRequest made;
  made.source = fs::path(ROOFLINE_SOURCE_DIR) / "configs" / "examples" / "triton_softmax.cubin";
  made.kind = SourceKind::cubin;
  made.entries = {"softmax"};
  EXPECT_EQ(compiled(made), made.source);
  EXPECT_THAT(entry_names(made, made.source), testing::ElementsAre("softmax"));
  made.entries = {"softmix"};
  try {
    entry_names(made, made.source);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), mentions("'softmix'", "softmax"));
  }
}

}  // namespace
}  // namespace roofline
