// Lines of calls in native code: unwound in the program, named after it has ended.
#include <gmock/gmock.h>

#include <fstream>

#include "injected.hpp"
#include "sample/code_modules.hpp"
#include "sample/native_names.hpp"

namespace roofline::inject {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The line of the program's source that ends with this mark.
int native_line(const std::string& mark) {
  std::ifstream source(ROOFLINE_SOURCE_DIR "/tests/inject/native_program.cpp");
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    if (line.ends_with("// " + mark)) return number;
  }
  return 0;
}

class NativeLinesTest : public Injected, public testing::WithParamInterface<const char*> {
 protected:
  /// "inner 12" of a place.
  std::string text_of(const Spool& spool, spool::Id place) {
    const spool::Code& code = spool.codes.at(spool.places.at(place).code);
    if (code.id == 0) return "";
    const spool::CodeFile& file = spool.code_files.at(code.file);
    const int module = modules_.find(spool.texts.at(file.path));
    EXPECT_TRUE(modules_[module].elf);
    if (!modules_[module].elf) return "";
    EXPECT_EQ(modules_[module].elf->build_id(), spool.texts.at(file.build_id));
    const HostFrame frame = native_frames(modules_, {{module, code.address}}).front();
    EXPECT_THAT(frame.file, HasSubstr("native_program.cpp"));
    return frame.function.substr(0, frame.function.find('(')) + " " + std::to_string(frame.line);
  }

  Spool spool_of_program(const Environment& more = {}) {
    Outcome result = run({GetParam()}, more);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.spools.size(), 1U);
    return result.spools.empty() ? Spool() : std::move(result.spools[0]);
  }

  static std::string expected(const std::string& function, const std::string& mark) {
    return function + " " + std::to_string(native_line(mark));
  }

  CodeModules modules_;
};

TEST_P(NativeLinesTest, LaunchesHaveTheLineOfTheirCall) {
  const Spool spool = spool_of_program();
  std::map<std::string, int> found;
  for (const spool::Launch& launch : spool.launches_of("plain")) {
    ++found[text_of(spool, spool.kinds.at(launch.kind).place)];
  }
  // Whoever called it, in whichever thread; not on a stack of the program's own making.
  const std::map<std::string, int> all = {{expected("inner", "inner"), 3 * (1 + 5 + 3) + 400}, {"", 1}};
  EXPECT_EQ(found, all);
}

TEST_P(NativeLinesTest, GeneratedFunctionsAreNoCodeOfTheProgram) {
  const Spool spool = spool_of_program();
  std::map<std::string, int> found;
  for (const spool::Launch& launch : spool.launches_of("_Z5scalePf")) {
    ++found[text_of(spool, spool.kinds.at(launch.kind).place)];
  }
  const std::map<std::string, int> all = {{expected("main", "first kernel"), 3},
                                          {expected("main", "second kernel"), 3}};
  EXPECT_EQ(found, all);
}

TEST_P(NativeLinesTest, CallsHaveTheInnermostLineWhereFunctionsAreInlined) {
  const Spool spool = spool_of_program();
  std::vector<std::string> found;
  for (const spool::Call& call : spool.calls) found.push_back(text_of(spool, call.place));
  ASSERT_EQ(found.size(), 3U * 4U);
  for (std::size_t round = 0; round < found.size(); round += 4) {
    EXPECT_THAT(std::vector(found.begin() + static_cast<std::ptrdiff_t>(round),
                            found.begin() + static_cast<std::ptrdiff_t>(round) + 4),
                ElementsAre(expected("allocated", "allocation"), expected("transfer", "copy"),
                            expected("transfer", "fill"), expected("transfer", "wait")));
  }
  ASSERT_FALSE(spool.copies.empty());
  EXPECT_EQ(text_of(spool, spool.copies[0].place), expected("transfer", "copy"));
}

TEST_P(NativeLinesTest, LinesOfPythonAreAnotherMatter) {
  const Spool spool = spool_of_program({{"ROOFLINE_PYTHON", "off"}});
  ASSERT_FALSE(spool.calls.empty());
  EXPECT_EQ(text_of(spool, spool.calls[0].place), expected("allocated", "allocation"));
  EXPECT_THAT(spool.lines, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(FramePointers, NativeLinesTest,
                         testing::Values(ROOFLINE_NATIVE_PROGRAM, ROOFLINE_NATIVE_PROGRAM_WITHOUT_FRAMES));

}  // namespace
}  // namespace roofline::inject
