#include "render/memory_columns.hpp"

#include <fmt/format.h>

#include "model/nan.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

std::string holder_text(const MemoryRow& r) {
  if (!r.instead.empty()) return r.instead;
  if (r.holder.line.empty()) return "unknown line";
  return r.holder.backward ? r.holder.line + " (backward)" : r.holder.line;
}

constexpr Column<MemoryRow, Profile> kMemoryColumns[] = {
    {.title = "Line",
     .in = kPage,
     .left = true,
     .text = holder_text,
     .page = {.html =
                  [](const MemoryRow& r) {
                    std::string html = html_name(holder_text(r), 80);
                    if (!r.holder.module.empty())
                      html += fmt::format("<small>{}</small>", html_name(r.holder.module, 60));
                    return html;
                  }}},
    {.title = "Memory", .in = kPage, .text = [](const MemoryRow& r) { return si(r.holder.bytes, "B"); }},
    {.title = "Share",
     .in = kPage,
     .value = [](const MemoryRow& r) -> Value { return share_or_nan(r.holder.bytes, r.all); },
     .unit = Unit::share},
    {.title = "Blocks",
     .in = kPage,
     .text = [](const MemoryRow& r) { return r.instead.empty() ? count(r.holder.blocks) : kAbsent; }},
};

}  // namespace

std::span<const Column<MemoryRow, Profile>> memory_columns() { return kMemoryColumns; }

}  // namespace roofline
