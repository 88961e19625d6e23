// The bytes of a file, unpacked as they come (gzip, zstd), with limits on what a hostile one may cost.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace roofline {

class ByteSource {
 public:
  /// Throws UsageError when the file can't be opened.
  explicit ByteSource(const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// The next byte, which stays; -1 at the end.
  int peek() { return next_ < end_ || fill() ? static_cast<unsigned char>(*next_) : -1; }
  void skip() { ++next_; }

  /// Reads up to `size` bytes; fewer only at the end.
  std::size_t read(char* to, std::size_t size);
  /// Skips bytes without keeping them; fewer only at the end.
  std::uint64_t pass_over(std::uint64_t size);
  /// A line without its end; false at the end. Throws if a line is too long.
  bool line(std::string& text);
  /// True if the last line() had an end; the last line of a truncated file has none.
  bool line_ended() const { return line_ended_; }

  /// Offset of the next byte, unpacked.
  std::uint64_t offset() const { return before_ + static_cast<std::uint64_t>(next_ - begin_); }
  const std::string& name() const { return name_; }
  /// Throws UsageError: "trace.json.gz: byte 4711 (unpacked): " and the problem; `hint`: what to do next.
  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const;
  [[noreturn]] void fail_at(std::uint64_t offset, const std::string& what, const std::string& hint = {}) const;

  struct Unpacker;

 private:
  bool fill();

  std::string name_;
  std::unique_ptr<Unpacker> unpacker_;
  const char* begin_ = nullptr;
  const char* next_ = nullptr;
  const char* end_ = nullptr;
  std::uint64_t before_ = 0;  ///< bytes before `begin_`
  bool line_ended_ = false;
};

/// The first bytes of a file, decompressed, to recognise its format.
std::string first_bytes(const std::filesystem::path& path, std::size_t size);

}  // namespace roofline
