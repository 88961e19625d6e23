// What is known of CPython's memory: line tables as its versions write them, and its table of offsets.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "sample/python_files.hpp"
#include "sample/python_layout.hpp"
#include "sample/python_lines.hpp"
#include "sample/python_process.hpp"

namespace roofline {
namespace {

std::string bytes_of(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

/// A function that each version compiled, and the line of each of its code units by that version's own account; 0:
/// none.
struct CompiledFunction {
  int minor;
  const char* table;
  std::vector<int> lines;
};
const std::vector<CompiledFunction>& compiled_functions() {
  static const std::vector<CompiledFunction> all = {
      {9, "000104020c01040102ff08020201020106ff040304fd0203", {2, 2, 4, 4, 4, 4, 4, 4,  5,  5, 6,  5,  5,  5,  5,
                                                               7, 8, 9, 9, 9, 8, 8, 11, 11, 8, 11, 11, 11, 11, 11}},
      {10, "04010c020401020108ff02020201060104ff0c03", {2, 2, 4, 4, 4, 4, 4, 4, 5,  5,  6,  5,  5,  5,
                                                        5, 7, 8, 9, 9, 9, 8, 8, 11, 11, 11, 11, 11, 11}},
      {11,
       "8000d808098041e50d12903189588c58f000020511f0000205118801d808098861d80e0ff103010f10f10001091188018801f00404050e"
       "d81011dd0a0b884189248c24f003011010f006000d0e88018801f8884188018805880588058805",
       {1, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,  4,  5,  5, 6,  5,  5,  5,  5,  5,
        5, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 8, 11, 11, 11, 0, 11, 11, 11, 11, 11, 11}},
      {12,
       "8000d808098041e40d1290318b58f2000205118801d808098861d80e0ff103010f10f1000109118901f003020511f00604050ed81011dc"
       "0a0b88418b24f003011010f006000d0e8901f888418901fa",
       {1, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,  4,  5,  5, 6,  5,  5,  5, 5, 5,
        5, 4, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 8, 11, 11, 11, 0, 11, 11, 11, 0, 0, 0}},
      {13,
       "8000d808098041e40d1290318e588801d80809d80e0ff103010f10f1000109118a01f103000e16f00604050ed81011dc0a0b88418b24f0"
       "03011010f006000d0e8901f888418901fa",
       {1, 2, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,  4,  5,  6, 5,  5,  5,  5, 5, 5, 5,
        4, 4, 7, 8, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 8, 11, 11, 11, 0, 11, 11, 11, 0, 0, 0}}};
  return all;
}

TEST(PythonLines, AreThoseOfTheInterpreter) {
  for (const CompiledFunction& function : compiled_functions()) {
    const std::string table = bytes_of(function.table);
    for (std::size_t unit = 0; unit < function.lines.size(); ++unit) {
      if (function.lines[unit] == 0) continue;
      EXPECT_EQ(python_line(function.minor, table, 1, static_cast<std::int64_t>(2 * unit)), function.lines[unit])
          << "3." << function.minor << " unit " << unit;
    }
  }
}

TEST(PythonLines, ABrokenTableGivesSomeLine) {
  for (const CompiledFunction& function : compiled_functions()) {
    std::string table = bytes_of(function.table);
    for (std::size_t i = 0; i < table.size(); ++i) {
      for (const char byte : {'\0', '\xff', '\x7f', '\x80'}) {
        std::string broken = table;
        broken[i] = byte;
        EXPECT_GT(python_line(function.minor, broken, 1, 1000), 0);
        EXPECT_GT(python_line(function.minor, std::string_view(table).substr(0, i), 1, 1000), 0);
      }
    }
    EXPECT_EQ(python_line(function.minor, {}, 7, 12), 7);
    EXPECT_EQ(python_line(function.minor, table, 7, -2), 7);
  }
}

TEST(PythonLayout, VersionsThatAreKnown) {
  for (const int minor : {9, 10, 11, 12}) {
    ASSERT_TRUE(python_layout(minor)) << minor;
    EXPECT_EQ(python_layout(minor)->minor, minor);
  }
  EXPECT_FALSE(python_layout(8));
  EXPECT_FALSE(python_layout(13));  // it says itself
}

TEST(PythonLayout, AVersionInTheNameOfAFile) {
  EXPECT_EQ(python_minor_in("libpython3.9.so.1.0"), 9);
  EXPECT_EQ(python_minor_in("/usr/lib/python3.13/lib-dynload/x.so"), 13);
  EXPECT_FALSE(python_minor_in("/usr/bin/python3"));
  EXPECT_FALSE(python_minor_in("/usr/lib/libruby.so"));
}

/// A table of offsets in which every number is its place, with the head of a version.
std::string offsets(std::uint64_t version, std::uint64_t free_threaded) {
  std::array<std::uint64_t, 64> slots = {};
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = i;
  std::memcpy(slots.data(), "xdebugpy", sizeof slots[0]);
  slots[1] = version;
  slots[2] = free_threaded;
  return {reinterpret_cast<const char*>(slots.data()), sizeof slots};
}

TEST(PythonLayout, IsReadFromTheInterpretersTable) {
  const auto layout = python_layout_of(offsets(0x030d00f0, 0));
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->minor, 13);
  EXPECT_EQ(layout->interpreters, 5U);
  EXPECT_EQ(layout->next_interpreter, 8U);
  EXPECT_EQ(layout->threads, 9U);
  EXPECT_EQ(layout->gil, 14);
  EXPECT_EQ(layout->gil_locked, 17U - 15U);
  EXPECT_EQ(layout->gil_holder, 18U - 15U);
  EXPECT_EQ(layout->next_thread, 21U);
  EXPECT_EQ(layout->frame, 23U);
  EXPECT_EQ(layout->thread_id, 24U);
  EXPECT_EQ(layout->native_id, 25);
  EXPECT_EQ(layout->previous, 29U);
  EXPECT_EQ(layout->code, 30U);
  EXPECT_EQ(layout->instruction, 31U);
  EXPECT_EQ(layout->owner, 33);
  EXPECT_EQ(layout->file, 35U);
  EXPECT_EQ(layout->name, 37U);
  EXPECT_EQ(layout->line_table, 38U);
  EXPECT_EQ(layout->first_line, 39U);
  EXPECT_EQ(layout->instructions, 43);
}

TEST(PythonLayout, TheTableOf314HasMoreEntries) {
  const auto layout = python_layout_of(offsets(0x030e00f0, 0));
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->minor, 14);
  EXPECT_EQ(layout->threads, 9U);
  EXPECT_EQ(layout->gil, 15);
  EXPECT_EQ(layout->next_thread, 24U);
  EXPECT_EQ(layout->frame, 26U);
  EXPECT_EQ(layout->native_id, 28);
  EXPECT_EQ(layout->previous, 32U);
  EXPECT_EQ(layout->owner, 36);
  EXPECT_EQ(layout->file, 40U);
  EXPECT_EQ(layout->instructions, 48);
}

TEST(PythonLayout, OtherTablesAreRefused) {
  EXPECT_FALSE(python_layout_of(offsets(0x030d00f0, 1)));  // without a GIL
  EXPECT_FALSE(python_layout_of(offsets(0x030f00a0, 0)));
  EXPECT_FALSE(python_layout_of(offsets(0x040d00f0, 0)));
  EXPECT_FALSE(python_layout_of(""));
  EXPECT_FALSE(python_layout_of("xdebugpy"));
  const std::string whole = offsets(0x030d00f0, 0);
  for (std::size_t size = 0; size < 44 * 8; size += 8) {
    EXPECT_FALSE(python_layout_of(std::string_view(whole).substr(0, size))) << size;
  }
  std::string far = whole;
  far[9 * 8 + 5] = 1;  // an offset of a terabyte
  EXPECT_FALSE(python_layout_of(far));
}

TEST(PythonFiles, OfTheProgramAndOfOthers) {
  for (const char* own : {"train.py", "/home/u/project/data.py", "<string>", "/srv/project/lib/python/mine.py"}) {
    EXPECT_TRUE(is_own_python_file(own)) << own;
  }
  for (const char* other :
       {"/usr/lib/python3.11/threading.py", "/venv/lib/python3.12/site-packages/torch/nn/functional.py",
        "/usr/lib/python3/dist-packages/numpy/core.py", "<frozen importlib._bootstrap>", "<shim>",
        "/tmp/torchinductor_root/he/x.py", "/scratch/caches/he/chesdpr3er6y6mduy62cti6eolwuhlsczoiale75a5i4buxncqni.py",
        "/home/u/.triton/cache/launcher.py"}) {
    EXPECT_FALSE(is_own_python_file(other)) << other;
  }
  EXPECT_TRUE(is_own_python_file("/scratch/ab/chesdpr3er6y6mduy62cti6eolwuhlsczoiale75a5i4buxncqni.py"))
      << "its folder is not the first digits";
}

}  // namespace
}  // namespace roofline
