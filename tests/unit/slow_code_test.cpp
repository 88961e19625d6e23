// Divisions, roots and conversions in the machine code of hot loops: each with the fault, and none without it.
#include "profile/cpu/slow_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/cpu/x86_instruction.hpp"
#include "report/slow_code_causes.hpp"

namespace roofline {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using Bytes = std::vector<std::uint8_t>;

/// Encodings as binutils' assembler writes them.
TEST(X86Instruction, Lengths) {
  for (const Bytes& code :
       {Bytes{0x90}, Bytes{0x48, 0x89, 0xc3}, Bytes{0xf2, 0x0f, 0x5e, 0xc1}, Bytes{0xc5, 0xfb, 0x5e, 0xc1},
        Bytes{0x0f, 0x1f, 0x44, 0x00, 0x00}, Bytes{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
        Bytes{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, Bytes{0x66, 0x81, 0xc0, 0x34, 0x12}, Bytes{0xe8, 0, 0, 0, 0},
        Bytes{0xf7, 0xf9}, Bytes{0xf7, 0xc1, 1, 0, 0, 0}, Bytes{0x8b, 0x04, 0x25, 0, 0, 0, 0},
        Bytes{0x62, 0xf1, 0xfd, 0x48, 0x5e, 0xc1}, Bytes{0xc4, 0xe2, 0x75, 0xb8, 0xc2}, Bytes{0xc5, 0xf8, 0x77},
        Bytes{0x66, 0x0f, 0x3a, 0x0b, 0xc1, 0x09}, Bytes{0x0f, 0x84, 0x10, 0, 0, 0}}) {
    const auto one = decode_x86(code);
    ASSERT_TRUE(one.has_value()) << testing::PrintToString(code);
    EXPECT_EQ(one->length, code.size()) << testing::PrintToString(code);
    EXPECT_FALSE(decode_x86(std::span(code).first(code.size() - 1))) << testing::PrintToString(code);
  }
}

TEST(X86Instruction, DivisionsAndConversions) {
  const auto kind = [](const Bytes& code) { return decode_x86(code).value().kind; };
  EXPECT_EQ(kind({0xf2, 0x0f, 0x5e, 0xc1}), X86Kind::division);
  EXPECT_EQ(kind({0xf3, 0x0f, 0x51, 0xc1}), X86Kind::root);
  EXPECT_EQ(kind({0xf7, 0xf9}), X86Kind::integer_division);
  EXPECT_EQ(kind({0xf7, 0xc1, 1, 0, 0, 0}), X86Kind::compare) << "a test";
  EXPECT_EQ(kind({0x48, 0x83, 0xc0, 0x01}), X86Kind::step);
  EXPECT_EQ(kind({0x0f, 0xb7, 0xc0}), X86Kind::mask) << "movzwl %ax,%eax";
  EXPECT_EQ(kind({0x0f, 0xb7, 0x02}), X86Kind::other) << "movzwl (%rdx),%eax";
  EXPECT_EQ(kind({0xf3, 0x0f, 0x5a, 0xc0}), X86Kind::widening);
  EXPECT_EQ(kind({0xf2, 0x0f, 0x5a, 0xc0}), X86Kind::narrowing);
  EXPECT_EQ(kind({0xf2, 0x0f, 0x59, 0xc1}), X86Kind::other);
  EXPECT_EQ(decode_x86(Bytes{0x75, 0xf3}).value().relative, -13);
}

constexpr std::uint64_t kStart = 0x1000;

/// first: 4 bytes at 0x1000; second: 4 bytes; sub $1,%eax; jne 0x1000.
std::vector<SlowLoop> loop_of(const Bytes& first, const Bytes& second) {
  Bytes code = first;
  code.insert(code.end(), second.begin(), second.end());
  for (const int byte : {0x83, 0xe8, 0x01, 0x75, 0xf3, 0xc3}) code.push_back(static_cast<std::uint8_t>(byte));
  return slow_loops(code, kStart, {{kStart, 60}, {kStart + 4, 30}, {kStart + 8, 10}});
}

TEST(SlowCode, SamplesAtAndRightBehindADivision) {
  const Bytes add = {0xf2, 0x0f, 0x58, 0xc2};  // addsd %xmm2, %xmm0
  const std::vector<SlowLoop> found = loop_of({0xf2, 0x0f, 0x5e, 0xc1}, add);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].samples, 100);
  EXPECT_EQ(found[0].slow, 90);
  EXPECT_EQ(found[0].doubles, 90);
  EXPECT_EQ(found[0].address, kStart);
  EXPECT_TRUE(found[0].invariant);
  EXPECT_FALSE(found[0].converts);
  EXPECT_EQ(loop_of({0xf2, 0x0f, 0x59, 0xc1}, add).at(0).slow, 0) << "a product";
  EXPECT_FALSE(loop_of({0xf2, 0x0f, 0x5e, 0xc1}, {0xf2, 0x0f, 0x58, 0xca}).at(0).invariant) << "xmm1 is written";
}

TEST(SlowCode, ConversionsToDoublePrecisionAndBack) {
  const Bytes widen = {0xf3, 0x0f, 0x5a, 0xc0}, narrow = {0xf2, 0x0f, 0x5a, 0xc0};
  EXPECT_TRUE(loop_of(widen, narrow).at(0).converts);
  EXPECT_FALSE(loop_of(widen, {0xf2, 0x0f, 0x58, 0xca}).at(0).converts) << "a sum in double precision";
}

/// Encodings as binutils' assembler writes them.
TEST(X86Instruction, RegistersAndMemory) {
  const auto of = [](const Bytes& code) { return decode_x86(code).value(); };
  const X86Instruction load = of({0x49, 0x8b, 0x54, 0x24, 0x10});  // mov 0x10(%r12),%rdx
  EXPECT_TRUE(load.loads && !load.stores);
  EXPECT_EQ(load.address, (X86Address{12, -1, 16}));
  EXPECT_EQ(load.general, 1U << 2U);
  const X86Instruction store = of({0x41, 0x88, 0x14, 0x33});  // mov %dl,(%r11,%rsi,1)
  EXPECT_TRUE(store.stores && !store.loads);
  EXPECT_EQ(store.address.base, 11);
  EXPECT_EQ(store.address.index, 6);
  EXPECT_EQ(store.general, 0U);
  EXPECT_EQ(of({0x0f, 0xaf, 0x10}).general, 1U << 2U) << "imul (%rax),%edx";
  EXPECT_EQ(of({0x45, 0x39, 0xe8}).general, 0U) << "cmp %r13d,%r8d";
  EXPECT_EQ(of({0x41, 0xff, 0xc0}).general, 1U << 8U) << "inc %r8d";
  EXPECT_EQ(of({0x41, 0x0f, 0x4c, 0xd2}).general, 1U << 2U) << "cmovl %r10d,%edx";
  EXPECT_FALSE(of({0x48, 0x8d, 0x14, 0xb7}).loads) << "lea";
  EXPECT_EQ(of({0x8b, 0x05, 0x10, 0, 0, 0}).address.base, -1) << "mov 0x10(%rip),%eax";
  EXPECT_TRUE(of({0x83, 0x47, 0x08, 0x01}).stores) << "addl $1,8(%rdi)";
  EXPECT_FALSE(of({0x83, 0x7f, 0x08, 0x01}).stores) << "cmpl $1,8(%rdi)";
  EXPECT_TRUE(of({0xf0, 0xff, 0x07}).locked) << "lock incl (%rdi)";
  EXPECT_TRUE(of({0xc5, 0xfd, 0xfe, 0xc1}).packed) << "vpaddd %ymm1,%ymm0,%ymm0";
  EXPECT_TRUE(of({0x66, 0x0f, 0xfe, 0xc1}).packed) << "paddd";
  EXPECT_FALSE(of({0xf2, 0x0f, 0x58, 0xc1}).packed) << "addsd";
  EXPECT_TRUE(of({0xf2, 0x0f, 0x11, 0x04, 0xf7}).stores) << "movsd %xmm0,(%rdi,%rsi,8)";
}

TEST(X86Instruction, RegistersThatAreRead) {
  const auto of = [](const Bytes& code) { return decode_x86(code).value(); };
  const auto bits = [](std::initializer_list<unsigned> numbers) {
    std::uint32_t set = 0;
    for (const unsigned number : numbers) set |= 1U << number;
    return set;
  };
  EXPECT_EQ(of({0x49, 0x8b, 0x54, 0x24, 0x10}).read, bits({12})) << "mov 0x10(%r12),%rdx";
  EXPECT_EQ(of({0x41, 0x88, 0x14, 0x33}).read, bits({2, 6, 11})) << "mov %dl,(%r11,%rsi,1)";
  EXPECT_EQ(of({0x48, 0x89, 0xc3}).read, bits({0})) << "mov %rax,%rbx";
  EXPECT_EQ(of({0x48, 0x01, 0xd8}).read, bits({0, 3})) << "add %rbx,%rax";
  EXPECT_EQ(of({0x31, 0xc0}).read, 0U) << "xor %eax,%eax";
  EXPECT_EQ(of({0x48, 0x83, 0xe9, 0x01}).read, bits({1})) << "sub $1,%rcx: the 5 is no register";
  EXPECT_EQ(of({0x48, 0xc1, 0xe2, 0x04}).read, bits({2})) << "shl $4,%rdx";
  EXPECT_EQ(of({0x48, 0xd3, 0xe2}).read, bits({1, 2})) << "shl %cl,%rdx";
  EXPECT_EQ(of({0xff, 0xc6}).read, bits({6})) << "inc %esi";
  EXPECT_EQ(of({0xb8, 1, 0, 0, 0}).read, 0U) << "mov $1,%eax";
  EXPECT_EQ(of({0xc7, 0xc3, 1, 0, 0, 0}).read, 0U) << "mov $1,%ebx";
  EXPECT_EQ(of({0x48, 0x8d, 0x14, 0xb7}).read, bits({6, 7})) << "lea (%rdi,%rsi,4),%rdx";
  EXPECT_EQ(of({0x0f, 0xb6, 0xd3}).read, bits({3})) << "movzbl %bl,%edx";
  EXPECT_EQ(of({0x41, 0x0f, 0x4c, 0xd2}).read, bits({2, 10})) << "cmovl %r10d,%edx";
  EXPECT_EQ(of({0xc4, 0xe2, 0xf1, 0xf7, 0xc3}).read, bits({1, 3})) << "shlx %rcx,%rbx,%rax";
  EXPECT_EQ(of({0xc4, 0xe2, 0xf1, 0xf7, 0xc3}).general, bits({0}));
  const X86Instruction gather = of({0xc4, 0xe2, 0x6d, 0x92, 0x0c, 0x87});  // vgatherdps %ymm2,(%rdi,%ymm0,4),%ymm1
  EXPECT_TRUE(gather.gathers && gather.loads);
  EXPECT_EQ(gather.read, bits({7}));
  EXPECT_EQ(gather.address.index, 0);
}

/// The code and jne back to its start. Samples: `at_load` of 200 at the instruction at `offset`, the others at the
/// jump.
SlowLoop waits_of(Bytes code, std::size_t offset, double at_load = 190) {
  const std::uint64_t jump = kStart + code.size();
  code.push_back(0x75);
  code.push_back(static_cast<std::uint8_t>(-static_cast<int>(code.size()) - 1));
  std::vector<SampledAddress> samples = {{kStart + offset, at_load}};
  if (offset + kStart != jump) samples.push_back({jump, 200 - at_load});
  const std::vector<SlowLoop> found = slow_loops(code, kStart, samples);
  return found.size() == 1 ? found[0] : SlowLoop();
}

TEST(SlowCode, WaitsForLoadsFromAddressesOfData) {
  const Bytes step = {0x48, 0x83, 0xc1, 0x01, 0x48, 0x39, 0xd1};  // add $1,%rcx; cmp %rdx,%rcx
  const auto with_step = [&](Bytes code) {
    code.insert(code.end(), step.begin(), step.end());
    return code;
  };
  const Bytes index = {0x8b, 0x04, 0x8f};         // mov (%rdi,%rcx,4),%eax
  const Bytes record = {0x48, 0x6b, 0xc0, 0x58};  // imul $88,%rax,%rax
  const Bytes field = {0x03, 0x5c, 0x06, 0x10};   // add 16(%rsi,%rax),%ebx
  const auto join = [](std::initializer_list<Bytes> parts) {
    Bytes all;
    for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  const SlowLoop gather = waits_of(with_step(join({index, record, field})), 7);
  EXPECT_EQ(gather.indirect, 190);
  EXPECT_EQ(gather.linked, 0);
  EXPECT_EQ(gather.indirect_address, kStart + 7);
  EXPECT_GT(gather.indirect_each, 20 * gather.direct_each);
  EXPECT_EQ(waits_of(with_step(join({index, record, field})), 11).indirect, 190) << "right behind the load";
  EXPECT_EQ(waits_of(with_step(join({index, record, field})), 0).indirect, 0) << "at the load of the index";
  EXPECT_EQ(waits_of(with_step({0x03, 0x1c, 0x8f, 0x90}), 0).indirect, 0) << "add (%rdi,%rcx,4),%ebx: a stream";
  EXPECT_EQ(waits_of(with_step({0x48, 0x8b, 0x06, 0x03, 0x1c, 0x88}), 3).indirect, 0)
      << "mov (%rsi),%rax; add (%rax,%rcx,4),%ebx: the same pointer each time";
  EXPECT_EQ(waits_of(with_step({0x48, 0x8b, 0x44, 0x24, 0x08, 0x03, 0x1c, 0x88}), 5).indirect, 0)
      << "mov 8(%rsp),%rax; add (%rax,%rcx,4),%ebx: no free register";
  EXPECT_EQ(waits_of(with_step(join({index, {0x89, 0xc8}, field})), 5).indirect, 0)
      << "mov %ecx,%eax: the register is used again";
  EXPECT_EQ(waits_of(with_step(join({index, {0xe8, 0, 0, 0, 0}, {0x03, 0x1c, 0x8e}})), 8).indirect, 0)
      << "a call; add (%rsi,%rcx,4),%ebx";
}

TEST(SlowCode, WaitsForLinkedNodes) {
  // add 8(%rax),%rbx; mov (%rax),%rax; test %rax,%rax
  const SlowLoop list = waits_of({0x48, 0x03, 0x58, 0x08, 0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0}, 0);
  EXPECT_EQ(list.indirect, 190);
  EXPECT_EQ(list.linked, 190);
  // mov (%rdi,%rcx,8),%rax; mov (%rax),%rax; add $1,%rcx; cmp %rdx,%rcx
  const SlowLoop pointers =
      waits_of({0x48, 0x8b, 0x04, 0xcf, 0x48, 0x8b, 0x00, 0x48, 0x83, 0xc1, 0x01, 0x48, 0x39, 0xd1}, 4);
  EXPECT_EQ(pointers.indirect, 190);
  EXPECT_EQ(pointers.linked, 0) << "an array of pointers";
}

/// mov 8(%rdi),%eax; add 4(%rdi),%eax; imul (%rdi),%eax; more; mov %al,(%rdx,%rcx,1); inc %rcx; cmp %r8,%rcx; jne.
int reloads_with(const Bytes& more) {
  Bytes code = {0x8b, 0x47, 0x08, 0x03, 0x47, 0x04, 0x0f, 0xaf, 0x07};
  code.insert(code.end(), more.begin(), more.end());
  for (const int byte : {0x88, 0x04, 0x0a, 0x48, 0xff, 0xc1, 0x4c, 0x39, 0xc1, 0x75})
    code.push_back(static_cast<std::uint8_t>(byte));
  code.push_back(static_cast<std::uint8_t>(-static_cast<int>(code.size()) - 1));
  const std::vector<SlowLoop> found = slow_loops(code, kStart, {{kStart, 10}});
  return found.size() == 1 ? found[0].reloads : -1;
}

TEST(SlowCode, ValuesThatStoresMayChange) {
  EXPECT_EQ(reloads_with({}), 3);
  EXPECT_EQ(reloads_with({0x03, 0x47, 0x08}), 3) << "one of them twice";
  EXPECT_EQ(reloads_with({0x03, 0x44, 0x8e, 0x04}), 3) << "add 4(%rsi,%rcx,4),%eax: an element";
  EXPECT_EQ(reloads_with({0x03, 0x44, 0x24, 0x08}), 3) << "add 8(%rsp),%eax: no free register";
  EXPECT_EQ(reloads_with({0x48, 0x8b, 0x3f}), 0) << "mov (%rdi),%rdi: another structure each time";
  EXPECT_EQ(reloads_with({0xe8, 0, 0, 0, 0}), 0) << "a call";
  EXPECT_EQ(reloads_with({0xf0, 0xff, 0x06}), 0) << "atomic";
  EXPECT_EQ(reloads_with({0x66, 0x0f, 0xfe, 0xc1}), 0) << "a vector";
  EXPECT_EQ(reloads_with({0x74, 0x03, 0x03, 0x46, 0x0c}), 3) << "je; add 12(%rsi),%eax: not in each iteration";
  const Bytes all = {0x8b, 0x47, 0x08, 0x03, 0x04, 0x8e, 0x89, 0x04, 0x8a,
                     0x48, 0xff, 0xc1, 0x4c, 0x39, 0xc1, 0x75, 0xef};
  EXPECT_EQ(slow_loops(all, kStart, {{kStart, 10}}).at(0).accesses, 2)
      << "add (%rsi,%rcx,4),%eax; mov %eax,(%rdx,%rcx,4)";
  const Bytes no_store = {0x8b, 0x47, 0x08, 0x03, 0x47, 0x04, 0x48, 0xff, 0xc1, 0x4c, 0x39, 0xc1, 0x75, 0xf2};
  EXPECT_EQ(slow_loops(no_store, kStart, {{kStart, 10}}).at(0).reloads, 0);
}

/// `empty`; je out; `step`; movzwl %ax,%eax; mov %rax,%rdx; shl $4,%rdx; add %rbp,%rdx; `load`; jne back. Samples
/// are at the shift, and `waits` of 100 behind the load.
SlowLoop probes_with(const Bytes& step, const Bytes& load, double waits, const Bytes& empty = {0x48, 0x85, 0xc9}) {
  Bytes code = empty;
  const auto append = [&](const Bytes& more) { code.insert(code.end(), more.begin(), more.end()); };
  append({0x74, 0x40});
  append(step);
  append({0x0f, 0xb7, 0xc0, 0x48, 0x89, 0xc2});
  const std::uint64_t shift = kStart + code.size();
  append({0x48, 0xc1, 0xe2, 0x04, 0x48, 0x01, 0xea});
  append(load);
  const std::uint64_t behind = kStart + code.size();
  append({0x75, static_cast<std::uint8_t>(-static_cast<int>(code.size()) - 2)});
  const std::vector<SlowLoop> found = slow_loops(code, kStart, {{shift, 100 - waits}, {behind, waits}});
  return found.size() == 1 ? found[0] : SlowLoop();
}

TEST(SlowCode, LoopsThatProbeTheSlotsOfATable) {
  const Bytes next = {0x48, 0x83, 0xc0, 0x01};                 // add $1,%rax
  const Bytes compare = {0x48, 0x8b, 0x0a, 0x48, 0x39, 0xce};  // mov (%rdx),%rcx; cmp %rcx,%rsi
  const Bytes marker = {0x48, 0x83, 0x3a, 0x00};               // cmpq $0,(%rdx)
  const Bytes two = {0x48, 0x8b, 0x0a, 0x48, 0x3b, 0x0b};      // mov (%rdx),%rcx; cmp (%rbx),%rcx
  const SlowLoop found = probes_with(next, compare, 5);
  EXPECT_TRUE(found.probes);
  EXPECT_EQ(found.samples, 100);
  EXPECT_LE(found.waits, 5);
  EXPECT_TRUE(probes_with(next, marker, 5, {}).probes);
  EXPECT_FALSE(probes_with(next, marker, 5).probes) << "test %rcx,%rcx: not of the slot";
  EXPECT_TRUE(probes_with({0x48, 0x01, 0xf8}, compare, 5).probes) << "add %rdi,%rax: by another step";
  EXPECT_FALSE(probes_with({0x48, 0x8b, 0x01}, compare, 5).probes) << "mov (%rcx),%rax: a list";
  EXPECT_FALSE(probes_with({0x90}, compare, 5).probes) << "no step";
  EXPECT_FALSE(probes_with({0x48, 0x83, 0xc0, 0x01, 0x49, 0x39, 0xf8}, compare, 5).probes) << "cmp %rdi,%r8: it counts";
  EXPECT_FALSE(probes_with({0x48, 0x83, 0xc0, 0x01, 0x89, 0x17}, compare, 5).probes) << "a store";
  EXPECT_FALSE(probes_with({0x48, 0x83, 0xc0, 0x01, 0xe8, 0, 0, 0, 0}, compare, 5).probes) << "a call";
  EXPECT_EQ(probes_with(next, {0x48, 0x39, 0x32}, 90, {}).waits, 90) << "cmp %rsi,(%rdx): short sequences";
  EXPECT_TRUE(probes_with(next, two, 5).probes) << "the key is in memory";
}

HostProfile profile_with(const HostSlowCode& code) {
  HostProfile host;
  host.slow_code = {code};
  return host;
}

TEST(SlowCode, HasACauseWithARemedy) {
  HostSlowCode code = {.kind = "division", .place = {"step", "/home/u/advect.f90", 12, false, true}, .seconds = 3};
  code.loop_s = 4;
  EXPECT_THAT(slow_code_causes(profile_with(code), 10), IsEmpty()) << "needed divisions";
  EXPECT_THAT(slow_code_causes(profile_with(code), 5), SizeIs(1)) << "most of the time";
  code.invariant = true;
  const std::vector<HostCause> found = slow_code_causes(profile_with(code), 10);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].id, "slow-instructions");
  EXPECT_EQ(found[0].line, "advect.f90:12 step");
  EXPECT_THAT(found[0].action, testing::HasSubstr("-ffast-math"));
  code.converted = true;
  EXPECT_EQ(slow_code_causes(profile_with(code), 10).at(0).id, "double-precision");
  code.seconds = 1;
  EXPECT_THAT(slow_code_causes(profile_with(code), 10), IsEmpty()) << "little";
  code = {.kind = "reload", .place = {"grade", "/home/u/retouch.c", 64, false, true}, .seconds = 8};
  EXPECT_EQ(slow_code_causes(profile_with(code), 10).at(0).id, "reloaded-values");
  code.seconds = 2;
  EXPECT_THAT(slow_code_causes(profile_with(code), 10), IsEmpty()) << "little";
  code = {.kind = "probe", .place = {"find", "/home/u/orders.cpp", 20, false, true}, .seconds = 6};
  EXPECT_EQ(slow_code_causes(profile_with(code), 10).at(0).id, "long-probes");
  code.seconds = 2;
  EXPECT_THAT(slow_code_causes(profile_with(code), 10), IsEmpty()) << "little";
  code = {.kind = "gather", .place = {"spread", "/home/u/net.cpp", 178, false, true}, .seconds = 6};
  const HostCause waits = slow_code_causes(profile_with(code), 10).at(0);
  EXPECT_EQ(waits.id, "memory-waits");
  code.kind = "linked";
  EXPECT_EQ(slow_code_causes(profile_with(code), 10).at(0).id, "memory-waits");
  EXPECT_NE(slow_code_causes(profile_with(code), 10).at(0).action, waits.action);
  code.seconds = 3;
  EXPECT_THAT(slow_code_causes(profile_with(code), 10), IsEmpty()) << "little";
}

}  // namespace
}  // namespace roofline
