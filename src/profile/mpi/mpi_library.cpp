#include "profile/mpi/mpi_library.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "host/files.hpp"
#include "host/world.hpp"
#include "mpi/calls.h"
#include "text/text.hpp"

extern "C" {
extern const char roofline_mpi_library_begin[];
extern const char roofline_mpi_library_end[];
}

namespace roofline {

namespace fs = std::filesystem;

bool runs_ranks(const std::vector<std::string>& program) {
  static constexpr auto kLaunchers =
      std::to_array<std::string_view>({"mpirun", "mpiexec", "orterun", "prterun", "srun", "ibrun", "jsrun", "aprun"});
  if (world_of([](const char* name) { return std::getenv(name); })) return true;
  if (program.empty()) return false;
  const std::string_view name = last_path_part(program.front());  // also mpiexec.hydra, mpirun.openmpi
  return std::ranges::find(kLaunchers, name.substr(0, name.find('.'))) != kLaunchers.end();
}

std::map<std::string, std::string> load_mpi_library(const fs::path& folder, const fs::path& recordings) {
  const fs::path library = folder / "libroofline_mpi.so";
  write_file(library, {roofline_mpi_library_begin, roofline_mpi_library_end});
  fs::permissions(library, fs::perms::owner_read | fs::perms::owner_exec);
  const char* const others = std::getenv("LD_PRELOAD");
  const bool alone = others == nullptr || *others == '\0';
  return {{"LD_PRELOAD", alone ? library.string() : library.string() + ":" + others},
          {ROOFLINE_MPI_FOLDER, recordings.string()}};
}

}  // namespace roofline
