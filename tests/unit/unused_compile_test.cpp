// torch.compile() in a program none of whose kernels were compiled by it.
#include "profile/unused_compile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofline {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LineOfCompile, IsACallOrADecorator) {
  EXPECT_EQ(line_of_compile("import torch\nnet = torch.compile(Net())\n"), 2);
  EXPECT_EQ(line_of_compile("@torch.compile\ndef f(x): ...\n"), 1);
  EXPECT_EQ(line_of_compile("# net = torch.compile(net)\nnet = Net()  # not torch.compile(x)\n"), std::nullopt);
  EXPECT_EQ(line_of_compile("print('without torch.compile(net)')\n"), std::nullopt);
  EXPECT_EQ(line_of_compile("torch.compiler.reset()\n"), std::nullopt);
  EXPECT_EQ(line_of_compile(""), std::nullopt);
}

/// A program with one source file and one kernel.
ProcessTrace trace_of(const std::string& file, const std::string& kernel) {
  ProcessTrace trace;
  trace.texts = {"", file, kernel};
  trace.lines.resize(2);
  trace.lines[1].file = 1;
  trace.lines[1].number = 3;
  trace.kinds.resize(2);
  trace.kinds[1].name = 2;
  return trace;
}

std::string action_with(SavingCause cause, const std::string& file, const std::string& kernel,
                        const std::string& text) {
  Saving saving;
  saving.cause = cause;
  saving.action = "as before";
  std::vector<Saving> savings = {saving};
  name_unused_compile(savings, {trace_of(file, kernel)}, [&](const std::string&) { return text; });
  return savings[0].action;
}

TEST(UnusedCompile, IsNamedWithItsLine) {
  const std::string calls = "net = Net()\nfast = torch.compile(net)\n";
  const std::string eager = "vectorized_elementwise_kernel";
  EXPECT_THAT(action_with(SavingCause::fusion, "/home/u/field.py", eager, calls), HasSubstr("field.py:2"));
  EXPECT_THAT(action_with(SavingCause::launch_rate, "/home/u/field.py", eager, calls), HasSubstr("field.py:2"));
  EXPECT_EQ(action_with(SavingCause::fusion, "/home/u/field.py", "triton_poi_fused_sin_0", calls), "as before")
      << "its kernels run";
  EXPECT_EQ(action_with(SavingCause::fusion, "/home/u/field.py", eager, "net = Net()\n"), "as before");
  EXPECT_EQ(action_with(SavingCause::fusion, "/x/site-packages/torch/nn.py", eager, calls), "as before")
      << "no file of the program";
  EXPECT_EQ(action_with(SavingCause::item_sync, "/home/u/field.py", eager, calls), "as before");
}

}  // namespace
}  // namespace roofline
