// A file that grows is whole whenever it is opened, also when its writer has been killed.
#include "host/growing_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "host/files.hpp"
#include "host/unfinished_file.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

class GrowingFileTest : public testing::Test {
 protected:
  GrowingFileTest() { fs::create_directories(folder_); }
  ~GrowingFileTest() override { fs::remove_all(folder_); }

  std::string text() const { return read_file(path_); }
  auto files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("growing-" + std::to_string(::getpid()));
  const fs::path path_ = folder_ / "file";
};

TEST_F(GrowingFileTest, IsWholeAfterEveryText) {
  write_file(path_, "of an earlier run");
  {
    GrowingFile file(path_, "[", "]\n");
    EXPECT_EQ(text(), "of an earlier run") << "nothing has been appended";
    file.append("1");
    EXPECT_EQ(text(), "[1]\n");
    file.append(", 22");
    EXPECT_EQ(text(), "[1, 22]\n");
    file.append("");
    EXPECT_EQ(text(), "[1, 22]\n");
    const std::string large(100000, '3');
    file.append(large);
    EXPECT_EQ(text(), "[1, 22" + large + "]\n");
  }
  EXPECT_EQ(files(), 1) << "only the file itself is left";
}

TEST_F(GrowingFileTest, NothingIsLeftOfAProcessThatEndsWithoutDestructorsButTheFile) {
  const ::pid_t parent = ::fork();
  if (parent == 0) {
    GrowingFile file(path_, "[", "]\n");
    file.append("1");
    const ::pid_t child = ::fork();
    if (child == 0) {
      remove_unfinished_files();  // its parent's are none of its own
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    const bool kept = files() > 1;
    remove_unfinished_files();
    ::_exit(kept ? 0 : 1);
  }
  int status = -1;
  ::waitpid(parent, &status, 0);
  EXPECT_EQ(status, 0) << "a child removed what its parent was writing";
  EXPECT_EQ(text(), "[1]\n");
  EXPECT_EQ(files(), 1);
}

TEST_F(GrowingFileTest, TheOpeningChangesWithTheNextText) {
  GrowingFile file(path_, "at 00 s: ", ".");
  file.append("a");
  file.replace(3, "07");
  EXPECT_EQ(text(), "at 00 s: a.");
  file.append("b");
  EXPECT_EQ(text(), "at 07 s: ab.");
  file.append("c");
  EXPECT_EQ(text(), "at 07 s: abc.") << "the other copy";
}

TEST_F(GrowingFileTest, WhatAReaderHasOpenedStaysWhileTheNextTextComes) {
  GrowingFile file(path_, "[", "]");
  for (const char* text : {"1", "2"}) {
    file.append(text);
    const std::string whole = this->text();
    std::ifstream reader(path_);
    file.append("x");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), whole);
  }
}

/// Texts of several pages, whose writing a kill may cut short; 8000 is no multiple of a page.
TEST_F(GrowingFileTest, IsWholeWhenItsWriterIsKilled) {
  const std::string line = std::string(7999, 'x') + "\n";
  for (int trial = 0; trial < 20; ++trial) {
    fs::remove(path_);
    const pid_t writer = ::fork();
    if (writer == 0) {
      GrowingFile file(path_, "begin\n", "end\n");
      for (;;) file.append(line);
    }
    while (!fs::exists(path_)) ::usleep(100);
    ::usleep(static_cast<useconds_t>(137 * trial));
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    const std::string left = text();
    ASSERT_TRUE(left.starts_with("begin\n") && left.ends_with("end\n"));
    ASSERT_EQ((left.size() - 10) % line.size(), 0U);
    ASSERT_GT(left.size(), line.size());
    for (std::size_t at = 6; at + 4 < left.size(); at += line.size()) ASSERT_EQ(left.compare(at, line.size(), line), 0);
  }
}

TEST_F(GrowingFileTest, SaysWhatCanNotBeWritten) {
  try {
    GrowingFile file(folder_ / "absent" / "file", "", "");
    FAIL();
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("absent/file: "), std::string::npos) << text;
    EXPECT_NE(text.find(std::strerror(ENOENT)), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace roofline
