// A row for each launcher of jobs: the variables in which it says which process this is.
#pragma once

#include <array>

namespace roofline {

struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;          ///< number of processes on this node
  std::array<const char*, 3> job;  ///< what tells a start from others, joined; null: no more
};

/// The innermost first: torchrun may run under srun, and mpirun sets what MPI's own managers set too.
inline constexpr auto kLaunchers = std::to_array<Launcher>({
    {"torchrun",
     "RANK",
     "WORLD_SIZE",
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     {"TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"}},
    {"Open MPI",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"PMIX_NAMESPACE", nullptr, nullptr}},
    {"MPICH",
     "PMI_RANK",
     "PMI_SIZE",
     "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS",
     {"PMI_JOBID", "HYDI_CONTROL_FD", "PMI_ID_JOB"}},
    {"Slurm",
     "SLURM_PROCID",
     "SLURM_NTASKS",
     "SLURM_LOCALID",
     "SLURM_NTASKS_PER_NODE",
     {"SLURM_JOB_ID", "SLURM_STEP_ID", nullptr}},
});

}  // namespace roofline
