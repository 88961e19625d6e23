// Whole outputs, compared with the files in tests/golden: the one place where tests know sentences. Other tests assert
// kinds, names and figures.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace roofline {

inline std::vector<std::string> lines_of_text(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The lines that differ once equal ones at both ends are left out, two of those before them, and at most `most` of
/// each side: "  same", "- expected", "+ now".
inline std::string excerpt_of_difference(const std::string& expected, const std::string& now, std::size_t most = 12) {
  const std::vector<std::string> a = lines_of_text(expected), b = lines_of_text(now);
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && a[head] == b[head]) ++head;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  std::string text = "@@ line " + std::to_string(head + 1) + "\n";
  for (std::size_t i = head - std::min<std::size_t>(head, 2); i < head; ++i) text += "  " + a[i] + "\n";
  const auto add = [&](const char* sign, const std::vector<std::string>& lines) {
    const std::size_t end = lines.size() - tail;
    for (std::size_t i = head; i < std::min(end, head + most); ++i) text += sign + lines[i] + "\n";
    if (end > head + most) text += sign + std::to_string(end - head - most) + " more lines\n";
  };
  add("- ", a);
  add("+ ", b);
  return text;
}

/// Compares `text` with tests/golden/`name`, or writes it there where ROOFLINE_UPDATE_GOLDEN is set.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(ROOFLINE_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("ROOFLINE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (expected == text) return;
  ADD_FAILURE() << "differs from tests/golden/" << name << ":\n"
                << excerpt_of_difference(expected, text)
                << "If that is intended, renew the files and look at their diff: run this program with "
                   "--gtest_filter='Golden*' and ROOFLINE_UPDATE_GOLDEN=1 in its environment.";
}

}  // namespace roofline
