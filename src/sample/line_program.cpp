#include "sample/line_program.hpp"

#include <algorithm>

#include "sample/elf_file.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kMostSection = std::uint64_t{1} << 29;
constexpr std::uint64_t kMostNames = 1 << 20;

}  // namespace

LineSections::LineSections(const ElfFile& elf)
    : lines(elf.section(".debug_line", kMostSection)),
      line_texts(elf.section(".debug_line_str", kMostSection)),
      texts(elf.section(".debug_str", kMostSection)) {}

void LineProgram::run() {
  if (!read_header()) return;
  reset();
  while (!cursor_.at_end()) step();
}

bool LineProgram::read_header() {
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

bool LineProgram::read_old_tables() {
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

bool LineProgram::read_tables() {
  std::vector<File> folders;
  if (!read_entries(folders) || !read_entries(files_)) return false;
  for (const File& folder : folders) folders_.push_back(folder.name);
  return true;
}

/// A table of DWARF 5: pairs of content and form, a count, and that many entries.
bool LineProgram::read_entries(std::vector<File>& entries) {
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

std::string_view LineProgram::text_at(std::string_view texts, std::uint64_t at) {
  ByteCursor cursor(texts, at);
  return cursor.text();
}

bool LineProgram::read_value(std::uint64_t content, std::uint64_t form, File& entry) {
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

void LineProgram::step() {
  const std::uint8_t code = cursor_.byte();
  if (code >= opcode_base_) {
    const int special = code - opcode_base_;
    advance(static_cast<std::uint64_t>(special / line_range_));
    line_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(line_) +
                                      static_cast<std::uint64_t>(line_base_ + special % line_range_));
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
      line_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(line_) +
                                        static_cast<std::uint64_t>(cursor_.signed_leb()));
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

void LineProgram::extended() {
  const std::uint64_t size = cursor_.unsigned_leb();
  if (size == 0 || size > cursor_.left()) return cursor_.skip(size);
  const std::size_t end = cursor_.at() + size;
  const std::uint8_t code = cursor_.byte();
  constexpr std::uint8_t kEnd = 1, kSetAddress = 2, kInlinedCall = 0x90;
  if (code == kSetAddress && size == 1 + sizeof address_) {
    address_ = cursor_.number<std::uint64_t>();
    return;
  }
  if (code == kInlinedCall) {
    call_ = cursor_.unsigned_leb();
    function_ = cursor_.at() < end ? text_at(sections_.texts, cursor_.unsigned_leb()) : std::string_view();
    if (cursor_.at() > end) call_ = 0;
    if (call_ == 0) function_ = {};
  }
  if (cursor_.at() > end) return cursor_.skip(cursor_.left());
  cursor_.skip(end - cursor_.at());
  if (code != kEnd) return;
  row();
  reset();
}

void LineProgram::reset() {
  address_ = 0;
  file_ = 1;
  line_ = 1;
  call_ = 0;
  function_ = {};
  previous_.reset();
  sequence_began();
}

void LineProgram::row() {
  if (previous_) ended(*previous_, address_);
  constexpr std::int64_t kLastLine = 1 << 30;
  previous_ =
      LineRow{address_, file_, static_cast<int>(std::clamp<std::int64_t>(line_, 0, kLastLine)), call_, function_};
  began(*previous_);
}

std::string LineProgram::path_of(std::uint64_t number) const {
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

}  // namespace roofline
