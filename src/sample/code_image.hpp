// The bytes of a program or library by the addresses that they are linked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace roofline {

/// A file on disk (ElfFile), or a file as a process has it in memory.
class CodeImage {
 public:
  CodeImage() = default;
  CodeImage(const CodeImage&) = default;
  CodeImage(CodeImage&&) = default;
  CodeImage& operator=(const CodeImage&) = default;
  CodeImage& operator=(CodeImage&&) = default;
  virtual ~CodeImage() = default;

  /// Bytes at a linked address. False: not all of them are there.
  virtual bool read_address(std::uint64_t address, void* to, std::size_t size) const = 0;
  /// Where .eh_frame_hdr is linked; std::nullopt if there is none.
  virtual std::optional<std::uint64_t> unwind_table() const = 0;
};

}  // namespace roofline
