// Files from outside: what is no file, or has no end, is refused at once.
#include "host/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "model/error.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class OutsideFiles : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string refusal(const fs::path& path, const FileLimit& limit = kFileLimit) {
    try {
      read_file(path, limit, "what to do");
    } catch (const UsageError& error) {
      EXPECT_EQ(error.hint(), "what to do");
      return error.what();
    }
    return "was read";
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("files-" + std::to_string(::getpid()));
};

TEST_F(OutsideFiles, WhatIsNoFileIsRefusedAtOnce) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refusal("/dev/zero"), HasSubstr("/dev/zero: is a device"));
  EXPECT_THAT(refusal(folder_), HasSubstr("is a folder"));
  EXPECT_THAT(refusal(pipe), HasSubstr("without a writer"));
  EXPECT_THAT(refusal(folder_ / "nowhere"), HasSubstr("No such file"));
  EXPECT_THROW(require_file("/dev/zero", kFileLimit), UsageError);
  EXPECT_THROW(require_file(pipe, kFileLimit), UsageError);
}

TEST_F(OutsideFiles, WhatIsTooLargeIsRefusedWithItsNameAndTheLimit) {
  const fs::path large = folder_ / "large";
  write_file(large, "");
  const FileLimit limit{std::uint64_t{3} << 20, "a suite"};
  fs::resize_file(large, limit.bytes + 1);  // a hole, which takes no room
  EXPECT_THAT(refusal(large, limit), mentions(large.string() + ": ", "3 MB", "a suite"));
  EXPECT_THROW(require_file(large, limit), UsageError);
  fs::resize_file(large, limit.bytes);
  EXPECT_EQ(read_file(large, limit).size(), limit.bytes);
  EXPECT_NO_THROW(require_file(large, limit));
}

TEST_F(OutsideFiles, APipeThatSomebodyWritesToIsRead) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // Open for both: a writer without a reader is killed by SIGPIPE, and this one may be first.
  const int writer = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  const std::string text(300'000, 'x');
  std::jthread writing([&] {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = ::write(writer, text.data() + at, text.size() - at);
      if (written <= 0) break;
      at += static_cast<std::size_t>(written);
    }
    ::close(writer);
  });
  EXPECT_EQ(read_file(pipe), text);
}

TEST_F(OutsideFiles, APipeHasTheLimitToo) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int both = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  const std::string text(20'000, 'x');
  ASSERT_EQ(::write(both, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_THAT(refusal(pipe, {10'000, "a suite"}), mentions("a suite"));
  ::close(both);
}

TEST_F(OutsideFiles, WhatTheSystemMakesUpHasNoSizeAndIsRead) {
  EXPECT_THAT(read_file("/proc/self/stat"), HasSubstr(" "));
}

TEST_F(OutsideFiles, AFileIsReplacedAsAWholeOrNotAtAll) {
  const fs::path file = folder_ / "sub" / "file";
  write_file(file, "old");
  write_file(file, std::string(100'000, 'n'));
  EXPECT_EQ(read_file(file), std::string(100'000, 'n'));
  fs::create_directories(folder_ / "sub" / "folder");
  write_file(folder_ / "sub" / "folder" / "x", "");
  EXPECT_THROW(write_file(folder_ / "sub" / "folder", "text"), UsageError);
  for (const auto& entry : fs::directory_iterator(folder_ / "sub")) EXPECT_NE(entry.path().extension(), ".tmp");
}

}  // namespace
}  // namespace roofline
