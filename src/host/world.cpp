// A row for each launcher: the variables in which it says which process this is.
#include "host/world.hpp"

#include <fmt/format.h>

#include <cctype>
#include <vector>

#include "model/error.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;
  std::vector<const char*> job;  ///< what tells a start from others, joined
};

/// The innermost first: torchrun may run under srun, and mpirun sets what MPI's own managers set too.
const std::vector<Launcher>& launchers() {
  static const std::vector<Launcher> table = {
      {"torchrun",
       "RANK",
       "WORLD_SIZE",
       "LOCAL_RANK",
       {"TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"}},
      {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", {"PMIX_NAMESPACE"}},
      {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", {"PMI_JOBID", "HYDI_CONTROL_FD", "PMI_ID_JOB"}},
      {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
  };
  return table;
}

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
  for (const Launcher& launcher : launchers()) {
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
      const char* const part = environment(variable);
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
