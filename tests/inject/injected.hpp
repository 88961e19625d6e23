// Runs the test programs with the library in them, on the fake driver.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spool_reader.hpp"

namespace roofline::inject {

namespace fs = std::filesystem;

struct Outcome {
  int status = 0;  ///< as waitpid has it
  std::vector<Spool> spools;
};

using Environment = std::map<std::string, std::string>;

class Injected : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "roofline-inject-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  Outcome run(const std::vector<std::string>& command, const Environment& more = {}) {
    Environment environment = {{"ROOFLINE_SPOOL", folder_.string()},
                               {"CUDA_INJECTION64_PATH", ROOFLINE_INJECT_LIBRARY},
                               {"NVTX_INJECTION64_PATH", ROOFLINE_INJECT_LIBRARY},
                               {"ROOFLINE_CUPTI", ROOFLINE_FAKE_CUPTI},
                               {"LD_LIBRARY_PATH", fs::path(ROOFLINE_FAKE_CUDA).parent_path().string()}};
    for (const auto& [name, value] : more) environment[name] = value;
    const pid_t child = fork();
    if (child == 0) {
      for (const auto& [name, value] : environment) {
        if (value.empty()) {
          unsetenv(name.c_str());
        } else {
          setenv(name.c_str(), value.c_str(), 1);
        }
      }
      std::vector<char*> arguments;
      arguments.reserve(command.size() + 1);
      for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    Outcome result;
    waitpid(child, &result.status, 0);
    constexpr int kThreadSanitizer = 66;
    EXPECT_FALSE(WIFEXITED(result.status) && WEXITSTATUS(result.status) == kThreadSanitizer);
    std::set<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".spool") files.insert(entry.path());
    }
    for (const fs::path& file : files) {
      result.spools.push_back(read_spool(file));
      EXPECT_EQ(result.spools.back().broken, "");
    }
    return result;
  }

  Outcome scenario(const std::string& name, const Environment& more = {}) {
    return run({ROOFLINE_INJECT_PROGRAM, name}, more);
  }

#ifdef ROOFLINE_PYTHON
  Outcome script(const std::string& name, Environment more = {}) {
#ifdef ROOFLINE_PRELOAD
    more["LD_PRELOAD"] = ROOFLINE_PRELOAD;
#endif
    return run({ROOFLINE_PYTHON, "-B", ROOFLINE_SOURCE_DIR "/tests/inject/python/" + name}, more);
  }
#endif

  /// The spool of a program that ends well.
  Spool spool_of(const std::string& name, const Environment& more = {}) {
    Outcome result = scenario(name, more);
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.spools.size(), 1U);
    return result.spools.empty() ? Spool() : std::move(result.spools[0]);
  }

  fs::path folder_;
};

}  // namespace roofline::inject
