// Prometheus's text format, a family of samples at a time.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "text/text.hpp"

namespace roofline {

/// A label's value: no line ends and control characters, quotes and backslashes escaped.
inline std::string prometheus_label(std::string_view text) {
  std::string result;
  for (const char character : clean(text)) {
    if (character == '\\' || character == '"') result += '\\';
    result += character == '\n' ? std::string("\\n") : std::string(1, character);
  }
  return result;
}

/// One metric: header and one line per sample; empty without samples.
class Gauge {
 public:
  Gauge(std::string& text, std::string name, std::string help, const char* type = "gauge")
      : text_(text), name_(std::move(name)), help_(std::move(help)), type_(type) {}

  void add(const std::string& labels, double value) {
    if (!std::isfinite(value)) return;
    if (first_) text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name_, help_, type_);
    first_ = false;
    text_ += fmt::format("{}{{{}}} {}\n", name_, labels, value);
  }

 private:
  std::string& text_;
  std::string name_;
  std::string help_;
  const char* type_;
  bool first_ = true;
};

}  // namespace roofline
