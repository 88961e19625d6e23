// The code at the lines where a program loses time.
#include "profile/source_text.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace roofline {
namespace {

namespace fs = std::filesystem;

class SourceTextTest : public testing::Test {
 protected:
  SourceTextTest() { fs::create_directories(folder_ / "other"); }
  ~SourceTextTest() override { fs::remove_all(folder_); }

  std::string write(const fs::path& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  static Saving saving(const std::string& line, const std::string& evidence) {
    Saving one;
    one.line = line;
    one.evidence = evidence;
    return one;
  }
  static HostFrame frame(const std::string& file, int line) {
    return {.function = "step", .file = file, .line = line, .python = true, .own = true};
  }

  fs::path folder_ = fs::temp_directory_path() / ("roofline-source-text-" + std::to_string(getpid()));
};

TEST_F(SourceTextTest, StandBeforeTheEvidence) {
  const std::string path = write("train.py", "import gc\n    gc.collect()\n\n");
  HostSamples samples;
  samples.frames = {frame(path, 2), frame(path, 3), frame("/no/such/file.py", 7)};
  std::vector<Saving> savings = {saving("train.py:2 step", "12 gaps"),           saving("train.py:2 step", ""),
                                 saving("train.py:3 step", "an empty line"),     saving("file.py:7 step", "no file"),
                                 saving("train.py:1 main", "no frame is there"), saving("", "no line")};
  add_source_text(savings, {}, samples);
  EXPECT_EQ(savings[0].evidence, "`gc.collect()`; 12 gaps");
  EXPECT_EQ(savings[1].evidence, "`gc.collect()`");
  EXPECT_EQ(savings[2].evidence, "an empty line");
  EXPECT_EQ(savings[3].evidence, "no file");
  EXPECT_EQ(savings[4].evidence, "no frame is there");
  EXPECT_EQ(savings[5].evidence, "no line");
}

TEST_F(SourceTextTest, TellWhatAHostDoesOfWhichNoMoreIsKnown) {
  HostSamples samples;
  const std::string path = write("train.py", "gc.collect()\nself.observer.update(step)\n");
  samples.frames = {frame(path, 1), frame(path, 2)};
  for (const bool general : {true, false}) {
    std::vector<Saving> savings = {saving("train.py:1 step", ""), saving("train.py:2 step", "")};
    for (Saving& one : savings) {
      one.action = "the cause's";
      one.general = general;
    }
    add_source_text(savings, {}, samples);
    EXPECT_EQ(savings[0].action != "the cause's", general);
    EXPECT_EQ(savings[1].action, "the cause's");
  }
}

TEST_F(SourceTextTest, AreNotGuessedWhereTwoFilesHaveOneName) {
  HostSamples samples;
  samples.frames = {frame(write("step.py", "first()\n"), 1), frame(write("other/step.py", "second()\n"), 1)};
  std::vector<Saving> savings = {saving("step.py:1 step", "12 gaps")};
  add_source_text(savings, {}, samples);
  EXPECT_EQ(savings[0].evidence, "12 gaps");
}

TEST_F(SourceTextTest, NameTheLoopWhoseVariableSelectsElements) {
  const std::string path = write("groups.py",
                                 "for b in outside:\n"
                                 "    def groups(x, label, count):\n"
                                 "        y = x[label == b]\n"
                                 "        for b in range(count):\n"
                                 "            # a comment\n\n"
                                 "            for k in names:\n"
                                 "                use(k)\n"
                                 "            y = x[label == b]\n");
  std::vector<HostLineSum> lines(2);
  lines[0].place = frame(path, 9);
  lines[1].place = frame(path, 3);
  SourceTexts sources;
  add_source_text(lines, sources);
  EXPECT_EQ(lines[0].source, "y = x[label == b]  # in: for b in range(count):");
  EXPECT_EQ(lines[1].source, "y = x[label == b]") << "the loop is outside of the function";
}

TEST_F(SourceTextTest, AreDataAndShort) {
  const std::string path = write("long.py", "x = \"\x1b[31m\"  # " + std::string(1000, 'y') + "\n");
  SourceTexts sources;
  const std::string text = sources.text(path, 1);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_LE(text.size(), 200U);
  EXPECT_EQ(sources.text(path, 2), "");
  EXPECT_EQ(sources.text(path, 0), "");
  EXPECT_EQ(sources.text(folder_.string(), 1), "") << "a folder";
}

}  // namespace
}  // namespace roofline
