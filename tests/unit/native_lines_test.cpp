// Lines of native calls: from records to places, and the file that keeps them.
#include "profile/native_lines.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include "profile/rows.hpp"
#include "profile/symbols.hpp"
#include "sample/code_modules.hpp"
#include "spool_builder.hpp"

namespace roofline {

// Not static and never inline: its name is looked for.
__attribute__((noinline)) std::uint64_t native_lines_here();
std::uint64_t native_lines_here() {
  return reinterpret_cast<std::uint64_t>(__builtin_extract_return_addr(__builtin_return_address(0)));
}

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class NativeLinesOfTraces : public testing::Test {
 protected:
  NativeLinesOfTraces() { fs::create_directories(folder_); }
  ~NativeLinesOfTraces() override { fs::remove_all(folder_); }

  /// A launch at an address of this program's code.
  std::vector<ProcessTrace> traces(const std::string& build_id, spool::Id line = 0) {
    SpoolBuilder spool;
    spool.add(spool::Type::code_file, spool::CodeFile{1, spool.text(own_path()), spool.text(build_id), 0});
    spool.add(spool::Type::code, spool::Code{1, 1, address()});
    if (line != 0) spool.line("train.py", 7, "step");
    spool::Place place = {};
    place.id = 1;
    place.line = line;
    place.code = 1;
    spool.add(spool::Type::place, place);
    return {read_spool(spool.write(folder_ / "100.1.spool"))};
  }

  static std::string own_path() { return fs::read_symlink("/proc/self/exe").string(); }
  std::uint64_t address() {
    const auto place = code_.locate(reinterpret_cast<std::uint64_t>(&native_lines_here) + 1);
    return place ? place->address : 0;
  }
  std::string build_id() {
    const auto place = code_.locate(reinterpret_cast<std::uint64_t>(&native_lines_here));
    return place ? modules_[place->module].elf->build_id() : "";
  }

  fs::path folder_ = fs::temp_directory_path() / ("roofline-native-lines-" + std::to_string(::getpid()));
  CodeModules modules_;
  ProcessCode code_{::getpid(), modules_};
};

TEST_F(NativeLinesOfTraces, ACallIsNamedByItsFunction) {
  std::vector<ProcessTrace> of = traces(build_id());
  NativeLines lines;
  find_native_lines(of, lines);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines.begin()->second.function, "roofline::native_lines_here");
  add_native_lines(of, lines);
  EXPECT_THAT(line_text(of[0], of[0].place(1).line), HasSubstr("roofline::native_lines_here"));
}

TEST_F(NativeLinesOfTraces, AnotherBuildOfTheFileHasOtherLines) {
  std::vector<ProcessTrace> of = traces("0123");
  NativeLines lines;
  find_native_lines(of, lines);
  EXPECT_THAT(lines, IsEmpty());
  // What was found when it ran is right all the same.
  lines[{own_path(), "0123", address()}] = {"step", "/src/solver.cpp", 12};
  add_native_lines(of, lines);
  EXPECT_EQ(line_text(of[0], of[0].place(1).line), "solver.cpp:12 step");
}

TEST_F(NativeLinesOfTraces, ALineOfPythonStays) {
  std::vector<ProcessTrace> of = traces(build_id(), 1);
  NativeLines lines;
  find_native_lines(of, lines);
  EXPECT_THAT(lines, IsEmpty());
  add_native_lines(of, lines);
  EXPECT_EQ(line_text(of[0], of[0].place(1).line), "train.py:7 step");
}

TEST_F(NativeLinesOfTraces, WithoutSourceLinesTheFunctionIsShown) {
  std::vector<ProcessTrace> of = traces("0123");
  add_native_lines(of, {{{own_path(), "0123", address()}, {"step", "/home/u/solver", 0}}});
  EXPECT_EQ(line_text(of[0], of[0].place(1).line), "solver step");
}

TEST_F(NativeLinesOfTraces, PlacesOfOlderRecordingsHaveNoCode) {
  SpoolBuilder spool;
  struct OldPlace {
    spool::Id id, range, line, module;
    std::uint32_t backward;
    spool::Id operation;
  };
  static_assert(sizeof(OldPlace) == spool::kPlaceWithoutCode);
  const spool::Id line = spool.line("train.py", 7, "step");
  spool.add(spool::Type::place, OldPlace{1, 0, line, 0, 1, 0});
  std::vector<ProcessTrace> of = {read_spool(spool.write(folder_ / "100.1.spool"))};
  EXPECT_EQ(of[0].place(1).line, line);
  EXPECT_EQ(of[0].place(1).backward, 1U);
  EXPECT_EQ(of[0].place(1).code, 0U);
  add_native_lines(of, {});
  EXPECT_EQ(of[0].place(1).line, line);
}

TEST(NativeLinesFile, IsReadAsItWasWritten) {
  const NativeLines lines = {{{"/home/u/solver", "ab12", 4096}, {"Solver::step", "/src/solver.cpp", 12}},
                             {{"/home/u/a folder/lib.so", "", 7}, {"main", "/home/u/a folder/lib.so", 0}}};
  EXPECT_EQ(read_native_lines(write_native_lines(lines)), lines);
  EXPECT_THAT(read_native_lines(""), IsEmpty());
  EXPECT_THAT(read_native_lines("another file\na\tb\t1\tc\t2\td\n"), IsEmpty());
  const std::string text = write_native_lines(lines);
  EXPECT_EQ(read_native_lines(text + "torn\tline").size(), 2U);
  EXPECT_EQ(read_native_lines(text + "a\tb\tx\tc\t2\td\na\tb\t1\tc\t-2\td\n").size(), 2U);
}

TEST(NativeLinesFile, NamesCannotAddFields) {
  const NativeLines lines = {{{"/a\tb\nc", "1", 1}, {"f", "/s", 2}}};
  const NativeLines read = read_native_lines(write_native_lines(lines));
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read.begin()->first.path, "/a b c");
  EXPECT_EQ(read.begin()->second, lines.begin()->second);
}

TEST(FunctionNames, WithoutParameters) {
  EXPECT_EQ(without_parameters("main"), "main");
  EXPECT_EQ(without_parameters("Solver::step(float*, int) const"), "Solver::step");
  EXPECT_EQ(without_parameters("void run<float, 4>(float*)"), "run<float, 4>");
  EXPECT_EQ(without_parameters("(anonymous namespace)::load(std::string const&)"), "load");
  EXPECT_EQ(without_parameters("main::{lambda(int)#1}::operator()(int) const"), "main::{lambda(int)#1}");
  EXPECT_EQ(without_parameters("Adder::operator()(int)"), "Adder::operator()");
  EXPECT_EQ(without_parameters("[unknown]"), "[unknown]");
}

}  // namespace
}  // namespace roofline
