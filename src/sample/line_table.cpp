#include "sample/line_table.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "sample/bytes.hpp"
#include "sample/own_files.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kMostSection = std::uint64_t{1} << 29;
constexpr std::uint64_t kMostNames = 1 << 20;

/// One unit's program.
class LineProgram {
 public:
  LineProgram(const LineSections& sections, std::string_view unit, bool wide)
      : sections_(sections), cursor_(unit), wide_(wide) {}

  /// Gives each address the line of the row that holds it.
  void run(const std::vector<std::uint64_t>& addresses, SourceLines& lines) {
    addresses_ = &addresses;
    lines_ = &lines;
    if (!read_header()) return;
    reset();
    while (!cursor_.at_end()) step();
  }

  std::string file_name(std::uint64_t number) { return read_header() ? path_of(number) : std::string(); }

 private:
  struct File {
    std::string_view name;
    std::uint64_t folder = 0;
  };

  std::uint64_t offset() { return wide_ ? cursor_.number<std::uint64_t>() : cursor_.number<std::uint32_t>(); }

  bool read_header() {
    version_ = cursor_.number<std::uint16_t>();
    if (version_ < 2 || version_ > 5) return false;
    if (version_ >= 5) {
      constexpr std::uint8_t kAddressSize = 8;
      if (cursor_.byte() != kAddressSize || cursor_.byte() != 0) return false;
    }
    const std::uint64_t header_length = offset();
    if (header_length > cursor_.left()) return false;
    const std::size_t program = cursor_.at() + header_length;
    shortest_ = cursor_.byte();
    if (version_ >= 4) cursor_.byte();  // operations per instruction: more than one on VLIW machines only
    cursor_.byte();                     // whether rows are statements by default
    line_base_ = cursor_.number<std::int8_t>();
    line_range_ = cursor_.byte();
    opcode_base_ = cursor_.byte();
    for (int i = 1; i < opcode_base_; ++i) lengths_.push_back(cursor_.byte());
    if (line_range_ == 0 || opcode_base_ == 0) return false;
    const bool named = version_ >= 5 ? read_tables() : read_old_tables();
    if (!named || program < cursor_.at()) return false;
    cursor_.skip(program - cursor_.at());
    return cursor_.good();
  }

  bool read_old_tables() {
    folders_.emplace_back();
    for (std::string_view name = cursor_.text(); !name.empty() && folders_.size() < kMostNames; name = cursor_.text()) {
      folders_.push_back(name);
    }
    files_.emplace_back();
    for (std::string_view name = cursor_.text(); !name.empty() && files_.size() < kMostNames; name = cursor_.text()) {
      files_.push_back({name, cursor_.unsigned_leb()});
      cursor_.unsigned_leb();
      cursor_.unsigned_leb();
    }
    return cursor_.good();
  }

  bool read_tables() {
    std::vector<File> folders;
    if (!read_entries(folders) || !read_entries(files_)) return false;
    for (const File& folder : folders) folders_.push_back(folder.name);
    return true;
  }

  /// A table of DWARF 5: pairs of content and form, a count, and that many entries.
  bool read_entries(std::vector<File>& entries) {
    struct Column {
      std::uint64_t content, form;
    };
    std::vector<Column> columns;
    for (int left = cursor_.byte(); left > 0; --left) {
      const std::uint64_t content = cursor_.unsigned_leb();
      columns.push_back({content, cursor_.unsigned_leb()});
    }
    const std::uint64_t count = cursor_.unsigned_leb();
    if (!cursor_.good() || count > kMostNames || (columns.empty() && count > 0)) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
      File entry;
      for (const Column& column : columns) {
        if (!read_value(column.content, column.form, entry)) return false;
      }
      entries.push_back(entry);
    }
    return cursor_.good();
  }

  bool read_value(std::uint64_t content, std::uint64_t form, File& entry) {
    constexpr std::uint64_t kPath = 1, kFolder = 2;
    std::string_view text;
    std::uint64_t number = 0;
    switch (form) {
      case 0x08:  // string
        text = cursor_.text();
        break;
      case 0x1f:  // line_strp
        text = text_at(sections_.line_texts, offset());
        break;
      case 0x0e:  // strp
        text = text_at(sections_.texts, offset());
        break;
      case 0x0b:  // data1
        number = cursor_.byte();
        break;
      case 0x05:
        number = cursor_.number<std::uint16_t>();
        break;
      case 0x06:
        number = cursor_.number<std::uint32_t>();
        break;
      case 0x07:
        number = cursor_.number<std::uint64_t>();
        break;
      case 0x0f:  // udata
        number = cursor_.unsigned_leb();
        break;
      case 0x1e: {  // data16: a checksum
        constexpr std::uint64_t kChecksum = 16;
        cursor_.skip(kChecksum);
        break;
      }
      case 0x09:  // block
        cursor_.skip(cursor_.unsigned_leb());
        break;
      default:
        return false;
    }
    if (content == kPath) entry.name = text;
    if (content == kFolder) entry.folder = number;
    return cursor_.good();
  }

  static std::string_view text_at(std::string_view texts, std::uint64_t at) {
    ByteCursor cursor(texts, at);
    return cursor.text();
  }

  void step() {
    const std::uint8_t code = cursor_.byte();
    if (code >= opcode_base_) {
      const int special = code - opcode_base_;
      advance(static_cast<std::uint64_t>(special / line_range_));
      line_ += line_base_ + special % line_range_;
      return row();
    }
    switch (code) {
      case 0:
        return extended();
      case 1:  // copy
        return row();
      case 2:
        return advance(cursor_.unsigned_leb());
      case 3:
        line_ += cursor_.signed_leb();
        return;
      case 4:
        file_ = cursor_.unsigned_leb();
        return;
      case 8: {  // const_add_pc
        constexpr int kLast = 255;
        return advance(static_cast<std::uint64_t>((kLast - opcode_base_) / line_range_));
      }
      case 9:  // fixed_advance_pc
        address_ += cursor_.number<std::uint16_t>();
        return;
      default:
        for (int left = lengths_[code - 1]; left > 0; --left) cursor_.unsigned_leb();
    }
  }

  void extended() {
    const std::uint64_t size = cursor_.unsigned_leb();
    if (size == 0 || size > cursor_.left()) return cursor_.skip(size);
    const std::uint8_t code = cursor_.byte();
    constexpr std::uint8_t kEnd = 1, kSetAddress = 2;
    if (code == kSetAddress && size == 1 + sizeof address_) {
      address_ = cursor_.number<std::uint64_t>();
      return;
    }
    cursor_.skip(size - 1);
    if (code != kEnd) return;
    row();
    reset();
  }

  void advance(std::uint64_t operations) { address_ += operations * shortest_; }

  void reset() {
    address_ = 0;
    file_ = 1;
    line_ = 1;
    previous_.reset();
    around_.reset();
  }

  /// A row covers the addresses up to the next one's.
  void row() {
    if (previous_ && previous_->address < address_) {
      const auto first = std::ranges::lower_bound(*addresses_, previous_->address);
      for (auto at = first; at != addresses_->end() && *at < address_; ++at) {
        const auto index = static_cast<std::size_t>(at - addresses_->begin());
        lines_->at[index] = source_of(*previous_);
        if (around_) lines_->around[index] = source_of(*around_);
      }
    }
    constexpr std::int64_t kLastLine = 1 << 30;
    previous_ = Row{address_, file_, static_cast<int>(std::clamp<std::int64_t>(line_, 0, kLastLine))};
    if (previous_->line > 0 && !of_system(file_)) around_ = previous_;
  }

  bool of_system(std::uint64_t file) {
    const auto [known, is_new] = of_system_.try_emplace(file);
    if (is_new) known->second = is_system_source(path_of(file));
    return known->second;
  }

  std::string path_of(std::uint64_t number) const {
    if (number >= files_.size()) return {};
    const File& file = files_[number];
    std::string path(file.name);
    const auto with_folder = [&](std::uint64_t folder) {
      if (path.starts_with('/') || folder >= folders_.size() || folders_[folder].empty()) return;
      path = std::string(folders_[folder]) + "/" + path;
    };
    with_folder(file.folder);
    if (version_ >= 5) with_folder(0);  // where it was compiled
    return path;
  }

  struct Row {
    std::uint64_t address, file;
    int line;
  };
  SourceLine source_of(const Row& row) const { return {path_of(row.file), row.line, row.address}; }

  const LineSections& sections_;
  ByteCursor cursor_;
  bool wide_;
  int version_ = 0, line_base_ = 0, line_range_ = 0, opcode_base_ = 0;
  std::uint64_t shortest_ = 1;
  std::vector<int> lengths_;
  std::vector<std::string_view> folders_;
  std::vector<File> files_;
  std::uint64_t address_ = 0, file_ = 1;
  std::int64_t line_ = 1;
  std::optional<Row> previous_, around_;
  std::unordered_map<std::uint64_t, bool> of_system_;
  const std::vector<std::uint64_t>* addresses_ = nullptr;
  SourceLines* lines_ = nullptr;
};

/// The bytes of a unit after its length, and moves past them. The cursor is not good any more where it is broken.
std::string_view next_unit(ByteCursor& cursor, bool& wide) {
  constexpr std::uint32_t kWide = 0xffffffff;
  std::uint64_t size = cursor.number<std::uint32_t>();
  wide = size == kWide;
  if (wide) size = cursor.number<std::uint64_t>();
  return cursor.bytes(size);
}

}  // namespace

LineSections::LineSections(const ElfFile& elf)
    : lines(elf.section(".debug_line", kMostSection)),
      line_texts(elf.section(".debug_line_str", kMostSection)),
      texts(elf.section(".debug_str", kMostSection)) {}

std::string LineFileNames::name(std::uint64_t table, std::uint64_t file) {
  const auto [known, is_new] = known_.try_emplace({table, file});
  if (is_new && table < sections_.lines.size()) {
    ByteCursor cursor(sections_.lines, table);
    bool wide = false;
    const std::string_view unit = next_unit(cursor, wide);
    known->second = LineProgram(sections_, unit, wide).file_name(file);
  }
  return known->second;
}

SourceLines source_lines(const ElfFile& elf, const std::vector<std::uint64_t>& addresses) {
  SourceLines lines = {std::vector<SourceLine>(addresses.size()), std::vector<SourceLine>(addresses.size())};
  const LineSections sections(elf);
  ByteCursor cursor(sections.lines);
  while (!cursor.at_end()) {
    bool wide = false;
    const std::string_view unit = next_unit(cursor, wide);
    if (!cursor.good()) break;
    LineProgram(sections, unit, wide).run(addresses, lines);
  }
  return lines;
}

}  // namespace roofline
