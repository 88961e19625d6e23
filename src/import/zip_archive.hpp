// The files in a zip archive (PKWARE's APPNOTE 6.3), stored or deflated, with 64-bit sizes; not encrypted ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace roofline {

struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;                        ///< 0: stored, 8: deflated
  std::uint64_t packed = 0, size = 0, offset = 0;  ///< bytes; of its local header in the archive
};

class ZipArchive {
 public:
  /// Reads the directory at the end of the file. Throws UsageError where there is none.
  explicit ZipArchive(const std::filesystem::path& path);

  const std::vector<ZipEntry>& entries() const { return entries_; }
  /// The bytes of an entry. Throws UsageError where they are damaged, packed in another way or more than `most`.
  std::string read(const ZipEntry& entry, std::uint64_t most);

 private:
  std::string bytes(std::uint64_t offset, std::uint64_t size);
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  std::ifstream file_;
  std::uint64_t file_size_ = 0;
  std::vector<ZipEntry> entries_;
};

}  // namespace roofline
