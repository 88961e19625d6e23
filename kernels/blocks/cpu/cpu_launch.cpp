// Type-independent parts of the CPU launchers: store policy, and 16-bit tensors through fp32 copies.
#include "kernels/blocks/cpu/cpu_launch.hpp"

#include <utility>

#include "kernels/blocks/cpu/convert.hpp"

namespace roofline {
namespace {

/// A 16-bit tensor and its fp32 copy.
struct Copied {
  std::size_t tensor;
  std::int64_t elements;
  TensorRole role;
  Workspace<float> copy;
};

template <typename T>
Kernel copying_kernel(Kernel kernel, std::vector<Copied> tensors, CpuDevice& cpu) {
  const auto convert = with_isa(cpu.isa(), []<Isa isa>() { return converters<isa, T>(); });
  return [kernel = std::move(kernel), copied = std::move(tensors), convert, &pool = cpu.pool(),
          pointers = std::vector<void*>()](std::span<void* const> given) mutable {
    constexpr std::int64_t kPage = 4096 / sizeof(T);
    pointers.assign(given.begin(), given.end());
    for (const Copied& one : copied) {
      pointers[one.tensor] = one.copy[0];
      if (one.role == TensorRole::output) continue;
      pool.for_chunks(one.elements, kPage, kMinChunkBytes / sizeof(T), [&](std::int64_t begin, std::int64_t end) {
        convert.widen(elements<const T>(given, one.tensor) + begin, one.copy[0] + begin, end - begin);
      });
    }
    kernel(pointers);
    for (const Copied& one : copied) {
      if (one.role == TensorRole::input) continue;
      pool.for_chunks(one.elements, kPage, kMinChunkBytes / sizeof(T), [&](std::int64_t begin, std::int64_t end) {
        convert.narrow(one.copy[0] + begin, elements<T>(given, one.tensor) + begin, end - begin);
      });
    }
  };
}

/// The dot-product unit of a level for bytes.
DotUnit byte_dots(Isa isa) {
#if defined(__aarch64__)
  (void)isa;
  return DotUnit::neon_dot;
#else
  return isa == Isa::avx512 ? DotUnit::avx512_vnni : DotUnit::avx_vnni;
#endif
}

}  // namespace

std::optional<std::string> dots_missing(const Workload& w, const Device& device) {
  const Isa isa = as_cpu(device).isa();
  return missing(w.dtype == DType::int8 ? byte_dots(isa) : DotUnit::avx512_bf16, isa);
}

bool stores_past_caches(const Op& op, const Workload& workload, const Device& device) {
  if (workload.cache == CacheMode::cold) return true;
  double bytes = 0;
  for (const auto& tensor : op.tensors(workload)) bytes += static_cast<double>(tensor.bytes());
  return bytes > device.last_level_cache_bytes();
}

std::vector<DType> cpu_dtypes() { return {DType::fp32, DType::fp64, DType::fp16, DType::bf16}; }

Kernel through_fp32(const Op& op, const Workload& workload, Device& device, const Prepare& prepare) {
  if (element_size(workload.dtype) != 2) return prepare(workload, device);
  Workload wide = workload;
  wide.dtype = DType::fp32;
  Kernel kernel = prepare(wide, device);
  const std::vector<TensorSpec> specs = op.tensors(workload);
  std::vector<Copied> copied;
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (specs[t].dtype != workload.dtype) continue;
    copied.push_back({t, specs[t].elements, specs[t].role, Workspace<float>(device, specs[t].elements, 1)});
  }
  CpuDevice& cpu = as_cpu(device);
  if (workload.dtype == DType::fp16) return copying_kernel<Fp16>(std::move(kernel), std::move(copied), cpu);
  return copying_kernel<Bf16>(std::move(kernel), std::move(copied), cpu);
}

Traffic fp32_copies(const Op& op, const Workload& workload) {
  double bytes = 0;
  for (const TensorSpec& tensor : op.tensors(workload)) {
    if (element_size(tensor.dtype) == 2) bytes += static_cast<double>(tensor.elements) * 4;
  }
  return {.read = bytes, .write = bytes};
}

}  // namespace roofline
