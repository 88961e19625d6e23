// What is loaded, and where it is written before: nothing that somebody else could have put there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "host/files.hpp"
#include "host/library_path.hpp"
#include "host/private_folder.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

TEST(LibraryPath, EntriesThatMeanTheWorkingFolderAreLeftOut) {
  EXPECT_EQ(without_relative_folders(""), std::nullopt);
  EXPECT_EQ(without_relative_folders("/opt/lib"), std::nullopt);
  EXPECT_EQ(without_relative_folders("/opt/lib:/usr/local/lib"), std::nullopt);
  EXPECT_EQ(without_relative_folders("$ORIGIN/../lib:/opt/lib"), std::nullopt);
  EXPECT_EQ(without_relative_folders(":/opt/lib"), "/opt/lib");
  EXPECT_EQ(without_relative_folders("/opt/lib:"), "/opt/lib");
  EXPECT_EQ(without_relative_folders("/a::/b"), "/a:/b");
  EXPECT_EQ(without_relative_folders("/a;lib;/b"), "/a:/b");
  EXPECT_EQ(without_relative_folders("."), "");
  EXPECT_EQ(without_relative_folders(":"), "");
}

std::string refusal_of(const fs::path& folder) {
  try {
    require_private(folder);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(PrivateFolder, IsOursAloneAndGoneAfterwards) {
  fs::path path;
  {
    const PrivateFolder folder;
    path = folder.path();
    EXPECT_TRUE(path.is_absolute());
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, ::geteuid());
    EXPECT_EQ(status.st_mode & 07777, 0700U);
    std::ofstream(path / "library") << "x";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateFolder, OneThatOthersCanReadOrReplaceIsRefused) {
  const PrivateFolder around;
  const fs::path folder = around.path() / "folder";
  fs::create_directory(folder);
  ::chmod(folder.c_str(), 0700);
  EXPECT_EQ(refusal_of(folder), "");
  for (const mode_t mode : {0750U, 0701U, 0777U, 01777U}) {
    ::chmod(folder.c_str(), mode);
    EXPECT_THAT(refusal_of(folder), testing::HasSubstr("have access")) << std::oct << mode;
  }
  ::chmod(folder.c_str(), 0700);
  fs::create_directory_symlink(folder, around.path() / "link");
  EXPECT_THAT(refusal_of(around.path() / "link"), testing::HasSubstr("link"));
  ::chmod(around.path().c_str(), 0777);
  EXPECT_THAT(refusal_of(folder), testing::HasSubstr("can replace"));
  ::chmod(around.path().c_str(), 01777);
  EXPECT_EQ(refusal_of(folder), "") << "as in /tmp: others may add, but not rename";
}

TEST(PrivateFolder, SomebodyElsesIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const PrivateFolder around;
  const fs::path folder = around.path() / "folder";
  fs::create_directory(folder);
  ::chmod(folder.c_str(), 0700);
  ASSERT_EQ(::chown(folder.c_str(), 12345, 12345), 0);
  EXPECT_THAT(refusal_of(folder), testing::HasSubstr("another user"));
}

TEST(ReplaceableByOthers, EveryFolderAndLinkUpToTheRootCounts) {
  const PrivateFolder around;
  const fs::path top = fs::canonical(around.path()) / "top";
  const fs::path deep = top / "middle" / "deep";
  fs::create_directories(deep);
  for (const fs::path& folder : {top, top / "middle", deep}) ::chmod(folder.c_str(), 0755);
  const fs::path link = around.path() / "link";
  fs::create_directory_symlink("top/middle", link);
  for (const fs::path& path : {deep, link / "deep", top / "middle" / ".." / "middle" / "deep"}) {
    EXPECT_EQ(replaceable_by_others(path), "") << path;
    ::chmod(top.c_str(), 0775);
    EXPECT_THAT(replaceable_by_others(path), testing::HasSubstr(top.string() + ":")) << path;
    ::chmod(top.c_str(), 01777);
    EXPECT_EQ(replaceable_by_others(path), "") << "as in /tmp: " << path;
    ::chmod(top.c_str(), 0755);
  }
  EXPECT_NE(replaceable_by_others(top / "missing"), "");
  fs::create_directory_symlink("round", around.path() / "round");
  EXPECT_NE(replaceable_by_others(around.path() / "round"), "");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::lchown(link.c_str(), 12345, 12345), 0);
  EXPECT_THAT(replaceable_by_others(link / "deep"), testing::HasSubstr("another user"));
  ASSERT_EQ(::chown(top.c_str(), 12345, 12345), 0);
  EXPECT_THAT(replaceable_by_others(deep), testing::HasSubstr("another user"));
}

/// Files of src/ that call one of the functions.
std::vector<std::string> callers_of(const std::vector<std::string>& functions) {
  const fs::path source = fs::path(ROOFLINE_SOURCE_DIR) / "src";
  const auto calls = [](const std::string& text, const std::string& call) {
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
      if (at == 0 || !in_name(text[at - 1])) return true;
    }
    return false;
  };
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(source)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".cpp" && ending != ".hpp" && ending != ".cu") continue;
    const std::string text = read_file(entry.path());
    if (std::any_of(functions.begin(), functions.end(), [&](const auto& name) { return calls(text, name + "("); }))
      found.push_back(fs::relative(entry.path(), source).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// SECURITY.md says what these load and start. Whoever adds one says so there.
TEST(Trust, OnlyThesePlacesLoadLibraries) {
  EXPECT_THAT(callers_of({"dlopen", "dlmopen"}),
              testing::ElementsAre("cli/doctor_command.cpp", "cupti/library.cpp", "device/cuda/listing.cpp",
                                   "host/shared_library.cpp", "import/byte_source.cpp", "inject/redirect.cpp",
                                   "inject/torch.cpp", "user/nvrtc.cpp", "user/user_implementation.cpp"));
}

TEST(Trust, OnlyThesePlacesStartPrograms) {
  EXPECT_THAT(callers_of({"system", "popen", "execl", "execlp", "execle", "execv", "execvp", "execvpe", "posix_spawn",
                          "posix_spawnp"}),
              testing::ElementsAre("host/library_path.cpp", "host/process.cpp"));
}

}  // namespace
}  // namespace roofline
