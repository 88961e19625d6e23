// Files of counted instructions: what is read of a whole one, a torn one and a hostile one.
#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "profile/cpu/count_end.hpp"
#include "profile/cpu/counted_instructions.hpp"
#include "profile/cpu/executed_operations.hpp"

namespace roofline {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

CountedInstructions counted_in(const std::string& text) {
  CountedInstructions counted;
  std::istringstream in(text);
  read_counts(in, "1.counts", counted);
  return counted;
}

constexpr const char* kWhole =
    "roofline-counts\t1\npid\t4711\t4710\ncommand\t./so%09lver\nisa\tavx2\ncache\t1\t32768\t8\t64\tprivate\n"
    "module\t3\t0x400000\t/tmp/a%25b\n"
    "i\t3\t0x1130\t1000\tflops.fp64.256=8000\tload.bytes=64000\tl1.fills=1000\tstride.bytes=-64\tnew.key=5\n"
    "e\t3\t0x1140\t0x1130\t999\nvia\t3\t0x1130\t3\t0x1200\tflops.fp64.256=8000\nfuture\tx\nend\tcomplete\n";

TEST(CountedInstructions, AreReadWhole) {
  const CountedInstructions counted = counted_in(kWhole);
  EXPECT_THAT(counted.unreadable, IsEmpty());
  EXPECT_THAT(counted.modules, ElementsAre("/tmp/a%b"));
  ASSERT_THAT(counted.instructions, SizeIs(1));
  const CountedInstruction& instruction = counted.instructions[0];
  EXPECT_EQ(instruction.address, 0x1130U);
  EXPECT_EQ(instruction.executions, 1000);
  const CodeCounts counts = counted.counts_of(instruction);
  EXPECT_EQ(counts.flops(), 8000);
  EXPECT_EQ(counts.of(CountKey::l1_fills), 1000);
  EXPECT_EQ(counts.bytes(), 64000);
  EXPECT_EQ(counts.strides.at(-64), 1000);
  ASSERT_THAT(counted.jumps, SizeIs(1));
  EXPECT_EQ(counted.jumps[0].taken, 999);
  ASSERT_THAT(counted.called, SizeIs(1));
  EXPECT_EQ(counted.called[0].weight, 8000);
  ASSERT_THAT(counted.processes, SizeIs(1));
  EXPECT_EQ(counted.processes[0].command, "./so\tlver");
  EXPECT_EQ(counted.isa, "avx2");
  EXPECT_THAT(why_counts_end(counted, 0), IsEmpty());
}

TEST(CountedInstructions, OfSeveralProcessesShareModules) {
  CountedInstructions counted;
  for (int i = 0; i < 2; ++i) {
    std::istringstream in(kWhole);
    read_counts(in, "x", counted);
  }
  EXPECT_THAT(counted.modules, SizeIs(1));
  EXPECT_THAT(counted.instructions, SizeIs(2));
  EXPECT_THAT(counted.processes, SizeIs(2));
}

TEST(CountedInstructions, OfARunThatEndedEarlySayWhy) {
  const std::string header = "roofline-counts\t1\n";
  EXPECT_THAT(why_counts_end(counted_in(header + "end\tcomplete\n"), 0), IsEmpty());
  EXPECT_THAT(why_counts_end(counted_in(header + "end\tlimit\n"), 0), Not(IsEmpty()));
  EXPECT_THAT(why_counts_end(counted_in(header), 0), Not(IsEmpty()));
  EXPECT_THAT(why_counts_end(counted_in(header + "end\tsignal 11\n"), 0), Not(IsEmpty()));
  EXPECT_THAT(why_counts_end(counted_in(header + "end\tsignal 11\n"), 11), IsEmpty()) << "as natively";
  const CountedInstructions illegal =
      counted_in(header + "end\tillegal-instruction\t62f1fe486f06\t/usr/lib/libx.so\t0x1234\n");
  EXPECT_EQ(illegal.processes[0].end, CountEnd::illegal_instruction);
  EXPECT_EQ(illegal.processes[0].detail, "62f1fe486f06 /usr/lib/libx.so 0x1234");
  EXPECT_THAT(why_counts_end(CountedInstructions(), 0), Not(IsEmpty()));
}

TEST(CountedInstructions, ThatAreNoneHaveAReason) {
  const std::string header = "roofline-counts\t1\nmodule\t0\t0x0\t/x\n";
  for (const std::string& text :
       {std::string(), std::string("what\n"), std::string("roofline-counts\t2\n"), header + "i\tx\t0x1\t1\n",
        header + "i\t0\t1\t1\n", header + "i\t0\t0x1\t-1\n", header + "i\t0\t0x1\tnan\n", header + "i\t0\t0x1\t1e300\n",
        header + "i\t0\t0x1\t1\tloads\n", header + "i\t0\t0x1\t1\tloads=inf\n", header + "e\t0\t0x1\n",
        header + "i\t0\t0x11223344556677889\t1\n", header + "module\t-1\t0x0\t/x\n", header + "end\tnever\n",
        header + "cache\t1\t32768\t8\t0\tprivate\n", header + std::string(100000, 'i') + "\n"}) {
    EXPECT_THAT(counted_in(text).unreadable, Not(IsEmpty())) << text.substr(0, 80);
  }
}

TEST(CountedInstructions, OfNoFileAreLeftOut) {
  const CountedInstructions counted =
      counted_in("roofline-counts\t1\ni\t-1\t0x109000\t1\tint=1\ne\t-1\t0x2\t0x1\t1\nend\tcomplete\n");
  EXPECT_THAT(counted.unreadable, IsEmpty());
  EXPECT_THAT(counted.instructions, IsEmpty());
}

TEST(CountedInstructions, KeepWhatCameBeforeAFault) {
  const CountedInstructions counted = counted_in(std::string(kWhole) + "i\tbroken\n");
  EXPECT_THAT(counted.instructions, SizeIs(1));
  EXPECT_THAT(why_counts_end(counted, 0), Not(IsEmpty()));
}

TEST(CountedInstructions, NameEachKeyOnce) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kCountKeys; ++i) names.insert(to_string(static_cast<CountKey>(i)));
  EXPECT_THAT(names, SizeIs(kCountKeys));
}

/// A library's part is what the kernel's calls caused, of an instruction that others use as well.
TEST(ExecutedOperations, AreThoseOfOneFileAndOfItsCalls) {
  const CountedInstructions counted = counted_in(
      "roofline-counts\t1\npid\t1\t0\ncommand\tx\n"
      "module\t1\t0x0\t/k/kernel.so\nmodule\t2\t0x0\t/lib/libm.so.6\nmodule\t3\t0x0\t/bin/roofline\n"
      "i\t1\t0x10\t1000\tflops.fp32.256=16000\tload.bytes=32000\n"
      "i\t1\t0x20\t1000\tflops.fp64.scalar=1000\tint=500\n"
      "i\t2\t0x30\t4000\tflops.fp64.scalar=4000\n"
      "i\t3\t0x40\t9000\tflops.fp32.scalar=9000\n"
      "via\t2\t0x30\t1\t0x24\tflops.fp64.scalar=1000\nvia\t2\t0x30\t3\t0x44\tflops.fp64.scalar=3000\nend\tcomplete\n");
  const ExecutedOperations executed = executed_operations(counted, "/k/kernel.so");
  EXPECT_EQ(executed.flops, (std::map<Pipe, double>{{Pipe::fp32, 16000}, {Pipe::fp64, 1000}}));
  EXPECT_DOUBLE_EQ(executed.library_flops, 1000);
  EXPECT_DOUBLE_EQ(executed.integers, 500);
  EXPECT_TRUE(executed_operations(counted, "/k/other.so").flops.empty());
}

}  // namespace
}  // namespace roofline
