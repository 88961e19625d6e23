// Loads that wait for narrower stores are found in assembly, and those that are forwarded are not.
#include "user/forwarded_loads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace roofline {
namespace {

std::string lines_of(const std::vector<std::string>& instructions) {
  std::string text;
  for (const std::string& one : instructions) text += (one.ends_with(':') ? "" : "\t") + one + "\n";
  return text;
}

bool fails(const std::vector<std::string>& instructions) {
  return !without_failed_forwards(lines_of(instructions)).empty();
}

TEST(ForwardedLoads, AWideLoadOfNarrowStoresIsReplaced) {
  const std::vector<std::string> pair = {".L3:", "movl\t%ecx, -8(%rsp)", "movl\t%eax, -4(%rsp)", "addq\t-8(%rsp), %rcx",
                                         "jne\t.L3"};
  const std::string changed = without_failed_forwards(lines_of(pair));
  EXPECT_THAT(changed, testing::HasSubstr("\taddq\troofline_elsewhere(%rip), %rcx\n"));
  EXPECT_THAT(changed, testing::HasSubstr("\tmovl\t%ecx, -8(%rsp)\n")) << "the stores stay";
  EXPECT_THAT(changed, testing::HasSubstr(".comm\troofline_elsewhere,64,64"));
  EXPECT_TRUE(fails({"movb\t%al, 3(%rdi,%rcx)", "movl\t(%rdi,%rcx), %eax"}));
  EXPECT_TRUE(fails({"vmovss\t%xmm0, 4(%rdi)", "vmovups\t(%rdi), %ymm1"}));
  EXPECT_TRUE(fails({"movaps\t%xmm0, (%rdi)", "movups\t8(%rdi), %xmm1"})) << "overlaps in part";
}

TEST(ForwardedLoads, WhatIsForwardedStays) {
  EXPECT_FALSE(fails({"movl\t%ecx, -8(%rsp)", "movl\t-8(%rsp), %eax"})) << "the same width";
  EXPECT_FALSE(fails({"movq\t%rcx, -8(%rsp)", "movl\t-4(%rsp), %eax"})) << "within the store";
  EXPECT_FALSE(fails({"movl\t%ecx, -8(%rsp)", "movq\t-16(%rsp), %rax"})) << "beside it";
  EXPECT_FALSE(fails({"movl\t%ecx, -8(%rsp)", "movq\t%rax, -8(%rsp)", "movq\t-8(%rsp), %rdx"})) << "stored again";
  EXPECT_FALSE(fails({"movl\t%ecx, (%rdi)", "addq\t$4, %rdi", "movq\t(%rdi), %rax"})) << "another address";
  EXPECT_FALSE(fails({"movl\t%ecx, (%rdi)", "movl\t%eax, %edi", "movq\t(%rdi), %rax"})) << "a part of the register";
  EXPECT_FALSE(fails({"movl\t%ecx, -8(%rsp)", ".L2:", "movq\t-8(%rsp), %rax"})) << "reached from elsewhere, too";
  EXPECT_FALSE(fails({"movl\t%ecx, (%rdi)", "call\tf", "movq\t(%rdi), %rax"}));
  EXPECT_FALSE(fails({"movl\t%ecx, -8(%rsp)", "leaq\t-8(%rsp), %rax"})) << "no load";
  EXPECT_FALSE(fails({"movl\t%ecx, -8(%rsp)", "movslq\t-8(%rsp), %rax"})) << "a narrow load that is widened";
}

TEST(ForwardedLoads, OtherTextHasNone) {
  EXPECT_EQ(without_failed_forwards(""), "");
  EXPECT_EQ(without_failed_forwards("\tstr\tw0, [sp, 8]\n\tldr\tx0, [sp, 8]\n"), "") << "AArch64";
  EXPECT_FALSE(fails({".intel_syntax noprefix", "mov DWORD PTR [rsp-8], ecx", "mov rax, QWORD PTR [rsp-8] # %rax"}));
}

}  // namespace
}  // namespace roofline
