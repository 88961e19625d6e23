// A SQLite file from elsewhere: only names listed by the database itself enter a statement, quoted, and no column is
// trusted to have its declared type. Nothing is written, in it or beside it.
#pragma once

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// The columns of a row, converted whatever type the file declares.
class SqliteRow {
 public:
  SqliteRow(sqlite3_stmt* statement, const std::vector<int>& places) : statement_(statement), places_(places) {}

  bool has(std::size_t column) const {
    return places_[column] >= 0 && sqlite3_column_type(statement_, places_[column]) != SQLITE_NULL;
  }
  std::int64_t integer(std::size_t column, std::int64_t otherwise = 0) const {
    if (!has(column)) return otherwise;
    if (is_text(column)) return number_in(text(column)).value_or(otherwise);
    return sqlite3_column_int64(statement_, places_[column]);
  }
  std::uint32_t small(std::size_t column) const {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(integer(column), 0, std::numeric_limits<std::uint32_t>::max()));
  }
  double number(std::size_t column) const {
    const double value = has(column) ? sqlite3_column_double(statement_, places_[column]) : 0;
    return std::isfinite(value) ? value : 0;
  }
  std::string text(std::size_t column) const {
    if (!has(column)) return {};
    return text_of(statement_, places_[column]);
  }

  /// Text has to be a whole number: SQLite would read "1,234" as 1.
  static std::optional<std::int64_t> number_in(const std::string& text);
  static std::string text_of(sqlite3_stmt* statement, int column);

 private:
  bool is_text(std::size_t column) const {
    const int type = sqlite3_column_type(statement_, places_[column]);
    return type == SQLITE_TEXT || type == SQLITE_BLOB;
  }

  sqlite3_stmt* statement_;
  const std::vector<int>& places_;
};

class SqliteDatabase {
 public:
  /// `hint`: how to write such a file. Throws UsageError if the file is unreadable, or has uncommitted changes beside
  /// it.
  SqliteDatabase(const std::filesystem::path& file, std::string hint);

  bool has(std::string_view table) const { return tables_.contains(table); }

  /// What follows the prefix in the names of tables that begin with it.
  std::vector<std::string> suffixes_of(std::string_view prefix) const;

  /// Calls `take` with each row of a table, and of these columns; those that the table has not are empty. Rows in the
  /// order of the file. Nothing if there is no such table.
  template <typename Take>
  void rows(const std::string& table, std::initializer_list<std::string_view> columns, Take&& take) {
    const Selection selection = select(table, columns);
    if (selection.statement.empty()) return;
    row_ = 0;
    query(selection.statement, table, [&](sqlite3_stmt* statement) {
      constexpr std::int64_t kMostRows = 200'000'000;
      if (++row_ > kMostRows) fail_row(table, "more than 200 million rows");
      take(SqliteRow(statement, selection.places));
    });
  }

  [[noreturn]] void fail_row(std::string_view table, const std::string& what) const;

 private:
  struct Selection {
    std::string statement;    ///< empty where there is nothing to select
    std::vector<int> places;  ///< of the columns in its rows; -1: the table has none of that name
  };
  Selection select(const std::string& table, std::initializer_list<std::string_view> columns);

  [[noreturn]] void fail(int code, std::string_view where) const;

  template <typename Take>
  void query(const std::string& text, std::string_view where, Take&& take) {
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(database_.get(), text.c_str(), static_cast<int>(text.size()), &statement, nullptr);
    if (code != SQLITE_OK) fail(code, where);
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> held(statement, sqlite3_finalize);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) take(statement);
    if (code != SQLITE_DONE) fail(code, fmt::format("{}, after row {}", where, row_));
  }

  std::string name_, hint_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_{nullptr, sqlite3_close};
  std::set<std::string, std::less<>> tables_;
  std::int64_t row_ = 0;
};

}  // namespace roofline
