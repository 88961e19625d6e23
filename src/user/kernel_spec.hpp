// A kernel as a suite describes it: plain values, formulas not yet evaluated, and the place of each for complaints.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/names.hpp"
#include "op/op.hpp"
#include "user/formula.hpp"

namespace roofline {

/// Values of a CPU's `threads`: the kernel is called by each thread of the run, or once and starts its own.
inline constexpr std::string_view kAllThreads = "all";
inline constexpr std::string_view kOwnThreads = "own";

/// The types that scalars are passed as.
enum class ScalarType : std::uint8_t {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  fp16,
  bf16,
  fp32,
  fp64
};
std::string_view to_string(ScalarType type);
std::optional<ScalarType> parse_scalar_type(std::string_view text);
std::vector<std::string> scalar_type_names();
std::size_t scalar_size(ScalarType type);

/// What an input holds before the first launch (input_values.hpp).
struct InputFill {
  enum class Kind : std::uint8_t {
    uniform,      ///< in [-1, 1]; integers: over their type
    normal,       ///< mean 0, standard deviation 1
    constant,     ///< `first`
    range,        ///< uniform in [first, second); integers: the whole numbers of [first, second]
    sorted,       ///< the same, ascending
    mask,         ///< 1 with the probability `first`, else 0
    permutation,  ///< of 0 … size - 1
    formula,      ///< `first`, of the index i
    csr_rows,     ///< row pointers of a sparse matrix with `first` non-zeros and `second` columns
    csr_columns,  ///< column indices of the matrix whose row pointers are in `rows`
    npy           ///< the contents of `file`
  };
  Kind kind = Kind::uniform;
  Formula first = {}, second = {};
  std::string rows = {};
  std::filesystem::path file = {};
  Place place = {};
};

/// Memory that a kernel works on. Workspaces are not verified; they keep their contents between launches.
struct BufferSpec {
  std::string name;
  TensorRole role = TensorRole::input;
  bool workspace = false;
  DType dtype = DType::fp32;
  Formula size;  ///< elements; empty where the op that the kernel is like gives it
  InputFill fill;
  Place place;
  bool ascending = false;  ///< an input's values are sorted: an experiment on the order of accesses
};

struct ScalarSpec {
  ScalarType type = ScalarType::fp32;
  Formula value;
};

/// The address of a buffer's element.
struct PointerSpec {
  std::string buffer;
  Formula offset;  ///< elements; empty: 0
};

/// How the copy engine of sm_90 finds tiles of a row-major matrix: passed as a CUtensorMap.
struct TensorMapSpec {
  std::string buffer;
  Formula rows, columns, box_rows, box_columns;
  bool swizzle_128 = false;
};

/// Scalars that are passed as one, laid out as C does. A CPU's compiler must know the type by its name.
struct StructSpec {
  std::vector<ScalarSpec> fields;
  std::string type;
};

struct ArgumentSpec {
  std::variant<PointerSpec, ScalarSpec, StructSpec, TensorMapSpec> value;
  Place place;
};

using Extent3 = std::array<Formula, 3>;  ///< empty: 1

struct LaunchSpec {
  /// Every value that is to be tried. Grids may use the block's extents: block, block_y, block_z.
  std::vector<Extent3> grid, block, cluster;
  std::vector<Formula> shared;  ///< bytes of dynamic shared memory
  bool cooperative = false;
  /// Threads of a CPU step: kAllThreads, a number, or kOwnThreads; a step without is called by one thread.
  std::vector<std::string> threads;
  Place place;
};

/// One launch; a kernel has one or several, in this order.
struct StepSpec {
  std::string entry;
  std::vector<ArgumentSpec> arguments;
  LaunchSpec launch;
  Place place;
};

/// A macro of the source and a name in formulas, with every value that is to be tried.
struct DefineSpec {
  std::string name;
  std::vector<std::string> values;
  Place place;
};

struct WorkSpec {
  std::map<Pipe, Formula> flops, uncounted;
  Formula read, write;  ///< bytes of main memory; empty: every input once, every output once
};

struct ExpectSpec {
  std::map<std::string, Formula> formulas;             ///< by output
  std::map<std::string, std::filesystem::path> files;  ///< .npy, by output
  std::string same_as;                                 ///< another kernel of the suite
  bool unverified = false;
  Place place;
};

enum class SourceKind : std::uint8_t { c, cpp, shared_library, cuda, ptx, cubin, fatbin };
std::optional<SourceKind> source_kind(const std::filesystem::path& path);
DeviceKind device_of(SourceKind kind);

enum class CudaCompiler : std::uint8_t { automatic, nvrtc, nvcc };

struct KernelSpec {
  std::string name;
  std::filesystem::path source;
  std::string source_name;  ///< the source as the suite writes it
  SourceKind kind = SourceKind::c;
  CudaCompiler compiler = CudaCompiler::automatic;
  std::vector<std::string> options;
  std::vector<std::filesystem::path> include;
  std::string prologue;                  ///< C or C++ before the source; never of a suite, experiments set it
  bool without_failed_forwards = false;  ///< compiled so (compile.hpp); by experiments only, too
  std::vector<DefineSpec> defines;
  std::vector<BufferSpec> buffers;
  std::vector<StepSpec> steps;
  WorkSpec work;
  bool has_work = false;
  ExpectSpec expect;
  std::optional<double> relative_tolerance, magnitude;
  const Op* like = nullptr;
  std::vector<DType> dtypes;  ///< of a kernel that is like an op
  bool choose_fastest = false;
  double time_limit_s = 60;
  /// Triton: bytes per block of the scratch memory whose pointers follow the stated arguments.
  std::vector<std::int64_t> scratch_bytes;
  std::vector<std::string> extents;  ///< names of the shape
  Place place;

  DeviceKind device() const { return device_of(kind); }
  const BufferSpec* find_buffer(std::string_view name) const;
};

/// One choice of everything that is a list.
struct Configuration {
  std::vector<std::pair<std::string, std::string>> defines;
  std::size_t grid = 0, block = 0, cluster = 0, shared = 0, threads = 0;  ///< indices into the first step's lists
  std::string
      text;  ///< parameters that differ from other configurations: "TILE=16 block=128"; empty if there is only one
};

/// Every combination, the last list fastest: defines in their order, then block, grid, cluster, shared, threads.
std::vector<Configuration> configurations(const KernelSpec& spec);
double configuration_count(const KernelSpec& spec);

/// The defines that are numbers, as formulas know them.
void add_defines(const Configuration& configuration, Values& values);

}  // namespace roofline
