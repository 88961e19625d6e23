// When XLA may launch CUDA graphs in a process.
#include "inject/xla_graphs.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace roofline::inject {
namespace {

TEST(XlaGraphs, AreAllowedUnlessTheLastFlagNamesNone) {
  EXPECT_TRUE(allows_xla_graphs(""));
  EXPECT_TRUE(allows_xla_graphs("--xla_gpu_autotune_level=0"));
  EXPECT_TRUE(allows_xla_graphs("--xla_gpu_enable_command_buffer=FUSION,CUBLAS"));
  EXPECT_FALSE(allows_xla_graphs("--xla_gpu_enable_command_buffer="));
  EXPECT_FALSE(allows_xla_graphs("--xla_gpu_enable_command_buffer='' --xla_gpu_autotune_level=0"));
  EXPECT_FALSE(allows_xla_graphs("--xla_gpu_enable_command_buffer=FUSION\t --xla_gpu_enable_command_buffer="));
  EXPECT_TRUE(allows_xla_graphs("--xla_gpu_enable_command_buffer= --xla_gpu_enable_command_buffer=FUSION"));
}

TEST(XlaGraphs, ThePluginIsFoundOnceItIsLoaded) {
  EXPECT_FALSE(is_xla_loaded());
  void* const plugin = dlopen(ROOFLINE_FAKE_XLA, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(plugin, nullptr) << dlerror();
  EXPECT_TRUE(is_xla_loaded());
}

}  // namespace
}  // namespace roofline::inject
