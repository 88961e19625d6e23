// Tensor roofs of a GPU: the fastest available path to its tensor cores, and the references.
#include <fmt/core.h>

#include <array>

#include "kernels/calibration/cuda/tensor.cuh"
#include "kernels/calibration/probes.hpp"
#include "op/registry.hpp"

namespace roofline::tensor_cuda {
namespace {

constexpr std::array kPipes = {Pipe::tensor_fp64, Pipe::tensor_tf32, Pipe::tensor_fp16,
                               Pipe::tensor_bf16, Pipe::tensor_fp8,  Pipe::tensor_int8};

enum class Path { wgmma, mma_sync, library };

/// Newer GPUs have instructions that nothing here uses; only their fp64 still runs at full rate with mma.sync.
Path path_of(const CudaDevice& device, Pipe pipe) {
  if (!wgmma_unsupported(device, pipe)) return Path::wgmma;
  return device.properties().major == 8 || pipe == Pipe::tensor_fp64 ? Path::mma_sync : Path::library;
}

std::optional<std::string> unsupported(const Device& device, Pipe pipe) {
  const CudaDevice& cuda = as_cuda(device);
  switch (path_of(cuda, pipe)) {
    case Path::wgmma:
      return std::nullopt;
    case Path::mma_sync:
      return mma_sync_unsupported(cuda, pipe);
    default:
      return library_gemm_unsupported(pipe);
  }
}

std::optional<ProbeCase> make_roof(CudaDevice& device, Pipe pipe, Fill fill, const ProbeRequest& request, int variant) {
  switch (path_of(device, pipe)) {
    case Path::wgmma:
      return wgmma_case(device, pipe, fill, request, variant);
    case Path::mma_sync:
      return mma_sync_case(device, pipe, fill, request, variant);
    default:
      return library_gemm_case(device, pipe, request, variant);
  }
}

Probe tensor_probe(Pipe pipe, std::string_view suffix) {
  Probe probe = compute_probe(DeviceKind::cuda, pipe);
  probe.name += suffix;
  probe.role = suffix.empty() ? Role::roof : Role::reference;
  // An H200's limiter lowers the clock after 30 ms of such load without a pause; at a duty cycle of one third the
  // power is too low for it to act. Longer pauses change nothing: under tensor load the clock is 1650 to 1800 MHz,
  // depending on type and chip, from the first 0.2 ms on and after any pause. fp64 (640 W under load) stays at
  // 1980 MHz for seconds.
  probe.rest_s = pipe == Pipe::tensor_fp64 ? 0.5e-3 : 2e-3;
  probe.limit = [pipe](const Device& device, std::optional<double> core_hz) {
    return cycle_limit(device, pipe, core_hz);
  };
  return probe;
}

Probe roof_probe(Pipe pipe) {
  Probe probe = tensor_probe(pipe, "");
  probe.sustained = true;
  probe.least_of_limit = 0.93;
  probe.unsupported = [pipe](const Device& device) { return unsupported(device, pipe); };
  probe.make = [pipe](Device& device, const ProbeRequest& request, int variant) {
    return make_roof(as_cuda(device), pipe, Fill::random, request, variant);
  };
  return probe;
}

/// A reference needs no search: its variants differed by 0.3 % on an H200.
ProbeRequest first_only(ProbeRequest request) {
  request.quick = true;
  return request;
}

/// The path of older code and many compilers, if it is not the roof.
Probe mma_sync_probe(Pipe pipe) {
  Probe probe = tensor_probe(pipe, ".mma_sync");
  probe.unsupported = [pipe](const Device& device) -> std::optional<std::string> {
    const CudaDevice& cuda = as_cuda(device);
    if (path_of(cuda, pipe) == Path::mma_sync) return "on this GPU this path is the roof itself";
    return mma_sync_unsupported(cuda, pipe);
  };
  probe.make = [pipe](Device& device, const ProbeRequest& request, int variant) {
    CudaDevice& cuda = as_cuda(device);
    std::optional<ProbeCase> made = mma_sync_case(cuda, pipe, Fill::random, first_only(request), variant);
    if (made) {
      made->below_peak = cuda.properties().major == 9 ? "mma.sync reaches about 2/3 of the wgmma rate on sm_90"
                                                      : "mma.sync does not reach this GPU's full tensor-core rate";
    }
    return made;
  };
  return probe;
}

/// Zeros draw less power and therefore run at a higher clock than any other data.
Probe zeros_probe(Pipe pipe) {
  Probe probe = tensor_probe(pipe, ".zeros");
  probe.unsupported = [pipe](const Device& device) -> std::optional<std::string> {
    if (path_of(as_cuda(device), pipe) == Path::library) return "the library GEMM has no such variant";
    return unsupported(device, pipe);
  };
  probe.make = [pipe](Device& device, const ProbeRequest& request, int variant) {
    return make_roof(as_cuda(device), pipe, Fill::zeros, first_only(request), variant);
  };
  return probe;
}

std::vector<Probe> tensor_probes() {
  std::vector<Probe> probes;
  for (const Pipe pipe : kPipes) probes.push_back(roof_probe(pipe));
  for (const Pipe pipe : {Pipe::tensor_tf32, Pipe::tensor_fp16, Pipe::tensor_bf16, Pipe::tensor_int8}) {
    probes.push_back(mma_sync_probe(pipe));
  }
  probes.push_back(zeros_probe(Pipe::tensor_bf16));
  return probes;
}

const ProbeRegistrar kRegistrar(tensor_probes());

}  // namespace
}  // namespace roofline::tensor_cuda
