// SQLite's limits, settings and errors.
#include "import/sqlite_database.hpp"

#include <array>
#include <cmath>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "model/error.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr int kLongestValue = 1 << 26;  // bytes

/// Throws bad_alloc at SQLITE_NOMEM, unless there is memory: SQLite also returns it for sizes in damaged records.
void require_memory(int code) {
  if (code == SQLITE_NOMEM) std::vector<char>().reserve(kLongestValue);
}

std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (const char character : name) text += character == '"' ? "\"\"" : std::string(1, character);
  return text + '"';
}

std::string escaped(const std::string& path) {
  std::string text;
  for (const char character : path) {
    const bool special = character == '%' || character == '?' || character == '#';
    text += special ? fmt::format("%{:02x}", static_cast<unsigned char>(character)) : std::string(1, character);
  }
  return text;
}

/// What is in a write-ahead log or a rollback journal belongs to the database, and only writing beside the file
/// would bring it there.
void require_no_changes_beside(const fs::path& file) {
  std::error_code none;
  const fs::path real = fs::canonical(file, none);  // a link's log is beside what it leads to
  for (const char* const suffix : {"-wal", "-journal"}) {
    const fs::path changes = (none ? file : real).string() + suffix;
    std::error_code absent;
    if (const auto size = fs::file_size(changes, absent); absent || size == 0) continue;
    throw UsageError(fmt::format("{}: {} holds changes that are not in the database itself", file.string(),
                                 changes.filename().string()),
                     fmt::format("end the program that writes it; then: sqlite3 '{}' 'PRAGMA "
                                 "wal_checkpoint(TRUNCATE)'",
                                 file.string()));
  }
}

/// SQLite reads parts of a file in any order.
void require_uncompressed(const fs::path& file) {
  std::array<char, 2> magic = {};
  std::ifstream(file, std::ios::binary).read(magic.data(), magic.size());
  const std::string_view first(magic.data(), magic.size());
  if (first != "\x1f\x8b" && first != "\x28\xb5") return;
  throw UsageError(fmt::format("{}: a compressed database", file.string()),
                   "decompress it (gunzip, or zstd -d), and import that");
}

}  // namespace

std::optional<std::int64_t> SqliteRow::number_in(const std::string& text) {
  if (const auto whole = parsed_number<std::int64_t>(text)) return whole;
  const auto number = parsed_number<double>(text);  // "4096.0"
  constexpr double kMost = 9e18;
  if (!number || !(std::abs(*number) < kMost)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::string SqliteRow::text_of(sqlite3_stmt* statement, int column) {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  if (bytes == nullptr) require_memory(sqlite3_errcode(sqlite3_db_handle(statement)));
  return bytes == nullptr ? std::string()
                          : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

SqliteDatabase::SqliteDatabase(const fs::path& file, std::string hint) : name_(file.string()), hint_(std::move(hint)) {
  require_uncompressed(file);
  require_no_changes_beside(file);
  // Read-only and immutable: no journal is opened, nothing is written.
  const std::string uri = "file:" + escaped(fs::absolute(file).string()) + "?mode=ro&immutable=1";
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  database_.reset(opened);  // set even when opening fails
  if (code != SQLITE_OK) fail(code, "the database");
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);  // a view could run forever
  sqlite3_limit(database_.get(), SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(database_.get(), SQLITE_LIMIT_VDBE_OP, 100'000);
  query("SELECT name FROM sqlite_master WHERE type = 'table'", "the list of tables",
        [&](sqlite3_stmt* statement) { tables_.insert(SqliteRow::text_of(statement, 0)); });
}

SqliteDatabase::Selection SqliteDatabase::select(const std::string& table,
                                                 std::initializer_list<std::string_view> columns) {
  if (!has(table)) return {};
  std::set<std::string, std::less<>> known;
  query("PRAGMA table_info(" + quoted_name(table) + ")", table,
        [&](sqlite3_stmt* statement) { known.insert(SqliteRow::text_of(statement, 1)); });
  Selection selection;
  std::string list;
  int next = 0;
  for (const std::string_view column : columns) {
    selection.places.push_back(known.contains(column) ? next++ : -1);
    if (selection.places.back() >= 0) list += (list.empty() ? "" : ", ") + quoted_name(column);
  }
  if (!list.empty()) selection.statement = fmt::format("SELECT {} FROM {}", list, quoted_name(table));
  return selection;
}

std::vector<std::string> SqliteDatabase::suffixes_of(std::string_view prefix) const {
  std::vector<std::string> suffixes;
  for (const std::string& table : tables_) {
    if (table.starts_with(prefix)) suffixes.push_back(table.substr(prefix.size()));
  }
  return suffixes;
}

void SqliteDatabase::fail_row(std::string_view table, const std::string& what) const {
  throw UsageError(fmt::format("{}: table {}, row {}: {}", name_, table, row_, what));
}

void SqliteDatabase::fail(int code, std::string_view where) const {
  require_memory(code);
  const char* const reason = code == SQLITE_NOMEM ? "damaged" : sqlite3_errmsg(database_.get());
  throw UsageError(fmt::format("{}: {}: {}", name_, where, reason), hint_);
}

}  // namespace roofline
