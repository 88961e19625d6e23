// Remarks of GCC and Clang about loops, by file and line; hostile files.
#include "text/compiler_remarks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "model/error.hpp"
#include "profile/cpu/loop_remarks.hpp"
#include "report/diagnosis/remark_action.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/json/json.hpp"
#include "tests/support/cpu_program.hpp"

namespace roofline {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

CompilerRemarks remarks_of(const std::string& text) {
  CompilerRemarks remarks;
  std::istringstream in(text);
  remarks.read(in, "remarks.txt");
  return remarks;
}

TEST(CompilerRemarks, OfGccAreTheReasonAfterTheLoop) {
  const CompilerRemarks remarks = remarks_of(
      "src/dot.cpp:5:24: missed: couldn't vectorize loop\n"
      "src/dot.cpp:6:15: missed: not vectorized: no vectype for stmt: _1 = *_16;\n"
      " scalar_type: const value_type\n"
      "src/dot.cpp:13:21: missed: couldn't vectorize loop\n"
      "src/dot.cpp:13:53: missed: statement clobbers memory: _14 = limiter (r_24);\n"
      "src/dot.cpp:20:3: optimized: loop vectorized using 16 byte vectors\n");
  EXPECT_EQ(remarks.why_not("dot.cpp", 5), "no vectype for stmt: _1 = *_16;");
  EXPECT_EQ(remarks.why_not("dot.cpp", 6), "no vectype for stmt: _1 = *_16;") << "code may begin in the next line";
  EXPECT_EQ(remarks.why_not("dot.cpp", 13), "statement clobbers memory: _14 = limiter (r_24);");
  EXPECT_THAT(remarks.why_not("dot.cpp", 20), IsEmpty());
  EXPECT_THAT(remarks.why_not("dot.cpp", 30), IsEmpty());
  EXPECT_THAT(remarks.why_not("other.cpp", 5), IsEmpty());
}

TEST(CompilerRemarks, OfClangAreTheReasonBeforeTheLoop) {
  const CompilerRemarks remarks = remarks_of(
      "flux.c:8:45: remark: loop not vectorized: call instruction cannot be vectorized "
      "[-Rpass-analysis=loop-vectorize]\n"
      "    f[i] = 0.5 * (u[i] + u[i - 1]) + 0.25 * limiter(r);\n"
      "                                            ^\n"
      "flux.c:6:3: remark: loop not vectorized: instruction cannot be vectorized [-Rpass-analysis=loop-vectorize]\n"
      "flux.c:6:3: remark: loop not vectorized [-Rpass-missed=loop-vectorize]\n"
      "flux.c:14:3: remark: vectorized loop (vectorization width: 4, interleaved count: 2) [-Rpass=loop-vectorize]\n");
  EXPECT_EQ(remarks.why_not("flux.c", 6), "call instruction cannot be vectorized");
  EXPECT_THAT(remarks.why_not("flux.c", 14), IsEmpty());
}

TEST(CompilerRemarks, OfALineAreThoseOfTheLoopAbove) {
  const CompilerRemarks remarks = remarks_of(
      "a.c:5:3: missed: couldn't vectorize loop\na.c:7:9: missed: not vectorized: control flow in loop.\n"
      "a.c:20:3: optimized: loop vectorized using 16 byte vectors\n"
      "b.c:1:3: missed: couldn't vectorize loop\nb.c:1:9: missed: not vectorized: bad data ref\n");
  EXPECT_EQ(remarks.why_not_around("a.c", 5), "a.c:5: control flow in loop.");
  EXPECT_EQ(remarks.why_not_around("a.c", 15), "a.c:5: control flow in loop.");
  EXPECT_THAT(remarks.why_not_around("a.c", 25), IsEmpty()) << "that loop is vectorised";
  EXPECT_THAT(remarks.why_not_around("a.c", 4), IsEmpty());
  EXPECT_THAT(remarks.why_not_around("b.c", 0), IsEmpty()) << "the loop before is another file's";
}

TEST(CompilerRemarks, OfClangsRecords) {
  const CompilerRemarks remarks = remarks_of(
      "--- !AnalysisFPCommute\nPass:            loop-vectorize\nName:            CantReorderFPOps\n"
      "DebugLoc:        { File: 'src/dot.cpp', Line: 6, Column: 7 }\nFunction:        dot\nArgs:\n"
      "  - String:          'loop not vectorized: cannot prove it is safe to reorder floating-point operations'\n...\n"
      "--- !Missed\nPass:            loop-vectorize\nName:            MissedDetails\n"
      "DebugLoc:        { File: 'src/dot.cpp', Line: 5, Column: 3 }\nFunction:        dot\nArgs:\n"
      "  - String:          loop not vectorized\n...\n"
      "--- !Missed\nPass:            inline\nName:            NoDefinition\n"
      "DebugLoc:        { File: 'src/dot.cpp', Line: 9, Column: 3 }\nArgs:\n  - String:          loop not "
      "vectorized\n...\n");
  const std::string why = remarks.why_not("dot.cpp", 5);
  EXPECT_THAT(why, StartsWith("cannot prove"));
  EXPECT_THAT(why, EndsWith("floating-point operations")) << "clang's words without \"loop not vectorized\"";
  EXPECT_THAT(remarks.why_not("dot.cpp", 9), IsEmpty()) << "of another pass";
}

TEST(CompilerRemarks, OfALoopThatHasTwoCopiesSayNothing) {
  const CompilerRemarks remarks = remarks_of(
      "a.c:5:3: missed: couldn't vectorize loop\na.c:5:9: missed: not vectorized: control flow in loop.\n"
      "a.c:5:3: optimized: loop vectorized using 16 byte vectors\n");
  EXPECT_THAT(remarks.why_not("a.c", 5), IsEmpty());
}

TEST(CompilerRemarks, AreRequiredInTheFile) {
  EXPECT_THROW(remarks_of(""), UsageError);
  EXPECT_THROW(remarks_of("an essay: about loops\n"), UsageError);
  EXPECT_THROW(remarks_of("a.c:99999999999999:3: missed: couldn't vectorize loop\n"), UsageError);
  EXPECT_THROW(remarks_of("--- !Missed\nPass: loop-vectorize\nDebugLoc: { File: a.c, Line: -5 }\n...\n"), UsageError);
}

TEST(CompilerRemarks, AreText) {
  const CompilerRemarks remarks =
      remarks_of("a.c:5:3: missed: couldn't vectorize loop\na.c:6:1: missed: not vectorized: \x1b[31m" +
                 std::string(100'000, 'x') + "\n" + std::string(1'000'000, 'y') +
                 "\na.c:7:3: missed: couldn't vectorize loop\n"
                 "a.c:8:3: missed: not vectorized: bad data ref\n");
  EXPECT_LE(remarks.why_not("a.c", 5).size(), 200U);
  EXPECT_EQ(remarks.why_not("a.c", 5).find('\x1b'), std::string::npos);
  EXPECT_EQ(remarks.why_not("a.c", 7), "bad data ref") << "after a line that is too long";
}

TEST(CompilerRemarks, StandInTheVerdictOfTheLoop) {
  Report report = example::cpu_program_report(
      {{.counts = "flops.fp64.scalar=2000000000 load.bytes=16000000000 l1.fills=1000", .milliseconds = {500}}});
  report.points[0].profiled->line = "flux.c:6 step";
  const CompilerRemarks remarks = remarks_of(
      "flux.c:6:3: missed: couldn't vectorize loop\nflux.c:8:3: missed: not vectorized: control flow in loop.\n");
  EXPECT_THAT(verdicts(report)[0].finding, Not(HasSubstr("compiler")));
  add_remarks(report, remarks);
  EXPECT_EQ(verdicts(report)[0].rule, "scalar-loop");
  EXPECT_THAT(verdicts(report)[0].finding, HasSubstr("The compiler: \"control flow in loop\""));
  EXPECT_EQ(verdicts(report)[0].action, action_for_remark("control flow in loop"));
  const Report again = parse_report(render_json(report), "again.json");
  EXPECT_EQ(again.points[0].profiled->loop->remark, "control flow in loop.");
}

TEST(CompilerRemarks, LeadToAnAction) {
  for (const char* remark :
       {"number of iterations cannot be computed.", "versioning for alias required", "control flow in loop.",
        "unsafe dependent memory operations in loop", "cannot prove it is safe to reorder floating-point operations",
        "statement clobbers memory: foo ();"}) {
    EXPECT_THAT(action_for_remark(remark), Not(IsEmpty())) << remark;
  }
  for (const char* remark : {"", "no vectype for stmt", "loop not vectorized"}) {
    EXPECT_THAT(action_for_remark(remark), IsEmpty()) << remark;
  }
}

}  // namespace
}  // namespace roofline
