#include "render/profile_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/nan.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// The `most` elements with the largest `total_s`.
template <class Sum>
std::vector<Sum> costliest(std::vector<Sum> sums, std::size_t most) {
  std::ranges::stable_sort(sums, std::ranges::greater(), &Sum::total_s);
  sums.resize(std::min(most, sums.size()));
  return sums;
}

constexpr Column<LineRow, Profile> kLineColumns[] = {
    {.title = "Line",
     .left = true,
     .text = [](const LineRow& r) { return fmt::format("{}:{} {}", r.line.file, r.line.number, r.line.function); },
     .terminal = {.text =
                      [](const LineRow& r) {
                        return clean_line(
                            fmt::format("{}:{} {}", last_path_part(r.line.file), r.line.number, r.line.function));
                      },
                  .first_to = 24,
                  .shrinks = true},
     .page = {.html =
                  [](const LineRow& r) {
                    if (!r.instead.empty()) return r.instead;
                    return fmt::format("{}<small>{}</small>",
                                       html_name(fmt::format("{}:{}", last_path_part(r.line.file), r.line.number), 60),
                                       html_name(r.line.function, 60));
                  },
              .attributes =
                  [](const LineRow& r) {
                    if (!r.instead.empty()) return std::string();
                    return fmt::format(" title=\"{}\"", escape_html(shorten(clean_line(r.line.file), 400)));
                  }}},
    {.title = "Kernels", .value = [](const LineRow& r) -> Value { return r.line.total_s; }, .unit = Unit::seconds},
    {.title = "Share",
     .value = [](const LineRow& r) -> Value { return share_or_nan(r.line.total_s, r.all_s); },
     .unit = Unit::share},
    {.title = "Backward",
     .text =
         [](const LineRow& r) {
           return r.line.backward_s > 0 ? percent(share_or_nan(r.line.backward_s, r.line.total_s)) : kAbsent;
         },
     .terminal = {.rank = 2}},
    {.title = "Launches",
     .text = [](const LineRow& r) { return r.instead.empty() ? count(r.line.launches) : kAbsent; },
     .terminal = {.rank = 1}},
};

constexpr Column<CopySum, Profile> kCopyColumns[] = {
    {.title = "Direction",
     .in = kDocuments,
     .left = true,
     .text = [](const CopySum& c) { return to_string(c.path); },
     .page = {.html = [](const CopySum& c) { return html_name(to_string(c.path), 60); }}},
    {.title = "Copies", .in = kDocuments, .text = [](const CopySum& c) { return count(c.copies); }},
    {.title = "Bytes",
     .in = kDocuments,
     .text = [](const CopySum& c) { return si(c.bytes > 0 ? c.bytes : kNaN, "B"); }},
    {.title = "Time", .in = kDocuments, .text = [](const CopySum& c) { return duration(c.total_s); }},
    {.title = "Rate", .in = kDocuments, .text = rate_text},
    {.title = "Roof",
     .in = kPage,
     .page = {.html =
                  [](const CopySum& c) {
                    if (c.roof.empty()) return std::string("none measured");
                    return fmt::format("{}<small>{}</small>", rate(c.roof_bytes_per_s, CeilingKind::bandwidth),
                                       html_name(c.roof, 30));
                  }}},
    {.title = "% of roof",
     .in = kDocuments,
     .left = true,
     .text =
         [](const CopySum& c) {
           return c.roof.empty() ? kAbsent : fmt::format("{} of {}", percent(fraction_of_roof(c)), c.roof);
         },
     .page = {.title = "% of roof",
              .style = "share",
              .html = [](const CopySum& c) { return html_share(fraction_of_roof(c)); }}},
};

constexpr Column<CallRow, Profile> kCallColumns[] = {
    {.title = "Call",
     .in = kDocuments,
     .left = true,
     .text = [](const CallRow& r) { return r.call.name; },
     .page = {.html = [](const CallRow& r) { return html_name(r.call.name, 60); }}},
    {.title = "Calls", .in = kDocuments, .text = [](const CallRow& r) { return count(r.call.calls); }},
    {.title = "Total", .in = kDocuments, .text = [](const CallRow& r) { return duration(r.call.total_s); }},
    {.title = "Median",
     .in = kDocuments,
     .text = [](const CallRow& r) { return r.several ? kAbsent : duration(r.call.median_s); }},
    {.title = "Longest",
     .in = kDocuments,
     .text = [](const CallRow& r) { return r.several ? kAbsent : duration(r.call.max_s); }},
};

}  // namespace

std::vector<LineRow> line_rows(const Profile& profile, std::size_t most) {
  std::vector<LineRow> rows;
  for (const LineSum& line : costliest(profile.lines, most)) rows.push_back({line, profile.kernel_s});
  return rows;
}

std::vector<CallRow> call_rows(const Profile& profile, std::size_t most) {
  std::vector<CallRow> rows;
  for (const CallSum& call : costliest(profile.calls, most)) rows.push_back({call});
  return rows;
}

std::string_view runtime_name(const Profile& profile) {
  const auto any = [&](std::string_view prefix) {
    return std::ranges::any_of(profile.calls, [&](const CallSum& call) { return call.name.starts_with(prefix); });
  };
  return any("cu") ? "CUDA" : any("hip") ? "HIP" : "runtime";
}

std::span<const Column<LineRow, Profile>> line_columns() { return kLineColumns; }
std::span<const Column<CopySum, Profile>> copy_columns() { return kCopyColumns; }
std::span<const Column<CallRow, Profile>> call_columns() { return kCallColumns; }

}  // namespace roofline
