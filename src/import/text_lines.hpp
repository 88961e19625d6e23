// The lines of a text file: UTF-8, or UTF-16 as PowerShell's redirection writes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "import/byte_source.hpp"
#include "import/utf16.hpp"

namespace roofline {

/// By the byte order mark, else by the zero bytes of UTF-16's ASCII characters.
TextEncoding encoding_of(std::string_view beginning);

/// The beginning of a file as UTF-8, to recognise its format.
std::string utf8_beginning(std::string_view beginning);

class TextLines {
 public:
  explicit TextLines(ByteSource& source) : source_(source) {}

  /// The next line as UTF-8 without its end and its byte order mark; false at the end of the file.
  bool next(std::string& text);
  /// Number of the last line, from 1.
  std::int64_t number() const { return number_; }
  /// True if the last line had a line end; the last one of a truncated file has none.
  bool ended() const { return ended_; }

 private:
  bool next_utf8(std::string& text);
  bool next_utf16(std::string& text);

  ByteSource& source_;
  std::string kept_;  ///< bytes that were read to find the encoding
  TextEncoding encoding_ = TextEncoding::utf8;
  bool started_ = false, ended_ = true;
  std::int64_t number_ = 0;
};

}  // namespace roofline
