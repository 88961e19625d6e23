// Uses the runtime's library functions, so that the program starts without a driver. A kernel's parameters, which they
// do not report, are queried from the driver through the runtime's entry point look-up.
#include "user/cuda_kernel.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <climits>
#include <cstring>
#include <memory>
#include <utility>

#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "device/cuda/tensor_map.hpp"
#include "host/files.hpp"
#include "model/error.hpp"
#include "op/case.hpp"

namespace roofline {
namespace {

std::int64_t product(const std::array<std::int64_t, 3>& extents) {
  // Each is 2^53 at most: as doubles they don't overflow, and what is beyond any grid stays so.
  double count = 1;
  for (const std::int64_t extent : extents) count *= static_cast<double>(extent);
  return count > 1e18 ? std::int64_t{1} << 60 : static_cast<std::int64_t>(count);
}

std::optional<std::string> refuse_step(const BoundStep& step, const CudaProperties& device) {
  constexpr std::int64_t kMaxBlock = 1024;
  constexpr std::int64_t kMaxBlockZ = 64;
  constexpr std::int64_t kMaxGridYz = 65535;
  constexpr std::int64_t kMaxCluster = 16;
  const std::int64_t threads = product(step.block);
  if (threads > kMaxBlock || step.block[2] > kMaxBlockZ) {
    return fmt::format("a block of {} threads exceeds the limit ({})", threads, kMaxBlock);
  }
  if (step.grid[0] > INT_MAX || step.grid[1] > kMaxGridYz || step.grid[2] > kMaxGridYz) {
    return fmt::format("a grid of {} x {} x {} blocks exceeds the limit", step.grid[0], step.grid[1], step.grid[2]);
  }
  if (step.shared_bytes > device.shared_bytes_per_block) {
    return fmt::format("needs {} bytes of shared memory per block, and {} are available", step.shared_bytes,
                       device.shared_bytes_per_block);
  }
  const std::int64_t cluster = product(step.cluster);
  if (cluster > 1 && device.major < 9) return "needs clusters, which GPUs have from sm_90 on";
  if (cluster > kMaxCluster) return fmt::format("a cluster of {} blocks exceeds the limit ({})", cluster, kMaxCluster);
  for (std::size_t i = 0; i < step.grid.size(); ++i) {
    if (step.grid[i] % step.cluster[i] != 0) {
      return fmt::format("a grid of {} blocks is not a multiple of a cluster of {}", step.grid[i], step.cluster[i]);
    }
  }
  for (const BoundArgument& argument : step.arguments) {
    if (std::holds_alternative<BoundTensorMap>(argument) && device.major < 9) {
      return "needs tensor maps, which GPUs have from sm_90 on";
    }
  }
  return std::nullopt;
}

using ParamInfo = CUresult (*)(CUkernel, std::size_t, std::size_t*, std::size_t*);

/// Sizes of the kernel's parameters; empty if the driver is too old to report them.
std::optional<std::vector<std::size_t>> parameter_sizes(cudaKernel_t kernel) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion("cuKernelGetParamInfo", &function, 12040, cudaEnableDefault, &found);
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess) {
    static_cast<void>(cudaGetLastError());
    return std::nullopt;
  }
  std::vector<std::size_t> sizes;
  std::size_t offset = 0;
  std::size_t size = 0;
  const auto info = reinterpret_cast<ParamInfo>(function);
  while (info(reinterpret_cast<CUkernel>(kernel), sizes.size(), &offset, &size) == CUDA_SUCCESS) sizes.push_back(size);
  return sizes;
}

std::size_t size_of(const BoundArgument& argument) {
  if (const auto* bytes = std::get_if<BoundBytes>(&argument)) return bytes->size();
  return std::holds_alternative<BoundPointer>(argument) ? sizeof(void*) : sizeof(CUtensorMap);
}

struct Library {
  cudaLibrary_t handle = nullptr;
  explicit Library(const std::string& code) {
    check(cudaLibraryLoadData(&handle, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), "loading the kernel");
  }
  ~Library() { static_cast<void>(cudaLibraryUnload(handle)); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

/// A parameter as it is passed. A tensor map, whose type has the alignment that CUDA asks for, is the largest of those
/// with a fixed size.
struct Parameter {
  std::vector<std::byte> bytes;
  void* pointer = nullptr;
  CUtensorMap map;
};

class CudaStep {
 public:
  CudaStep(const BoundStep& step, const std::string& name, cudaLibrary_t library, std::size_t hidden_pointers,
           const CudaDevice& device)
      : step_(step) {
    const cudaError_t found = cudaLibraryGetKernel(&kernel_, library, name.c_str());
    if (found != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      throw Error(fmt::format("there is no kernel '{}' ({})", step.entry, cudaGetErrorString(found)));
    }
    check_parameters(hidden_pointers);
    allow(device);
  }

  /// Kernels are called with pointers to parameters: these stay where they are.
  void set_hidden(const std::vector<void*>& pointers) { hidden_ = pointers; }
  std::size_t hidden() const { return hidden_count_; }

  void launch(std::span<void* const> tensors, const std::vector<void*>& workspaces, cudaStream_t stream) {
    const auto address = [&](std::size_t buffer) {
      return static_cast<std::byte*>(buffer < tensors.size() ? tensors[buffer] : workspaces[buffer - tensors.size()]);
    };
    parameters_.resize(step_.arguments.size());
    pointers_.clear();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      Parameter& parameter = parameters_[i];
      if (auto* bytes = std::get_if<BoundBytes>(&step_.arguments[i])) {
        pointers_.push_back(bytes->data());
      } else if (const auto* pointer = std::get_if<BoundPointer>(&step_.arguments[i])) {
        parameter.pointer = address(pointer->buffer) + pointer->offset_bytes;
        pointers_.push_back(&parameter.pointer);
      } else {
        const auto& map = std::get<BoundTensorMap>(step_.arguments[i]);
        parameter.map = make_tensor_map(address(map.buffer), map.dtype, std::array{map.columns, map.rows},
                                        std::array{map.columns}, std::array{map.box_columns, map.box_rows},
                                        map.swizzle_128 ? TileLayout::swizzle_128 : TileLayout::plain);
        pointers_.push_back(&parameter.map);
      }
    }
    for (std::size_t i = 0; i < hidden_count_; ++i) pointers_.push_back(&hidden_.at(i));

    std::array<cudaLaunchAttribute, 2> attributes{};
    cudaLaunchConfig_t config{};
    config.gridDim = extent(step_.grid);
    config.blockDim = extent(step_.block);
    config.dynamicSmemBytes = static_cast<std::size_t>(step_.shared_bytes);
    config.stream = stream;
    config.attrs = attributes.data();
    if (step_.cooperative) {
      attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
      attributes[config.numAttrs++].val.cooperative = 1;
    }
    if (product(step_.cluster) > 1) {
      attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
      const dim3 cluster = extent(step_.cluster);
      attributes[config.numAttrs++].val.clusterDim = {cluster.x, cluster.y, cluster.z};
    }
    check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel_), pointers_.data()), step_.entry.c_str());
  }

 private:
  static dim3 extent(const std::array<std::int64_t, 3>& extents) {
    return {static_cast<unsigned>(extents[0]), static_cast<unsigned>(extents[1]), static_cast<unsigned>(extents[2])};
  }

  /// A launch takes whatever bytes it is given, and a kernel computes nonsense of them: sizes are compared before.
  void check_parameters(std::size_t hidden_pointers) {
    const auto sizes = parameter_sizes(kernel_);
    if (!sizes) {
      hidden_count_ = hidden_pointers;
      return;
    }
    const std::size_t given = step_.arguments.size();
    hidden_count_ = sizes->size() > given && sizes->size() - given <= hidden_pointers ? sizes->size() - given : 0;
    if (sizes->size() != given + hidden_count_) {
      throw Error(fmt::format("'{}' takes {} arguments, and the suite gives {}", step_.entry, sizes->size(), given));
    }
    for (std::size_t i = 0; i < given; ++i) {
      if ((*sizes)[i] == size_of(step_.arguments[i])) continue;
      throw Error(fmt::format("argument {} of '{}' has {} bytes, and the suite gives {}", i + 1, step_.entry,
                              (*sizes)[i], size_of(step_.arguments[i])));
    }
  }

  /// Shared memory beyond 48 KB and clusters beyond 8 blocks are to be asked for; cooperative blocks must all be
  /// resident.
  void allow(const CudaDevice& device) const {
    const auto* function = reinterpret_cast<const void*>(kernel_);
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, function), "reading the kernel's attributes");
    const std::int64_t threads = product(step_.block);
    if (threads > attributes.maxThreadsPerBlock) {
      throw Unsupported(fmt::format("a block of {} threads needs too many registers (at most {} threads fit)", threads,
                                    attributes.maxThreadsPerBlock));
    }
    const std::int64_t shared = step_.shared_bytes + static_cast<std::int64_t>(attributes.sharedSizeBytes);
    if (shared > device.properties().shared_bytes_per_block) {
      throw Unsupported(
          fmt::format("needs {} bytes of shared memory per block, {} of them static, and {} are "
                      "available",
                      shared, attributes.sharedSizeBytes, device.properties().shared_bytes_per_block));
    }
    if (step_.shared_bytes > attributes.maxDynamicSharedSizeBytes) {
      check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(step_.shared_bytes)),
            "requesting dynamic shared memory");
    }
    if (product(step_.cluster) > 8) {
      check(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            "requesting a large cluster");
    }
    if (step_.cooperative) {
      int resident = 0;
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function, static_cast<int>(threads),
                                                          static_cast<std::size_t>(step_.shared_bytes)),
            "computing how many blocks fit");
      const std::int64_t most = std::int64_t{resident} * device.properties().sm_count;
      if (product(step_.grid) > most) {
        throw Unsupported(fmt::format("a cooperative grid of {} blocks does not fit: {} are resident at once",
                                      product(step_.grid), most));
      }
    }
  }

  BoundStep step_;
  cudaKernel_t kernel_ = nullptr;
  std::size_t hidden_count_ = 0;
  std::vector<void*> hidden_;
  std::vector<Parameter> parameters_;
  std::vector<void*> pointers_;
};

struct CudaKernel {
  Library library;
  std::vector<CudaStep> steps;
  std::vector<DeviceMemory> memory;
  std::vector<void*> workspaces;
  explicit CudaKernel(const std::string& code) : library(code) {}
};

}  // namespace

std::optional<std::string> cuda_refusal(const BoundKernel& kernel, const Device& device) {
  for (const BoundStep& step : kernel.steps) {
    if (auto reason = refuse_step(step, as_cuda(device).properties())) return reason;
  }
  return std::nullopt;
}

Kernel load_cuda_kernel(const BoundKernel& kernel, const std::filesystem::path& code,
                        const std::vector<std::string>& names, Device& device) {
  CudaDevice& cuda = as_cuda(device);
  const auto loaded = std::make_shared<CudaKernel>(read_file(code));
  for (const std::int64_t bytes : kernel.workspace_bytes) {
    loaded->memory.push_back(make_device_memory(static_cast<std::size_t>(bytes)));
    loaded->workspaces.push_back(loaded->memory.back().get());
  }
  for (std::size_t i = 0; i < kernel.steps.size(); ++i) {
    const BoundStep& step = kernel.steps[i];
    CudaStep& made =
        loaded->steps.emplace_back(step, names.at(i), loaded->library.handle, kernel.scratch_bytes.size(), cuda);
    std::vector<void*> hidden;
    for (std::size_t h = 0; h < made.hidden(); ++h) {
      const std::int64_t bytes = kernel.scratch_bytes[h] * product(step.grid);
      hidden.push_back(nullptr);
      if (bytes == 0) continue;
      loaded->memory.push_back(make_device_memory(static_cast<std::size_t>(bytes)));
      hidden.back() = loaded->memory.back().get();
    }
    made.set_hidden(hidden);
  }
  const cudaStream_t stream = cuda.stream();
  return [loaded, stream](std::span<void* const> tensors) {
    for (CudaStep& step : loaded->steps) step.launch(tensors, loaded->workspaces, stream);
  };
}

}  // namespace roofline
