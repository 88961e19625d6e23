// Where CUPTI is found. A library stands for a version that does not exist, so that no installed one is in the way.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "cupti/library.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr int kMajor = 77;

bool complete(void* handle) { return dlsym(handle, "cupti_of_a_test") != nullptr; }

/// A variable of the environment, for as long as the object lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_) {
      setenv(name_, before_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class FindCupti : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("roofline-find-cupti-" + std::to_string(getpid()));
    fs::create_directories(root_ / "venv/bin");
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path add(const std::string& folder, int major) {
    const fs::path file = root_ / folder / ("libcupti.so." + std::to_string(major));
    fs::create_directories(file.parent_path());
    fs::copy_file(ROOFLINE_MARKED_LIBRARY, file);
    return file;
  }
  static void expect_found(const fs::path& file) {
    const CuptiLibrary found = find_cupti(kMajor, complete);
    ASSERT_NE(found.handle, nullptr);
    EXPECT_EQ(fs::canonical(found.path), fs::canonical(file));
  }

  fs::path root_;
};

TEST_F(FindCupti, NothingIsFoundWhereThereIsNone) {
  const Variable path("PATH", root_ / "venv/bin");
  EXPECT_EQ(find_cupti(kMajor, complete).handle, nullptr);
}

TEST_F(FindCupti, AWheelOfThePythonInPathIsFound) {
  const fs::path file = add("venv/lib/python3.11/site-packages/nvidia/cuda_cupti/lib", kMajor);
  const Variable path("PATH", "relative:" + (root_ / "venv/bin").string());
  expect_found(file);
}

TEST_F(FindCupti, TheWheelOfCuda13IsFound) {
  const fs::path file = add("venv/lib/python3.13/site-packages/nvidia/cu13/lib", kMajor);
  const Variable path("PATH", root_ / "venv/bin");
  expect_found(file);
}

TEST_F(FindCupti, AToolkitComesBeforeAWheelAndANamedFileBeforeBoth) {
  add("venv/lib/python3.11/site-packages/nvidia/cuda_cupti/lib", kMajor);
  const fs::path toolkit = add("toolkit/extras/CUPTI/lib64", kMajor), named = add("named", kMajor);
  const Variable path("PATH", root_ / "venv/bin"), home("CUDA_HOME", root_ / "toolkit");
  expect_found(toolkit);
  const Variable variable(kCuptiVariable, named);
  expect_found(named);
}

TEST_F(FindCupti, TheVersionBeforeServesAndAnOlderOneDoesNot) {
  add("venv/lib/python3.11/site-packages/nvidia/cuda_cupti/lib", kMajor - 2);
  const Variable path("PATH", root_ / "venv/bin");
  EXPECT_EQ(find_cupti(kMajor, complete).handle, nullptr);
  expect_found(add("venv/lib/python3.12/site-packages/nvidia/cuda_cupti/lib", kMajor - 1));
}

TEST_F(FindCupti, WhatIsNotAcceptedIsPassedOver) {
  const fs::path file = add("toolkit/lib64", kMajor);
  std::ofstream(file, std::ios::trunc) << "no library";
  const Variable home("CUDA_HOME", root_ / "toolkit"), path("PATH", root_ / "venv/bin");
  expect_found(add("venv/lib/python3.11/site-packages/nvidia/cuda_cupti/lib", kMajor));
}

TEST_F(FindCupti, ARelativeNameIsNotOpened) {
  const Variable variable(kCuptiVariable, "libcupti.so.77"), path("PATH", "venv/bin");
  EXPECT_EQ(find_cupti(kMajor, complete).handle, nullptr);
}

}  // namespace
}  // namespace roofline
