#include "sample/line_table.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "sample/own_files.hpp"

namespace roofline {
namespace {

/// Remembers for each file of a unit if it is a system file.
class SystemFiles {
 public:
  template <typename PathOf>
  bool holds(std::uint64_t file, const PathOf& path_of) {
    const auto [known, is_new] = known_.try_emplace(file);
    if (is_new) known->second = is_system_source(path_of(file));
    return known->second;
  }

 private:
  std::unordered_map<std::uint64_t, bool> known_;
};

/// Gives each address the line of the row that holds it.
class AddressLines final : public LineProgram {
 public:
  AddressLines(const LineSections& sections, std::string_view unit, bool wide,
               const std::vector<std::uint64_t>& addresses, SourceLines& lines)
      : LineProgram(sections, unit, wide), addresses_(addresses), lines_(lines) {}

 private:
  void sequence_began() override { around_.reset(); }

  void began(const LineRow& row) override {
    const auto path = [this](std::uint64_t file) { return path_of(file); };
    if (row.line > 0 && !of_system_.holds(row.file, path)) around_ = row;
  }

  void ended(const LineRow& row, std::uint64_t end) override {
    if (row.address >= end) return;
    const auto first = std::ranges::lower_bound(addresses_, row.address);
    for (auto at = first; at != addresses_.end() && *at < end; ++at) {
      const auto index = static_cast<std::size_t>(at - addresses_.begin());
      lines_.at[index] = source_of(row);
      if (around_) lines_.around[index] = source_of(*around_);
    }
  }

  SourceLine source_of(const LineRow& row) const { return {path_of(row.file), row.line, row.address}; }

  const std::vector<std::uint64_t>& addresses_;
  SourceLines& lines_;
  std::optional<LineRow> around_;
  SystemFiles of_system_;
};

/// Keeps the rows between two addresses.
class RangeLines final : public LineProgram {
 public:
  RangeLines(const LineSections& sections, std::string_view unit, bool wide, std::uint64_t begin, std::uint64_t end,
             CodeLines& lines)
      : LineProgram(sections, unit, wide), begin_(begin), end_(end), lines_(lines) {}

 private:
  // What a damaged table can make of few bytes.
  static constexpr std::size_t kMostRows = std::size_t{1} << 22;
  static constexpr std::size_t kMostFiles = std::size_t{1} << 14;
  static constexpr std::size_t kLongestPath = 4096;

  void sequence_began() override {
    sequence_.clear();
    own_before_.reset();
  }

  void began(const LineRow& row) override {
    if (sequence_.size() < kMostRows) sequence_.push_back(row);
  }

  void ended(const LineRow& row, std::uint64_t end) override {
    std::string_view callee;
    const LineRow source = not_of_system(row, callee);
    if (row.address >= end || end <= begin_ || row.address >= end_ || lines_.rows.size() >= kMostRows) return;
    if (const auto file = number_of(source.file)) {
      lines_.rows.push_back({row.address, end, *file, source.line, number_of_callee(callee)});
    }
  }

  /// The row or, if its file is of the system, the nearest one that it is inlined into and whose file is not. Triton
  /// inlines its library without recording where: the last row before it that is not of the library.
  /// `callee`: the function of the system that the line calls.
  LineRow not_of_system(const LineRow& row, std::string_view& callee) {
    constexpr int kMostCalls = 64;
    const auto path = [this](std::uint64_t file) { return path_of(file); };
    const LineRow* at = &row;
    for (int calls = 0; of_system_.holds(at->file, path); ++calls) {
      if (calls == kMostCalls || at->call == 0 || at->call > sequence_.size()) return own_before_.value_or(row);
      callee = at->function;
      at = &sequence_[at->call - 1];
    }
    own_before_ = *at;
    return *at;
  }

  /// std::nullopt if the file is not known.
  std::optional<std::size_t> number_of(std::uint64_t file) {
    const auto [known, is_new] = numbers_.try_emplace(file);
    if (is_new && lines_.files.size() < kMostFiles) {
      const std::string path = path_of(file);
      if (!path.empty() && path.size() <= kLongestPath) {
        const auto same = std::ranges::find(lines_.files, path);
        known->second = static_cast<std::size_t>(same - lines_.files.begin());
        if (same == lines_.files.end()) lines_.files.push_back(path);
      }
    }
    return known->second;
  }

  std::optional<std::size_t> number_of_callee(std::string_view callee) {
    if (callee.empty() || callee.size() > kLongestPath) return std::nullopt;
    const auto [known, is_new] = callees_.try_emplace(callee);
    if (is_new) {
      const auto same = std::ranges::find(lines_.callees, callee);
      const bool listed = same != lines_.callees.end();
      if (listed || lines_.callees.size() < kMostFiles) {
        known->second = static_cast<std::size_t>(same - lines_.callees.begin());
        if (!listed) lines_.callees.emplace_back(callee);
      }
    }
    return known->second;
  }

  std::uint64_t begin_, end_;
  CodeLines& lines_;
  std::vector<LineRow> sequence_;
  std::optional<LineRow> own_before_;
  std::unordered_map<std::uint64_t, std::optional<std::size_t>> numbers_;
  std::unordered_map<std::string_view, std::optional<std::size_t>> callees_;
  SystemFiles of_system_;
};

/// For LineProgram::file_name.
class FileNames final : public LineProgram {
 public:
  using LineProgram::LineProgram;

 private:
  void sequence_began() override {}
  void began(const LineRow&) override {}
  void ended(const LineRow&, std::uint64_t) override {}
};

/// The bytes of a unit after its length, and moves past them. The cursor is not good any more where it is broken.
std::string_view next_unit(ByteCursor& cursor, bool& wide) {
  constexpr std::uint32_t kWide = 0xffffffff;
  std::uint64_t size = cursor.number<std::uint32_t>();
  wide = size == kWide;
  if (wide) size = cursor.number<std::uint64_t>();
  return cursor.bytes(size);
}

template <typename Visit>
void visit_units(const LineSections& sections, const Visit& visit) {
  ByteCursor cursor(sections.lines);
  while (!cursor.at_end()) {
    bool wide = false;
    const std::string_view unit = next_unit(cursor, wide);
    if (!cursor.good()) break;
    visit(unit, wide);
  }
}

}  // namespace

std::string LineFileNames::name(std::uint64_t table, std::uint64_t file) {
  const auto [known, is_new] = known_.try_emplace({table, file});
  if (is_new && table < sections_.lines.size()) {
    ByteCursor cursor(sections_.lines, table);
    bool wide = false;
    const std::string_view unit = next_unit(cursor, wide);
    known->second = FileNames(sections_, unit, wide).file_name(file);
  }
  return known->second;
}

SourceLines source_lines(const ElfFile& elf, const std::vector<std::uint64_t>& addresses) {
  SourceLines lines = {std::vector<SourceLine>(addresses.size()), std::vector<SourceLine>(addresses.size())};
  const LineSections sections(elf);
  visit_units(sections,
              [&](std::string_view unit, bool wide) { AddressLines(sections, unit, wide, addresses, lines).run(); });
  return lines;
}

CodeLines code_lines(const LineSections& sections, std::uint64_t begin, std::uint64_t end) {
  CodeLines lines;
  visit_units(sections,
              [&](std::string_view unit, bool wide) { RangeLines(sections, unit, wide, begin, end, lines).run(); });
  std::ranges::stable_sort(lines.rows, {}, &CodeLines::Row::begin);
  return lines;
}

}  // namespace roofline
