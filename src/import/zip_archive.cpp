#include "import/zip_archive.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <string_view>

#include "model/error.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// A little-endian number at a place of a record; 0 behind its end.
std::uint64_t number_at(std::string_view record, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) {
    value = value << 8U | (at + i < record.size() ? static_cast<unsigned char>(record[at + i]) : 0U);
  }
  return value;
}

constexpr std::uint32_t kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50,
                        kEntrySignature = 0x02014b50, kLocalSignature = 0x04034b50;
constexpr std::size_t kEndSize = 22, kLocator64Size = 20, kEnd64Size = 56, kEntrySize = 46, kLocalSize = 30;
constexpr std::uint64_t kSee64 = 0xffffffff;  // the number is in the 64-bit record

struct Directory {
  std::uint64_t offset = 0, size = 0;
};

/// The numbers of an entry that did not fit into 32 bits, in the order that the format gives them.
void read_extra64(std::string_view extra, ZipEntry& entry) {
  constexpr std::uint64_t kZip64 = 1;
  while (extra.size() >= 4) {
    const std::uint64_t kind = number_at(extra, 0, 2), size = number_at(extra, 2, 2);
    const std::string_view field = extra.substr(4, size);
    if (kind == kZip64) {
      std::size_t at = 0;
      for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.offset}) {
        if (*value != kSee64) continue;
        *value = number_at(field, at, 8);
        at += 8;
      }
      return;
    }
    extra.remove_prefix(std::min<std::size_t>(extra.size(), 4 + size));
  }
}

std::string inflated(const std::string& packed, std::uint64_t size) {
  std::string text(size, '\0');
  z_stream stream = {};
  constexpr int kRaw = -15;
  if (inflateInit2(&stream, kRaw) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int result = inflate(&stream, Z_FINISH);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return result == Z_STREAM_END ? text : std::string();
}

}  // namespace

ZipArchive::ZipArchive(const std::filesystem::path& path) : path_(path.string()), file_(path, std::ios::binary) {
  if (!file_) throw UsageError(path_ + ": can't be opened");
  file_.seekg(0, std::ios::end);
  file_size_ = static_cast<std::uint64_t>(std::max<std::streamoff>(0, file_.tellg()));
  constexpr std::uint64_t kLongestComment = 0xffff;
  const std::uint64_t tail_size = std::min<std::uint64_t>(file_size_, kLongestComment + kEndSize + kLocator64Size);
  const std::string tail = bytes(file_size_ - tail_size, tail_size);
  std::size_t end = std::string::npos;
  for (std::size_t at = tail.size() < kEndSize ? 0 : tail.size() - kEndSize + 1; at-- > 0;) {
    if (number_at(tail, at, 4) != kEndSignature) continue;
    end = at;
    break;
  }
  if (end == std::string::npos) fail("no zip archive, or cut off");
  Directory directory = {number_at(tail, end + 16, 4), number_at(tail, end + 12, 4)};
  if (end >= kLocator64Size && number_at(tail, end - kLocator64Size, 4) == kLocator64Signature) {
    const std::string end64 = bytes(number_at(tail, end - kLocator64Size + 8, 8), kEnd64Size);
    if (number_at(end64, 0, 4) != kEnd64Signature) fail("a damaged zip archive");
    directory = {number_at(end64, 48, 8), number_at(end64, 40, 8)};
  }
  constexpr std::uint64_t kMostDirectory = std::uint64_t{256} << 20U;
  if (directory.size > kMostDirectory) fail("too many files in the archive");
  const std::string records = bytes(directory.offset, directory.size);
  for (std::string_view left = records; left.size() >= kEntrySize && number_at(left, 0, 4) == kEntrySignature;) {
    const std::uint64_t name = number_at(left, 28, 2), extra = number_at(left, 30, 2), comment = number_at(left, 32, 2);
    ZipEntry entry;
    entry.method = static_cast<std::uint16_t>(number_at(left, 10, 2));
    entry.packed = number_at(left, 20, 4);
    entry.size = number_at(left, 24, 4);
    entry.offset = number_at(left, 42, 4);
    if (left.size() < kEntrySize + name + extra + comment) fail("a damaged zip archive");
    entry.name = left.substr(kEntrySize, name);
    read_extra64(left.substr(kEntrySize + name, extra), entry);
    entries_.push_back(std::move(entry));
    left.remove_prefix(kEntrySize + name + extra + comment);
  }
}

std::string ZipArchive::read(const ZipEntry& entry, std::uint64_t most) {
  if (entry.size > most || entry.packed > most) fail(fmt::format("'{}' is too large", clean_line(entry.name)));
  const std::string local = bytes(entry.offset, kLocalSize);
  if (number_at(local, 0, 4) != kLocalSignature) fail(fmt::format("'{}' is damaged", clean_line(entry.name)));
  constexpr std::uint64_t kEncrypted = 1;
  if ((number_at(local, 6, 2) & kEncrypted) != 0) fail(fmt::format("'{}' is encrypted", clean_line(entry.name)));
  const std::uint64_t data = entry.offset + kLocalSize + number_at(local, 26, 2) + number_at(local, 28, 2);
  std::string text = bytes(data, entry.packed);
  constexpr std::uint16_t kStored = 0, kDeflated = 8;
  if (entry.method == kDeflated) text = inflated(text, entry.size);
  if (entry.method != kStored && entry.method != kDeflated) {
    fail(fmt::format("'{}' is packed by method {}, not stored or deflated", clean_line(entry.name), entry.method));
  }
  // Sizes only: PyTorch can be told to write no checksums.
  if (text.size() != entry.size) fail(fmt::format("'{}' is damaged", clean_line(entry.name)));
  return text;
}

std::string ZipArchive::bytes(std::uint64_t offset, std::uint64_t size) {
  if (offset > file_size_ || size > file_size_ - offset) fail("a damaged zip archive");
  std::string text(size, '\0');
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(offset));
  file_.read(text.data(), static_cast<std::streamsize>(size));
  if (!file_) fail("can't be read");
  return text;
}

void ZipArchive::fail(const std::string& what) const { throw UsageError(fmt::format("{}: {}", path_, what)); }

}  // namespace roofline
