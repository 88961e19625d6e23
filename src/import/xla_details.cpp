#include "import/xla_details.hpp"

#include <algorithm>
#include <utility>

#include "text/parse.hpp"

namespace roofline {

std::uint64_t xla_detail(std::string_view details, std::string_view key) {
  std::size_t at = details.find(key);
  if (at == std::string_view::npos) return 0;
  at += key.size();
  const std::size_t end = std::min(details.find_first_not_of("0123456789", at), details.size());
  return parsed_number<std::uint64_t>(details.substr(at, end - at)).value_or(0);
}

std::uint32_t xla_small_detail(std::string_view details, std::string_view key) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(xla_detail(details, key), 0xffffffffU));
}

std::array<std::uint32_t, 3> xla_extents(std::string_view details, std::string_view key) {
  std::array<std::uint32_t, 3> extents = {1, 1, 1};
  std::size_t at = details.find(key);
  if (at == std::string_view::npos) return {};
  at += key.size();
  for (std::uint32_t& extent : extents) {
    const std::size_t end = std::min(details.find_first_not_of("0123456789", at), details.size());
    extent = parsed_number<std::uint32_t>(details.substr(at, end - at)).value_or(1);
    if (end >= details.size() || details[end] != ',') break;
    at = end + 1;
  }
  return extents;
}

std::uint32_t xla_number_behind(std::string_view text, std::string_view prefix) {
  constexpr std::uint64_t kMost = 1023;
  return static_cast<std::uint32_t>(std::min(xla_detail(text, prefix), kMost));
}

static spool::Memory xla_memory(std::string_view details, std::string_view key) {
  static constexpr std::pair<std::string_view, spool::Memory> kNames[] = {{"pageable", spool::Memory::pageable},
                                                                          {"pinned", spool::Memory::pinned},
                                                                          {"device", spool::Memory::device},
                                                                          {"array", spool::Memory::array},
                                                                          {"managed", spool::Memory::managed}};
  const std::size_t at = details.find(key);
  if (at == std::string_view::npos) return spool::Memory::unknown;
  for (const auto& [name, memory] : kNames) {
    if (details.substr(at + key.size()).starts_with(name)) return memory;
  }
  return spool::Memory::unknown;
}

XlaCopyEnds xla_copy_ends(std::string_view details, std::string_view name) {
  constexpr auto kHost = spool::Memory::host, kDevice = spool::Memory::device;
  static constexpr std::pair<std::string_view, XlaCopyEnds> kNames[] = {
      {"DeviceToDevice", {kDevice, kDevice}}, {"DtoD", {kDevice, kDevice}}, {"D2D", {kDevice, kDevice}},
      {"HostToDevice", {kHost, kDevice}},     {"HtoD", {kHost, kDevice}},   {"H2D", {kHost, kDevice}},
      {"DeviceToHost", {kDevice, kHost}},     {"DtoH", {kDevice, kHost}},   {"D2H", {kDevice, kHost}}};
  const XlaCopyEnds told = {xla_memory(details, "kind_src:"), xla_memory(details, "kind_dst:")};
  if (told.from != spool::Memory::unknown || told.to != spool::Memory::unknown) return told;
  for (const auto& [part, ends] : kNames) {
    if (name.find(part) != std::string_view::npos) return ends;
  }
  return told;
}

}  // namespace roofline
