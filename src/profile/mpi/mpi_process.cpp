#include "profile/mpi/mpi_process.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "host/files.hpp"
#include "model/error.hpp"
#include "mpi/calls.h"
#include "profile/intervals.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

/// A text of a field that may lack its end.
template <std::size_t Size>
std::string text_in(const char (&field)[Size]) {
  return {field, ::strnlen(field, Size)};
}

MpiKind kind_of(std::uint32_t kind) {
  if (kind == ROOFLINE_MPI_COLLECTIVE) return MpiKind::collective;
  return kind == ROOFLINE_MPI_ROOTED ? MpiKind::rooted : MpiKind::other;
}

void add_sites(MpiProcess& process, const RooflineMpiCalls& calls) {
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(calls.sites, ROOFLINE_MPI_SITES); ++i) {
    const RooflineMpiSite& from = calls.site[i];
    MpiSite site;
    site.function = clean_line(text_in(from.function));
    site.kind = kind_of(from.kind);
    if (from.module < std::min<std::uint32_t>(calls.modules, ROOFLINE_MPI_MODULES)) {
      site.module = text_in(calls.module[from.module]);
      site.address = from.address;
    }
    site.calls = from.calls;
    site.messages = std::min(from.messages, from.calls);
    site.small = std::min(from.small, site.messages);
    site.bytes = static_cast<double>(from.bytes);
    site.seconds = std::min(seconds(from.ns), process.seconds());
    process.sites.push_back(std::move(site));
  }
}

void add_collectives(MpiProcess& process, const RooflineMpiCalls& calls) {
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(calls.collectives, ROOFLINE_MPI_COLLECTIVES); ++i) {
    const RooflineMpiCollective& from = calls.collective[i];
    const bool within = from.start >= process.start && from.start <= process.end && from.ns <= process.end - from.start;
    if (!within || from.site >= process.sites.size()) continue;
    process.collectives.push_back({from.communicator, from.number, from.start, from.ns, from.site, from.ranks});
  }
}

}  // namespace

MpiProcess parse_mpi_process(std::string_view bytes) {
  const auto calls = std::make_unique<RooflineMpiCalls>();
  if (bytes.size() != sizeof *calls) throw Error("not a recording of MPI calls of this version");
  std::memcpy(calls.get(), bytes.data(), sizeof *calls);
  if (std::string_view(calls->magic, sizeof calls->magic) != ROOFLINE_MPI_MAGIC || calls->bytes != sizeof *calls) {
    throw Error("not a recording of MPI calls of this version");
  }
  MpiProcess process;
  constexpr int kMostRanks = 1 << 24;
  process.pid = calls->pid;
  process.rank = calls->rank;
  process.ranks = calls->ranks;
  constexpr std::uint64_t kMostTime = std::uint64_t{1} << 62;
  if (process.rank < 0 || process.ranks <= process.rank || process.ranks > kMostRanks || calls->end < calls->start ||
      calls->end > kMostTime) {
    throw Error("a damaged recording of MPI calls");
  }
  process.host = clean_line(text_in(calls->host));
  process.launcher = clean_line(text_in(calls->launcher));
  process.start = calls->start;
  process.end = calls->end;
  process.mpi_s = std::min(seconds(calls->ns), process.seconds());
  process.finalized = calls->finalized != 0;
  process.calls = calls->calls;
  process.lost = std::min(calls->lost, calls->calls);
  process.stride = std::max<std::uint64_t>(1, calls->stride);
  add_sites(process, *calls);
  add_collectives(process, *calls);
  return process;
}

std::vector<MpiProcess> read_mpi_processes(const fs::path& folder, std::vector<DefectiveSpool>& defective) {
  constexpr FileLimit kCallsLimit{std::uint64_t{1} << 24, "a recording of MPI calls"};
  std::vector<MpiProcess> processes;
  std::error_code hidden;  // a folder that cannot be listed has none
  for (const auto& entry : fs::directory_iterator(folder, hidden)) {
    if (entry.path().extension() != ROOFLINE_MPI_EXTENSION) continue;
    std::string bytes;
    try {
      bytes = read_file(entry.path(), kCallsLimit);
      processes.push_back(parse_mpi_process(bytes));
    } catch (const Error&) {
      const SpoolDefect defect = bytes.empty() ? SpoolDefect::unreadable : SpoolDefect::other_format;
      defective.push_back({entry.path().filename().string(), defect, bytes.size()});
    }
  }
  std::stable_sort(processes.begin(), processes.end(), [](const MpiProcess& a, const MpiProcess& b) {
    return std::pair(a.rank, a.start) < std::pair(b.rank, b.start);
  });
  return processes;
}

}  // namespace roofline
