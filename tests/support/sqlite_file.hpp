// An SQLite file for the import's readers.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/support/import_files.hpp"

namespace roofline {

/// A database that these statements have made.
class SqliteFile {
 public:
  explicit SqliteFile(const std::string& statements, std::string_view name = "step.sqlite") : file_(name, "") {
    std::filesystem::remove(file_.path());
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(file_.path().c_str(), &database), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(database);
  }
  const std::filesystem::path& path() const { return file_.path(); }

 private:
  TemporaryFile file_;
};

}  // namespace roofline
