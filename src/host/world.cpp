#include "host/world.hpp"

#include <fmt/format.h>

#include <cctype>

#include "host/launchers.hpp"
#include "model/error.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

int number_of(const char* variable, const char* text) {
  const std::optional<int> value = parsed_number<int>(text);
  if (value.value_or(-1) >= 0) return *value;
  throw UsageError(fmt::format("{}={} is not a process number", variable, text), "start with mpirun, srun or torchrun");
}

/// A part of the rendezvous folder's name. Shorter than file_name_of() allows: up to three parts make one name.
std::string job_name_of(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, 80))
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ? c : '-';
  return name;
}

}  // namespace

std::optional<World> world_of(const Environment& environment) {
  for (const Launcher& launcher : kLaunchers) {
    const char* const rank = environment(launcher.rank);
    const char* const size = environment(launcher.size);
    if (rank == nullptr || size == nullptr) continue;
    World world;
    world.launcher = launcher.name;
    world.rank = number_of(launcher.rank, rank);
    world.size = number_of(launcher.size, size);
    if (const char* const local = environment(launcher.local_rank)) {
      world.local_rank = number_of(launcher.local_rank, local);
    }
    if (world.rank >= world.size) {
      throw UsageError(
          fmt::format("{}={}, and {}={}: there is no such process", launcher.rank, rank, launcher.size, size),
          "start with mpirun, srun or torchrun");
    }
    for (const char* const variable : launcher.job) {
      const char* const part = variable != nullptr ? environment(variable) : nullptr;
      if (part == nullptr || *part == '\0') continue;
      if (!world.job.empty()) world.job += '.';
      world.job += job_name_of(part);
    }
    if (world.job.empty()) world.job = "job";
    return world;
  }
  return std::nullopt;
}

}  // namespace roofline
