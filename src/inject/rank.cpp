#include "inject/rank.hpp"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "host/launchers.hpp"
#include "inject/session.hpp"

namespace roofline::inject {
namespace {

std::optional<std::uint32_t> number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// The launcher that started this process directly; null: none.
const Launcher* launcher_of_process() {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = number_in(launcher.rank), size = number_in(launcher.size);
    if (rank && size && *rank < *size) return &launcher;
  }
  return nullptr;
}

std::uint32_t allowed_cpus() {
  std::array<cpu_set_t, 8> cpus = {};  // of 1024 each
  if (sched_getaffinity(getpid(), sizeof cpus, cpus.data()) != 0) return 0;
  return static_cast<std::uint32_t>(CPU_COUNT_S(sizeof cpus, cpus.data()));
}

}  // namespace

RankOnNode rank_on_node() {
  const Launcher* const launcher = launcher_of_process();
  if (launcher == nullptr) return {};
  const auto rank = number_in(launcher->local_rank), ranks = number_in(launcher->local_size);
  return rank && ranks && *rank < *ranks ? RankOnNode{*rank, *ranks} : RankOnNode{};
}

void write_rank(Session& session) {
  spool::Rank record = {};
  const char* launched_by = "PMIx";
  if (const Launcher* const launcher = launcher_of_process()) {
    record.rank = *number_in(launcher->rank);
    record.ranks = *number_in(launcher->size);
    record.local_rank = number_in(launcher->local_rank).value_or(record.rank);
    launched_by = launcher->name;
  } else {
    const auto rank = number_in("PMIX_RANK");  // of whatever uses PMIx; it has no variable with the size
    if (!rank) return;
    record.rank = record.local_rank = *rank;
  }
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) == 0) record.host = session.spool.text(host);
  record.cpus = allowed_cpus();
  record.launcher = session.spool.text(launched_by);
  session.spool.write(spool::Type::rank, record);
}

}  // namespace roofline::inject
