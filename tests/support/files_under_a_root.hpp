// A folder in place of the root, for what is read from /proc and /sys.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "host/files.hpp"

namespace roofline {

class FilesUnderARoot : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("roofline-root-" + std::to_string(::getpid()));
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const { write_file(root_ / path, text); }

  std::filesystem::path root_;
};

}  // namespace roofline
