// A profiled program and the same program alone: files, output, status and signals must be byte-equal.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "spool_reader.hpp"

namespace roofline::inject {
namespace {

namespace fs = std::filesystem;

struct Traces {
  int status = 0;                            ///< as waitpid has it
  std::map<std::string, std::string> files;  ///< by path; standard output and error are among them
  bool operator==(const Traces&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Traces& traces) {
  out << "status " << traces.status << '\n';
  for (const auto& [name, content] : traces.files) {
    out << name << ", " << content.size() << " bytes: " << content.substr(0, 200) << '\n';
  }
  return out;
}

class Unharmed : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "roofline-unharmed-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    fs::permissions(folder_, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    fs::create_directory(folder_ / "spools");
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// `fault` is what the library's write() calls get, as tests/faults/inject.cpp has it.
  Traces run(const std::string& mode, bool profiled, [[maybe_unused]] const std::string& fault = {}) const {
    const fs::path place = folder_ / (profiled ? "profiled" : "alone");
    fs::create_directory(place);
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(place.c_str()) != 0) _exit(126);
      dup2(open("stdout", O_WRONLY | O_CREAT | O_APPEND, 0600), 1);
      dup2(open("stderr", O_WRONLY | O_CREAT | O_APPEND, 0600), 2);
      for (int number = 3; number < 64; ++number) close(number);
      setenv("LD_LIBRARY_PATH", fs::path(ROOFLINE_FAKE_CUDA).parent_path().c_str(), 1);
      if (profiled) {
        setenv("ROOFLINE_SPOOL", (folder_ / "spools").c_str(), 1);
        setenv("CUDA_INJECTION64_PATH", ROOFLINE_INJECT_LIBRARY, 1);
        setenv("NVTX_INJECTION64_PATH", ROOFLINE_INJECT_LIBRARY, 1);
        setenv("ROOFLINE_CUPTI", ROOFLINE_FAKE_CUPTI, 1);
      }
#ifdef ROOFLINE_FAULTS
      if (!fault.empty()) {
        setenv("LD_PRELOAD", ROOFLINE_FAULTS, 1);
        setenv("ROOFLINE_FAULT", fault.c_str(), 1);
      }
#endif
      execl(ROOFLINE_UNHARMED_PROGRAM, "program", mode.c_str(), nullptr);
      _exit(127);
    }
    Traces traces;
    waitpid(child, &traces.status, 0);
    for (const auto& entry : fs::recursive_directory_iterator(place)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      traces.files[fs::relative(entry.path(), place)] = std::string(std::istreambuf_iterator<char>(file), {});
    }
    return traces;
  }

  /// Of the profiled run: readable as far as they go.
  std::vector<Spool> spools() const {
    std::vector<Spool> all;
    for (const auto& entry : fs::directory_iterator(folder_ / "spools")) {
      all.push_back(read_spool(entry.path()));
      EXPECT_TRUE(all.back().broken.empty() || all.back().bytes == 0) << all.back().broken;
    }
    return all;
  }

  std::size_t recorded() const {
    std::size_t launches = 0;
    for (const Spool& spool : spools()) launches += spool.launches.size();
    return launches;
  }

  fs::path folder_;
};

class UnharmedIn : public Unharmed, public testing::WithParamInterface<const char*> {};

TEST_P(UnharmedIn, AsIfNobodyWereThere) {
  const std::string mode = GetParam();
  const bool privileged = mode == "changes_root" || mode == "changes_user";
  if (privileged && geteuid() != 0) GTEST_SKIP() << "only root may do that";
  const Traces alone = run(mode, false);
  ASSERT_FALSE(WIFEXITED(alone.status) && WEXITSTATUS(alone.status) == 9) << "the program itself failed: " << alone;
  ASSERT_NE(alone.status, 127 << 8);
  EXPECT_EQ(run(mode, true), alone);
  // What the program does to itself must not end a recording that it leaves alone.
  const std::map<std::string, std::size_t> least = {
      {"forks", 2}, {"unloads", 4}, {"changes_root", 7}, {"changes_user", 7}, {"fewer_descriptors_later", 1}};
  if (const auto found = least.find(mode); found != least.end()) {
    EXPECT_EQ(recorded(), found->second);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, UnharmedIn,
                         testing::Values("closes_and_reuses", "closes_often", "forks", "executes", "becomes_daemon",
                                         "changes_root", "changes_user", "unloads", "few_descriptors",
                                         "fewer_descriptors_later", "small_files", "no_files", "smaller_files_later",
                                         "catches_size_signals", "keeps_a_pending_signal", "handles_signals"),
                         [](const auto& mode) { return std::string(mode.param); });

#ifdef ROOFLINE_FAULTS
/// The disk or the quota is full, or broken, at any of the library's writes.
TEST_F(Unharmed, WhenTheSpoolCannotBeWritten) {
  const Traces alone = run("ends", false);
  for (const int error : {ENOSPC, EDQUOT, EFBIG, EIO}) {
    for (const int nth : {1, 2, 3}) {
      fs::remove_all(folder_ / "spools");
      fs::create_directory(folder_ / "spools");
      EXPECT_EQ(run("ends", true, "parent write " + std::to_string(error) + " " + std::to_string(nth) + " 1"), alone);
      const std::vector<Spool> left = spools();
      ASSERT_EQ(left.size(), 1U);
      EXPECT_FALSE(!left[0].tallies.empty() && left[0].tallies.back().last == 1) << error << " in write " << nth;
      if (nth < 3) {
        EXPECT_EQ(left[0].bytes, nth == 1 ? 0U : sizeof(spool::kMagic));
      }
    }
  }
}
#endif

}  // namespace
}  // namespace roofline::inject
