// Which frame of a stack stands for it.
#include "profile/idle/stack_frames.hpp"

#include <gtest/gtest.h>

#include "host_samples_builder.hpp"

namespace roofline {
namespace {

using Builder = HostSamplesBuilder;

std::string place_of(const std::vector<HostFrame>& frames) {
  Builder builder;
  const int stack = builder.stack(frames);
  const HostSamples samples = builder.take();
  return StackView(samples, stack).place().text();
}

HostFrame own_native(const std::string& file, int line, const std::string& function) {
  return {function, file, line, false, true};
}

const HostFrame kUnnamed = Builder::native("/usr/lib/libc.so.6", "[unknown]");
const HostFrame kPoll = Builder::native("/usr/lib/libc.so.6", "__poll");

TEST(StackFrames, ALineOfPythonNamesAWaitInNativeCode) {
  const HostFrame library = Builder::library("torch/utils/data/dataloader.py", "_get_data");
  EXPECT_EQ(place_of({kPoll, library}), "dataloader.py:1 _get_data");
  EXPECT_EQ(place_of({kPoll, library, Builder::own("train.py", 44, "fit")}), "train.py:44 fit");
}

TEST(StackFrames, WithoutPythonTheInnermostFunctionOfALibrary) {
  const HostFrame communicate = Builder::native("/venv/xla_cuda_plugin.so", "tsl::SubProcess::Communicate(int*)");
  const HostFrame compile = Builder::native("/venv/xla_cuda_plugin.so", "xla::Compile()");
  EXPECT_EQ(place_of({kPoll, communicate, compile}), "xla_cuda_plugin.so tsl::SubProcess::Communicate");
  const HostFrame wait = Builder::native("/usr/lib/libstdc++.so.6.0.33", "std::condition_variable::wait()");
  EXPECT_EQ(place_of({kUnnamed, wait, compile}), "xla_cuda_plugin.so xla::Compile");
}

TEST(StackFrames, WithoutAnyTheSystemsFunctionAndAtLastALibrarysFile) {
  EXPECT_EQ(place_of({kUnnamed, kPoll}), "libc.so.6 __poll");
  EXPECT_EQ(place_of({Builder::native("/usr/lib/libnvrtc.so.13", "[unknown]"), kPoll}), "libc.so.6 __poll");
  EXPECT_EQ(place_of({Builder::native("/opt/libsolver.so", "[unknown]")}), "libsolver.so [unknown]");
  EXPECT_EQ(place_of({kUnnamed}), "") << "the C library alone says nothing";
  EXPECT_EQ(place_of({}), "");
}

TEST(StackFrames, ImportsOfLibraries) {
  const auto imports = [](const std::vector<HostFrame>& frames) {
    Builder builder;
    const int stack = builder.stack(frames);
    const HostSamples samples = builder.take();
    return StackView(samples, stack).imports();
  };
  const HostFrame load = {"_find_and_load", "<frozen importlib._bootstrap>", 1, true, false};
  const HostFrame dynamo = Builder::library("torch/_dynamo/convert_frame.py", "<module>");
  const HostFrame main = Builder::own("train.py", 31, "main");
  EXPECT_TRUE(imports({dynamo, load, Builder::library("torch/optim/sgd.py", "__init__"), main}));
  EXPECT_TRUE(imports({kUnnamed, load, main}));
  EXPECT_FALSE(imports({Builder::own("train.py", 31, "main"), load, Builder::own("run.py", 1, "<module>")}))
      << "a program that works while it is imported";
  EXPECT_FALSE(imports({dynamo, main}));
}

TEST(StackFrames, CudaThatIsLinkedIntoTheProgramIsNotTheProgram) {
  const std::string program = "/home/u/nbody";
  const HostFrame hidden = own_native(program, 0, "libcudart_static_4d8b33a106dceb3c07a56e26de61f2d53bb62a68");
  const HostFrame launch = own_native(program, 0, "cudaLaunchKernel");
  const HostFrame stub = own_native("/tmp/nbody.cudafe1.stub.c", 14, "__device_stub__Z9bodyForcePf(float*)");
  EXPECT_EQ(place_of({hidden, launch, stub, own_native("/home/u/nbody.cu", 68, "main")}), "nbody.cu:68 main");
  // A function of the program may have such a name: it is C++.
  EXPECT_EQ(place_of({launch, own_native("/home/u/nbody.cu", 9, "cudaStep(float*)")}), "nbody.cu:9 cudaStep");
  // A program without source lines.
  EXPECT_EQ(place_of({hidden, launch, own_native(program, 0, "Solver::step(float*)")}), "nbody Solver::step");
}

}  // namespace
}  // namespace roofline
