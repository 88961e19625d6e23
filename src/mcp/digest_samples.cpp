// Instruction samples of GPU kernels: what warps wait for, by source line.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "mcp/digest.hpp"
#include "mcp/facts.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kLinesOfRow = 6, kLinesOfList = 3, kMostWaits = 3;

std::string share_of(const Json& part, const Json& all) {
  const double samples = number_fact_or(all, "samples", 0);
  return percent(samples > 0 ? number_fact_or(part, "samples", 0) / samples : 0);
}

/// "  a.cu:176 56.3 %: shared_load 93.2 %, barrier 3.9 %; sum += tile[i];".
std::string line_text(const Json& line, const Json& kernel) {
  std::string waits;
  const Json& all = list_fact(line, "waits");
  for (std::size_t i = 0; i < std::min(all.size(), kMostWaits); ++i) {
    waits += fmt::format("{}{} {}", i == 0 ? "" : ", ", text_fact(all[i], "what"), share_of(all[i], line));
  }
  const std::string file = std::filesystem::path(text_fact(line, "file")).filename().string();
  const std::string source = text_fact(line, "text");
  return fmt::format("  {}:{:.0f} {}: {}{}{}", file.empty() ? "no file" : shorten(file, 60),
                     number_fact_or(line, "line", 0), share_of(line, kernel), waits, source.empty() ? "" : "; ",
                     shorten(source, 80));
}

void list_lines(const Json& kernel, std::size_t most, Digest& digest) {
  const Json& lines = list_fact(kernel, "lines");
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) digest.item(line_text(lines[i], kernel));
}

}  // namespace

void digest_samples_of_row(const Json& report, const Json& row, Digest& digest) {
  std::string waits;
  for (const Json& wait : list_fact(row, "profiled.sampled.waits")) {
    const std::string line = text_fact(wait, "line"), used = text_fact(wait, "used_line");
    waits += fmt::format("{}{} {}{}{}", waits.empty() ? "" : ", ", text_fact(wait, "what"), percent_fact(wait, "share"),
                         line.empty() ? "" : " at " + line, used.empty() ? "" : " used at " + used);
  }
  if (!waits.empty()) {
    digest.line(fmt::format("warps wait for ({} samples): {}", count_fact(row, "profiled.sampled.samples"), waits),
                400);
  }
  const std::string name = text_fact(row, "profiled.full_name");
  for (const Json& kernel : list_fact(report, "profile.instructions.kernels")) {
    if (name.empty() || text_fact(kernel, "name") != name || list_fact(kernel, "lines").empty()) continue;
    digest.line("lines by samples, with what warps wait for there:");
    return list_lines(kernel, kLinesOfRow, digest);
  }
}

void digest_lines(const Json& report, std::size_t offset, Digest& digest) {
  const Json& samples = object_fact(report, "profile.instructions");
  const Json& kernels = list_fact(samples, "kernels");
  if (kernels.empty()) {
    return digest.line("no instruction samples of GPU kernels; lines of the host: section=host");
  }
  std::size_t at = std::min(offset, kernels.size());
  for (; at < kernels.size(); ++at) {
    const Json& kernel = kernels[at];
    const std::string name = shorten(text_fact(kernel, "name"), 100);
    if (!digest.item(fmt::format("{} of the samples: {}", share_of(kernel, samples), name))) break;
    list_lines(kernel, kLinesOfList, digest);
  }
  digest_offset(offset, kernels.size(), "kernels", digest);
  if (at < kernels.size()) {
    digest.more(fmt::format("{} more kernels: section=lines offset={}", kernels.size() - at, at));
  }
}

}  // namespace roofline
