// Samples of GPU instructions: what warps waited for, and at which lines.
#include "profile/instructions.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "host/private_folder.hpp"
#include "profile/warp_waits.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/json/kernel_samples_json.hpp"
#include "spool_builder.hpp"

namespace roofline {
namespace {

// Opcodes of sm_90, as cuobjdump shows them.
constexpr unsigned kLdg = 0x981, kLdl = 0x983, kFfma = 0x223, kBar = 0xb1d, kMufu = 0x308, kF2i = 0x305, kI2f = 0x306,
                   kImad = 0x224, kCall = 0x944, kBra = 0x947, kStl = 0x387, kMov = 0x802, kF2fDouble = 0x310,
                   kStg = 0x986, kSts = 0x388, kS2r = 0x919, kExit = 0x94d;
constexpr int kNone = -1;

/// A kernel's code, instruction by instruction.
class Assembled {
 public:
  Assembled() {
    function_.symbol = "kernel";
    function_.architecture = 90;
    function_.files = {"/home/user/kernel.cu"};
  }
  /// `sets`: the scoreboard that its result releases; `waits`: for which it waits.
  std::uint64_t add(unsigned opcode, int line, int sets = kNone, int waits = kNone, std::uint32_t immediate = 0) {
    const std::uint64_t low = opcode | std::uint64_t{immediate} << 32U;
    const std::uint64_t write = sets == kNone ? 7 : static_cast<std::uint64_t>(sets);
    const std::uint64_t mask = waits == kNone ? 0 : std::uint64_t{1} << static_cast<unsigned>(waits);
    const std::uint64_t high = write << 46U | std::uint64_t{7} << 49U | mask << 52U;
    const std::size_t at = function_.code.size();
    function_.code.resize(at + 16);
    std::memcpy(&function_.code[at], &low, 8);
    std::memcpy(&function_.code[at + 8], &high, 8);
    function_.lines.push_back({line > 0 ? 0 : -1, line});
    return at;
  }
  /// The last instruction is of this function, which is inlined.
  void inlined_from(std::string_view callee) {
    function_.lines.back().callee = static_cast<int>(function_.callees.size());
    function_.callees.emplace_back(callee);
  }
  /// A call of what is so many instructions further.
  void call(int line, std::int64_t further) { jump(kCall, line, (further - 1) * 16); }
  void branch(int line, std::uint64_t target) {
    jump(kBra, line, static_cast<std::int64_t>(target) - static_cast<std::int64_t>(function_.code.size()) - 16);
  }
  std::optional<GpuFunction> function() const { return function_; }

 private:
  /// `distance` in bytes from the next instruction, in steps of four.
  void jump(unsigned opcode, int line, std::int64_t distance) {
    const std::size_t at = add(opcode, line);
    const auto bits = static_cast<std::uint64_t>(distance / 4);
    std::uint64_t low = 0, high = 0;
    std::memcpy(&low, &function_.code[at], 8);
    std::memcpy(&high, &function_.code[at + 8], 8);
    low |= (bits & 0xff) << 16U | (bits >> 8U) << 32U;
    high |= bits >> 40U & 0x3ffff;
    std::memcpy(&function_.code[at], &low, 8);
    std::memcpy(&function_.code[at + 8], &high, 8);
  }

  GpuFunction function_;
};

const SampledWait* find(const SampledKernel& kernel, WaitFor what) {
  for (const SampledWait& wait : kernel.waits) {
    if (wait.what == what) return &wait;
  }
  return nullptr;
}

TEST(StallReason, IsTheNameThatIsCountedOnce) {
  EXPECT_EQ(stall_reason("smsp__pcsamp_warps_issue_stalled_long_scoreboard"), "long_scoreboard");
  EXPECT_EQ(stall_reason("smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued"), "");
  EXPECT_EQ(stall_reason("smsp__pcsamp_sample_count"), "");
}

TEST(WaitFor, IsWhatSetsTheScoreboard) {
  using enum SassKind;
  const auto wait = [](std::string_view reason, SassKind at, std::vector<SassKind> waited) {
    return wait_for(reason, at, waited);
  };
  EXPECT_EQ(wait("long_scoreboard", fp32, {global_load}), WaitFor::global_load);
  EXPECT_EQ(wait("long_scoreboard", fp32, {shared_load, local_load}), WaitFor::local_memory);
  EXPECT_EQ(wait("short_scoreboard", fp32, {global_load, special}), WaitFor::special);
  EXPECT_EQ(wait("short_scoreboard", fp32, {shared_load}), WaitFor::shared_load);
  EXPECT_EQ(wait("long_scoreboard", fp32, {}), WaitFor::global_load);
  EXPECT_EQ(wait("lg_throttle", global_store, {}), WaitFor::global_store);
  EXPECT_EQ(wait("lg_throttle", global_atomic, {}), WaitFor::global_atomic);
  EXPECT_EQ(wait("mio_throttle", shared_store, {}), WaitFor::shared_store);
  EXPECT_EQ(wait("math_pipe_throttle", SassKind::fp64, {}), WaitFor::fp64);
  EXPECT_EQ(wait("math_pipe_throttle", fp32, {}), WaitFor::arithmetic);
  EXPECT_EQ(wait("wait", fp32, {}), WaitFor::result);
  EXPECT_EQ(wait("imc_miss", fp32, {}), WaitFor::immediate);
  EXPECT_EQ(wait("selected", fp32, {}), WaitFor::issuing);
  EXPECT_EQ(wait("a reason of a later GPU", fp32, {}), WaitFor::other);
}

/// Warps are sampled as often as they issue: the samples in which they do tell how many instructions are of a kind.
TEST(SampledKind, SpecialFunctionsAreAShareOfWhatIsIssued) {
  for (const auto& [special, share] : {std::pair<std::int64_t, double>{2500, 0.25}, {300, 0.0}}) {
    SampledKernel kernel;
    kernel.samples = 30'000;
    kernel.reasons = {{"short_scoreboard", 20'000}, {"selected", 10'000}};
    SampledInstruction function, other;
    function.name = "MUFU";
    function.reasons = {{"selected", special}, {"short_scoreboard", 15'000}};
    other.name = "FFMA";
    other.reasons = {{"selected", 10'000 - special}, {"short_scoreboard", 5'000}};
    kernel.instructions = {function, other};
    EXPECT_DOUBLE_EQ(sampled_kind(kernel).special, share) << "too few samples say nothing";
  }
}

TEST(ExplainSamples, ALoadIsNamedWithTheLineThatUsesIt) {
  Assembled code;
  code.add(kLdg, 10, 2);
  const std::uint64_t use = code.add(kFfma, 11, kNone, 2);
  const SampledKernel kernel =
      explain_samples("kernel", {{use, {{"long_scoreboard", 60}, {"selected", 40}}}}, code.function());
  EXPECT_EQ(kernel.samples, 100);
  const SampledWait* const wait = find(kernel, WaitFor::global_load);
  ASSERT_NE(wait, nullptr);
  EXPECT_DOUBLE_EQ(wait->share, 0.6);
  EXPECT_EQ(wait->line, "kernel.cu:10");
  EXPECT_EQ(wait->used_line, "kernel.cu:11");
  // The load has no samples of its own and is there because it is waited for.
  ASSERT_EQ(kernel.instructions.size(), 2U);
  EXPECT_EQ(kernel.instructions[0].name, "LDG");
  EXPECT_EQ(kernel.instructions[1].waits_for, std::vector<std::int64_t>{0});
  ASSERT_FALSE(kernel.lines.empty());
  EXPECT_EQ(kernel.lines[0].line, 11);
  EXPECT_EQ(kernel.lines[0].samples, 100);
}

TEST(ExplainSamples, LocalMemoryIsNoGlobalLoad) {
  Assembled code;
  code.add(kLdl, 7, 0);
  const std::uint64_t use = code.add(kFfma, 7, kNone, 0);
  const SampledKernel kernel = explain_samples("kernel", {{use, {{"long_scoreboard", 10}}}}, code.function());
  ASSERT_NE(find(kernel, WaitFor::local_memory), nullptr);
  EXPECT_EQ(find(kernel, WaitFor::local_memory)->line, "kernel.cu:7");
  EXPECT_EQ(find(kernel, WaitFor::global_load), nullptr);
}

TEST(ExplainSamples, ABarrierNamesTheLineOfTheLateWarps) {
  Assembled code;
  const std::uint64_t late = code.add(kFfma, 15);
  const std::uint64_t barrier = code.add(kBar, 20);
  const SampledKernel kernel = explain_samples(
      "kernel", {{late, {{"wait", 30}, {"selected", 10}}}, {barrier, {{"barrier", 60}}}}, code.function());
  const SampledWait* const wait = find(kernel, WaitFor::barrier);
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->line, "kernel.cu:20");
  EXPECT_EQ(wait->used_line, "kernel.cu:15");
}

TEST(ExplainSamples, LateWarpsAreBetweenABarrierAndTheOneBefore) {
  for (const std::int64_t samples : {4, 0}) {  // a single late warp is seldom sampled
    Assembled code;
    const std::uint64_t busy = code.add(kFfma, 10);
    code.add(kBar, 15);
    const std::uint64_t late = code.add(kFfma, 17);
    const std::uint64_t barrier = code.add(kBar, 20);
    const SampledKernel kernel = explain_samples(
        "kernel", {{busy, {{"selected", 40}}}, {late, {{"wait", samples}}}, {barrier, {{"barrier", 60}}}},
        code.function());
    EXPECT_EQ(find(kernel, WaitFor::barrier)->used_line, samples > 0 ? "kernel.cu:17" : "kernel.cu:10");
  }
}

TEST(ExplainSamples, AFunctionHasTheLineOfItsCallInALoop) {
  for (const bool loops : {true, false}) {
    Assembled code;
    code.call(5, 4);  // outside
    const std::uint64_t begin = code.add(kFfma, 8);
    code.call(9, 2);
    if (loops) {
      code.branch(8, begin);
    } else {
      code.add(kFfma, 8);
    }
    code.add(kI2f, 0, 0);
    const std::uint64_t end = code.add(kMufu, 0, 1, 0);
    const SampledKernel kernel = explain_samples("kernel", {{end, {{"short_scoreboard", 10}}}}, code.function());
    ASSERT_NE(find(kernel, WaitFor::division), nullptr);
    EXPECT_EQ(find(kernel, WaitFor::division)->line, loops ? "kernel.cu:9" : "kernel.cu:5");
  }
}

TEST(ExplainSamples, ADivisionIsWhatItIsCompiledTo) {
  Assembled code;
  const std::uint64_t begin = code.add(kI2f, 30, 0);
  code.add(kMufu, 30, 1, 0);
  code.add(kF2i, 30, 2, 1);
  const std::uint64_t end = code.add(kImad, 30, kNone, 2);
  const std::uint64_t other = code.add(kMufu, 31, 3);
  const SampledKernel kernel = explain_samples(
      "kernel", {{begin, {{"selected", 20}}}, {end, {{"short_scoreboard", 50}}}, {other, {{"math_pipe_throttle", 30}}}},
      code.function());
  ASSERT_NE(find(kernel, WaitFor::division), nullptr);
  EXPECT_DOUBLE_EQ(find(kernel, WaitFor::division)->share, 0.7);
  ASSERT_NE(find(kernel, WaitFor::special), nullptr);
  EXPECT_EQ(find(kernel, WaitFor::special)->line, "kernel.cu:31");
}

/// The slow path of sinf loads a table, puts a product into local memory, and multiplies with pi / 2 * 2^-64. With
/// another constant it is something else.
TEST(ExplainSamples, AReductionOfALargeArgumentIsNoLocalArray) {
  for (const bool reduces : {true, false}) {
    Assembled code;
    code.add(kLdg, 30, 0);
    const std::uint64_t product = code.add(kImad, 30, kNone, 0);
    code.add(kStl, 30);
    code.add(kLdl, 30, 1);
    const std::uint64_t shift = code.add(kImad, 30, kNone, 1);
    code.add(kMov, 30, kNone, kNone, reduces ? 0x3bf921fb : 0x3bf00000);
    code.add(kF2fDouble, 30);
    code.add(kLdg, 31, 2);
    const std::uint64_t use = code.add(kFfma, 32, kNone, 2);
    const SampledKernel kernel = explain_samples(
        "kernel",
        {{product, {{"long_scoreboard", 30}}}, {shift, {{"long_scoreboard", 20}}}, {use, {{"long_scoreboard", 50}}}},
        code.function());
    const SampledWait* const wait = find(kernel, WaitFor::reduction);
    ASSERT_EQ(wait != nullptr, reduces);
    EXPECT_EQ(find(kernel, WaitFor::local_memory) != nullptr, !reduces);
    EXPECT_DOUBLE_EQ(find(kernel, WaitFor::global_load)->share, reduces ? 0.5 : 0.8);
    if (reduces) {
      EXPECT_DOUBLE_EQ(wait->share, 0.5);
      EXPECT_EQ(wait->line, "kernel.cu:30");
    }
  }
}

/// The first coefficient of the polynomial of sinf and cosf marks its line. Loads there are no part of it, and with
/// another constant it is other arithmetic.
TEST(ExplainSamples, ASineInSoftwareIsKnownByItsPolynomial) {
  for (const bool sine : {true, false}) {
    Assembled code;
    code.add(kLdg, 30, 0);
    const std::uint64_t first = code.add(kFfma, 30, kNone, 0);
    const std::uint64_t polynomial = code.add(kMov, 30, kNone, kNone, sine ? 0x37cbac00 : 0x37cbac01);
    const std::uint64_t other = code.add(kFfma, 31);
    const SampledKernel kernel = explain_samples(
        "kernel",
        {{first, {{"long_scoreboard", 10}, {"selected", 10}}}, {polynomial, {{"wait", 40}}}, {other, {{"wait", 40}}}},
        code.function());
    const SampledWait* const wait = find(kernel, WaitFor::trigonometry);
    ASSERT_EQ(wait != nullptr, sine);
    EXPECT_DOUBLE_EQ(find(kernel, WaitFor::global_load)->share, 0.1);
    EXPECT_DOUBLE_EQ(find(kernel, WaitFor::result)->share, sine ? 0.4 : 0.8);
    if (!sine) continue;
    EXPECT_DOUBLE_EQ(wait->share, 0.5);
    EXPECT_EQ(wait->line, "kernel.cu:30");
  }
}

/// Whatever the code of curand_init waits for is its initialisation; drawing a number is not.
TEST(ExplainSamples, InitialisationOfRandomNumbersIsKnownByTheInlinedFunction) {
  for (const char* callee : {"_ZN9_INTERNAL11curand_initEyyyP17curandStateXORWOW", "_Z6curandP17curandStateXORWOW"}) {
    const bool initialises = std::string_view(callee).find("curand_init") != std::string_view::npos;
    Assembled code;
    code.add(kLdg, 30, 0);
    const std::uint64_t matrix = code.add(kImad, 30, kNone, 0);
    code.inlined_from(callee);
    const std::uint64_t barrier = code.add(kBar, 30);
    code.inlined_from(callee);
    const std::uint64_t other = code.add(kImad, 30);
    const SampledKernel kernel = explain_samples(
        "kernel",
        {{matrix, {{"long_scoreboard", 30}, {"selected", 20}}}, {barrier, {{"barrier", 10}}}, {other, {{"wait", 40}}}},
        code.function());
    const SampledWait* const wait = find(kernel, WaitFor::random_init);
    ASSERT_EQ(wait != nullptr, initialises) << callee;
    EXPECT_DOUBLE_EQ(find(kernel, WaitFor::barrier)->share, 0.1);
    EXPECT_DOUBLE_EQ(find(kernel, WaitFor::result)->share, 0.4);
    if (!initialises) continue;
    EXPECT_DOUBLE_EQ(wait->share, 0.5);
    EXPECT_EQ(wait->line, "kernel.cu:30");
  }
}

/// One thread of 64 warps: its samples are few, and of several lines.
TEST(ExplainSamples, ALateWarpMayHaveSeveralLines) {
  Assembled code;
  const std::uint64_t busy = code.add(kFfma, 10);
  code.add(kBar, 15);
  const std::uint64_t first = code.add(kFfma, 17), second = code.add(kFfma, 18);
  const std::uint64_t barrier = code.add(kBar, 20);
  const SampledKernel kernel = explain_samples(
      "kernel",
      {{busy, {{"selected", 400}}}, {first, {{"wait", 9}}}, {second, {{"wait", 7}}}, {barrier, {{"barrier", 1000}}}},
      code.function());
  EXPECT_EQ(find(kernel, WaitFor::barrier)->used_line, "kernel.cu:17");
}

TEST(SampledKind, NamesTheLineWithMostStores) {
  Assembled code;
  const std::uint64_t once = code.add(kStg, 10), often = code.add(kStg, 12), other = code.add(kFfma, 13);
  const SampledKernel kernel = explain_samples(
      "kernel",
      {{once, {{"selected", 1}, {"lg_throttle", 50}}}, {often, {{"selected", 9}}}, {other, {{"selected", 99}}}},
      code.function());
  EXPECT_EQ(sampled_kind(kernel).store_line, "kernel.cu:12");
}

/// A warp that reads its index waits behind the accesses that fill the queue.
TEST(ExplainSamples, AFullQueueIsOfWhatFillsIt) {
  for (const bool stores : {true, false}) {
    Assembled code;
    const std::uint64_t index = code.add(kS2r, 9), store = code.add(stores ? kSts : kFfma, 11),
                        used = code.add(kFfma, 12);
    const SampledKernel kernel = explain_samples(
        "kernel", {{index, {{"mio_throttle", 30}}}, {store, {{"mio_throttle", 20}}}, {used, {{"selected", 50}}}},
        code.function());
    const auto of = [&](WaitFor what) {
      const auto found = std::ranges::find(kernel.waits, what, &SampledWait::what);
      return found == kernel.waits.end() ? SampledWait{} : *found;
    };
    EXPECT_DOUBLE_EQ(of(WaitFor::shared_store).share, stores ? 0.5 : 0);
    EXPECT_EQ(of(WaitFor::shared_store).line, stores ? "kernel.cu:11" : "");
    EXPECT_DOUBLE_EQ(of(WaitFor::other).share, stores ? 0 : 0.3);
    EXPECT_DOUBLE_EQ(sampled_kind(kernel).queue_full, 0.5);
  }
}

TEST(SampledKind, InstructionsBehindABarrierAreAShareOfWhatIsIssued) {
  Assembled code;
  const std::uint64_t before = code.add(kSts, 10), barrier = code.add(kBar, 11), exit = code.add(kExit, 12),
                      behind = code.add(kFfma, 13), most = code.add(kFfma, 14);
  const SampledKind kind = sampled_kind(explain_samples("kernel",
                                                        {{before, {{"selected", 800}}},
                                                         {barrier, {{"selected", 100}}},
                                                         {exit, {{"selected", 100}}},
                                                         {behind, {{"selected", 300}, {"wait", 5000}}},
                                                         {most, {{"selected", 700}}}},
                                                        code.function()));
  EXPECT_DOUBLE_EQ(kind.behind_barrier, 0.5) << "exits are of all warps";
  EXPECT_EQ(kind.behind_line, "kernel.cu:14");
  EXPECT_DOUBLE_EQ(kind.shared, 0.4);
}

TEST(ExplainSamples, WithoutCodeReasonsRemain) {
  const SamplesByReason samples = {{16, {{"barrier", 3}}}, {std::uint64_t{1} << 40U, {{"long_scoreboard", 5}}}};
  const SampledKernel kernel = explain_samples("kernel", samples, std::nullopt);
  EXPECT_EQ(kernel.samples, 8);
  ASSERT_NE(find(kernel, WaitFor::barrier), nullptr);
  EXPECT_TRUE(find(kernel, WaitFor::barrier)->line.empty());
  ASSERT_EQ(kernel.instructions.size(), 2U);
  EXPECT_EQ(kernel.instructions[0].name, "?");
  // Nor may an offset outside of the code that was kept do harm.
  Assembled code;
  code.add(kLdg, 10, 2);
  EXPECT_EQ(explain_samples("kernel", samples, code.function()).samples, 8);
}

TEST(KernelSamples, AreReadFromASpoolAndFilesOutsideAreNot) {
  const PrivateFolder folder;
  SpoolBuilder spool;
  spool.add(spool::Type::stall_reason,
            spool::StallReason{4, spool.text("smsp__pcsamp_warps_issue_stalled_long_scoreboard")});
  spool.add(spool::Type::stall_reason,
            spool::StallReason{5, spool.text("smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued")});
  spool.add(spool::Type::gpu_module, spool::GpuModule{77, spool.text("../code.cubin"), 0});
  const spool::Id kernel = spool.text("_Z6kernelPf");
  spool.add(spool::Type::instruction_samples, spool::InstructionSamples{77, 32, 900, kernel, 4});
  spool.add(spool::Type::instruction_samples, spool::InstructionSamples{77, 32, 800, kernel, 5});
  spool.add(spool::Type::instruction_samples, spool::InstructionSamples{77, 32, 1, kernel, 99});
  spool.add(spool::Type::instruction_phase,
            spool::InstructionPhase{1'000'000'000, 3'000'000'000, 1000, 10, 20, 0, 65536});
  spool.write(folder.path() / "1.1.spool");
  std::vector<DefectiveSpool> defective;
  const KernelSamples samples = kernel_samples(read_spools(folder.path(), defective));
  EXPECT_DOUBLE_EQ(samples.seconds, 2);
  EXPECT_EQ(samples.dropped, 10);
  ASSERT_EQ(samples.kernels.size(), 1U);
  EXPECT_EQ(samples.kernels[0].name, "kernel(float*)");
  EXPECT_EQ(samples.kernels[0].samples, 900);

  const nlohmann::ordered_json json = json_of(samples);
  KernelSamples again;
  read_json(JsonValue(json), again);
  EXPECT_EQ(json_of(again), json);
}

// --- verdicts

std::string decides(const Quantities& quantities) {
  for (const Advice& advice : diagnose(quantities, DeviceKind::cuda)) {
    if (advice.kind != RuleKind::note) return advice.rule;
  }
  return {};
}

TEST(WaitsFor, AreSpelledAndRead) {
  for (int what = 0; what <= static_cast<int>(WaitFor::reduction); ++what) {
    const auto wait = static_cast<WaitFor>(what);
    EXPECT_NE(to_string(wait), "") << what;
    EXPECT_NE(description_of(wait), "") << what;
    EXPECT_EQ(parse_wait_for(to_string(wait)), wait) << what;
  }
}

TEST(SampleRules, NeedNoRoof) {
  for (const auto& [quantity, rule] : {std::pair{"wait.local_memory.share", "local-memory-waits"},
                                       {"wait.global_atomic.share", "global-atomic-waits"},
                                       {"wait.shared_atomic.share", "shared-atomic-waits"},
                                       {"wait.fence.share", "fence-waits"},
                                       {"wait.constant.share", "constant-waits"},
                                       {"wait.division.share", "division-waits"},
                                       {"wait.fp64.share", "fp64-waits"},
                                       {"wait.special.share", "special-waits"},
                                       {"wait.conversion.share", "conversion-waits"},
                                       {"wait.immediate.share", "immediate-constant-waits"},
                                       {"wait.reduction.share", "slow-trigonometry"},
                                       {"wait.exchange.share", "exchange-waits"},
                                       {"wait.barrier.share", "barrier-waits"}}) {
    const auto with = [&](Quantities known) {
      known["library"] = 0;
      if (known.contains("wait.global_atomic.share")) known["atomic.explains"] = known["wait.global_atomic.share"];
      if (known.contains("wait.constant.share")) known["constant.explains"] = known["wait.constant.share"];
      if (known.contains("wait.shared_atomic.share"))
        known["shared_atomic.explains"] = known["wait.shared_atomic.share"];
      return decides(known);
    };
    EXPECT_EQ(with({{"roof.reached", 0}, {"roof.known", 0}, {quantity, 0.5}}), rule);
    EXPECT_EQ(with({{"roof.reached", 0}, {"roof.known", 0}, {quantity, 0.05}}), "roofless") << quantity;
    // What is at its roof needs no cause.
    EXPECT_EQ(with({{"roof.reached", 1}, {"roof.known", 1}, {"roof.fraction", 0.97}, {quantity, 0.5}}), "good-enough");
  }
}

}  // namespace
}  // namespace roofline
