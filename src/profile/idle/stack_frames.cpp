#include "profile/idle/stack_frames.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "profile/idle/frame_kinds.hpp"
#include "profile/symbols.hpp"
#include "sample/function_roles.hpp"
#include "sample/kernel_frame.hpp"
#include "sample/own_files.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Frames that show where a thread waits, but neither for what nor who called.
bool in_system_library(const HostFrame& frame) {
  const std::string_view library = last_path_part(frame.file);
  for (const std::string_view part :
       {"libc.so", "libc-", "libpthread", "ld-linux", "ld-2.", "libstdc++", "libgcc_s", "[vdso]"}) {
    if (library.starts_with(part)) return true;
  }
  return false;
}

bool is_of_random_module(const HostFrame& frame) {
  return frame.python && frame.file.ends_with("/random.py") && !contains_any(frame.file, {"torch/"});
}

bool has_name(const HostFrame& frame) { return !frame.function.empty() && frame.function != "[unknown]"; }

/// Value of a frame as an explanation: the program's line, then a line of Python, then a library function.
enum class FrameRank : std::uint8_t { unknown, system, function, python, own };

FrameRank rank_of(const HostFrame& frame) {
  // CUDA's functions may be linked into the program. Names of C++ functions end with parameters.
  const bool stub = frame.function.starts_with("__device_stub_");
  const bool of_c = !frame.python && frame.function.find('(') == std::string::npos;
  if (stub || (of_c && function_role(frame.function) != FunctionRole::program)) return FrameRank::system;
  if (is_own(frame)) return FrameRank::own;
  if (frame.python) return FrameRank::python;
  if (!has_name(frame)) return FrameRank::unknown;
  return in_system_library(frame) ? FrameRank::system : FrameRank::function;
}

}  // namespace

std::string HostPlace::text() const {
  if (!known()) return {};
  const std::string_view name = last_path_part(file);
  if (line > 0) return fmt::format("{}:{} {}", name, line, function);
  return name.empty() ? function : fmt::format("{} {}", name, function);
}

Span span_of(const HostSample& sample) {
  const auto length = static_cast<std::uint64_t>(static_cast<double>(sample.seconds) * 1e9);
  return {sample.time - std::min(sample.time, length), sample.time};
}

StackView::StackView(const HostSamples& samples, int stack) : samples_(samples) {
  if (stack < 0 || static_cast<std::size_t>(stack) >= samples.stacks.size()) return;
  const std::vector<int>& of = samples.stacks[static_cast<std::size_t>(stack)];
  // What the kernel does belongs to the frame that entered it.
  const bool kernel = of.size() > 1 && is_kernel(samples.frames[static_cast<std::size_t>(of.front())]);
  indices_ = of.data() + (kernel ? 1 : 0);
  size_ = of.size() - (kernel ? 1 : 0);
}

const HostFrame& StackView::frame(std::size_t index) const {
  return samples_.frames[static_cast<std::size_t>(indices_[index])];
}

HostPlace StackView::place() const {
  const HostFrame* best = nullptr;
  FrameRank best_rank = FrameRank::unknown;
  for (std::size_t i = 0; i < size_; ++i) {
    const FrameRank rank = rank_of(frame(i));
    if (best != nullptr && rank <= best_rank) continue;
    best = &frame(i);
    best_rank = rank;
  }
  if (best == nullptr || (best_rank == FrameRank::unknown && in_system_library(*best))) return {};
  return {best->file, best->python ? best->function : without_parameters(best->function), best->line};
}

std::vector<HostPlace> StackView::python_places() const {
  std::vector<HostPlace> places;
  for (std::size_t i = 0; i < size_; ++i) {
    const HostFrame& of = frame(i);
    if (is_own(of) && of.python) places.push_back({of.file, of.function, of.line});
  }
  return places;
}

std::size_t StackView::outside_system() const {
  std::size_t i = 0;
  while (i < size_ && !frame(i).python && in_system_library(frame(i))) ++i;
  return i;
}

bool StackView::native() const {
  // System functions called by the interpreter (a clock, string memory) are part of the Python code.
  const std::size_t i = outside_system();
  return size_ > 0 && (i == size_ || !frame(i).python);
}

bool StackView::in_program() const { return any(is_own); }

bool StackView::imports() const {
  for (std::size_t i = 0; i < size_; ++i) {
    if (is_own(frame(i))) return false;  // at work, perhaps while it is imported itself
    if (frame(i).python && frame(i).file.starts_with("<frozen importlib")) return true;
  }
  return false;
}

bool StackView::compiles() const {
  if (imports() || in_profiler()) return false;  // the modules of a compiler; what the profiler compiles
  if (any([](const HostFrame& of) { return of.function.starts_with("shutdown_compile_workers"); })) return false;
  // torch/_dynamo/eval_frame.py and torch/_inductor/output_code.py are on the stack of every call of compiled code.
  return any([](const HostFrame& of) {
    return contains_any(of.file, {"torch/_dynamo/convert_frame",
                                  "torch/_dynamo/symbolic_convert",
                                  "torch/_dynamo/output_graph",
                                  "torch/_dynamo/variables/",
                                  "torch/_inductor/graph.py",
                                  "torch/_inductor/scheduler.py",
                                  "torch/_inductor/codegen/",
                                  "torch/_inductor/lowering.py",
                                  "torch/_inductor/async_compile.py",
                                  "torch/_inductor/compile_worker/",
                                  "triton/compiler/",
                                  "triton/backends/",
                                  "jax/_src/compiler.py",
                                  "jax/_src/interpreters/mlir.py",
                                  "jax/_src/interpreters/partial_eval.py",
                                  "numba/core/",
                                  "cupy/cuda/compiler.py",
                                  "cupy/_core/_fusion_kernel",
                                  "libnvrtc",
                                  "libnvJitLink",
                                  "libnvidia-ptxjitcompiler"}) ||
           contains_any(of.function,
                        {"llvm::", "mlir::", "xla::gpu::GpuCompiler", "xla::gpu::NVPTXCompiler",
                         "xla::gpu::AMDGPUCompiler", "xla::gpu::CubinCustomKernelCompiler", "xla::gpu::ThunkEmitter",
                         "xla::gpu::TritonFusion", "xla::gpu::IrEmitter", "xla::gpu::KernelReuseCache",
                         "xla::cpu::CpuCompiler", "xla::HloPassPipeline", "stream_executor::CompileGpuAsm"}) ||
           of.function.starts_with("nvrtc") || of.function.starts_with("nvPTXCompiler");
  });
}

bool StackView::traces_for_compiler() const {
  return any([](const HostFrame& of) { return contains_any(of.file, {"torch/_dynamo/convert_frame"}); });
}

bool StackView::in_gpu_library() const {
  return any([](const HostFrame& of) {
    return contains_any(of.file, {"libcuda.so", "libcudart", "libcudnn", "libcublas", "libcufft", "libcusparse"});
  });
}

CauseDetail StackView::compiler() const {
  const auto in = [this](std::initializer_list<std::string_view> parts) {
    return any([&](const HostFrame& of) { return contains_any(of.file, parts); });
  };
  if (in({"torch/_dynamo/", "torch/_inductor/", "jax/_src/"})) return CauseDetail::none;
  if (in({"triton/compiler/", "triton/backends/", "triton/runtime/"})) return CauseDetail::triton_compiler;
  if (in({"numba/core/", "numba/cuda/"})) return CauseDetail::numba_compiler;
  if (in({"libcudnn"})) return CauseDetail::cudnn_compiler;
  const bool cupy = in({"cupy/"});  // its row has its own words for this
  return !cupy && in({"libnvrtc"}) ? CauseDetail::nvrtc_compiler : CauseDetail::none;
}

bool StackView::traces_anomalies() const {
  return any([](const HostFrame& of) {
    return (of.file.ends_with("torch/fx/traceback.py") && plain_function(of) == "format_stack") ||
           contains_any(of.function, {"PyAnomalyMetadata"});
  });
}

bool StackView::prints_tensor() const {
  return any([](const HostFrame& of) { return contains_any(of.file, {"torch/_tensor_str.py"}); });
}

bool StackView::in_model() const {
  return any([](const HostFrame& of) {
    return of.file.ends_with("torch/nn/modules/module.py") && plain_function(of).ends_with("_call_impl");
  });
}

bool StackView::computes_on_cpu() const {
  // The library also dispatches GPU operations: only its CPU kernels count.
  const bool torch = any([](const HostFrame& of) {
    return contains_any(of.function, {"::wrapper_CPU_", "at::native::AVX2::", "at::native::AVX512::",
                                      "at::native::DEFAULT::", "at::native::SVE256::", "at::native::cpublas::"}) ||
           (contains_any(of.file, {"libtorch_cpu"}) && of.function.starts_with("mkl_"));
  });
  return torch && !any([](const HostFrame& of) { return contains_any(of.file, {"libtorch_cuda", "libcuda"}); });
}

bool StackView::awaits_team() const {
  const std::size_t i = outside_system();
  return i < size_ && is_openmp_runtime(frame(i).file);
}

bool StackView::awaits_backward() const {
  return any([](const HostFrame& of) { return contains_any(of.function, {"torch::autograd::ReadyQueue::pop"}); });
}

bool StackView::in_backward() const {
  return any([](const HostFrame& of) {
    const std::string_view function = plain_function(of);
    return of.file.ends_with("torch/autograd/graph.py")
               ? function == "_engine_run_backward"
               : of.file.ends_with("torch/autograd/__init__.py") && (function == "backward" || function == "grad");
  });
}

bool StackView::decompresses() const {
  const auto reads = [](const HostFrame& of) {
    if (!of.python) {
      return contains_any(of.function, {"inflate", "BZ2_bzDecompress", "lzma_decode", "ZSTD_decompress",
                                        "LZ4_decompress", "blosc_decompress", "snappy::RawUncompress"});
    }
    const bool module = contains_any(of.file, {"/zipfile.py", "/zipfile/", "/gzip.py", "/bz2.py", "/lzma.py",
                                               "/_compression.py", "compression/", "numcodecs/"});
    const std::string_view function = plain_function(of);
    return module && (function.starts_with("read") || function.starts_with("_read") || function.starts_with("peek") ||
                      function.starts_with("decompress") || function.starts_with("_decompress"));
  };
  const auto decodes_image = [](const HostFrame& of) {
    return contains_any(of.file, {"/PIL/", "libpng", "libtiff", "cv2", "torchvision", "imageio"});
  };
  return any(reads) && !any(decodes_image);
}

bool StackView::gathers_rows() const {
  return any([](const HostFrame& of) {
    if (of.python) return of.function == "embedding" && of.file.ends_with("torch/nn/functional.py");
    const bool torch = contains_any(of.file, {"libtorch_cpu"}) &&
                       contains_any(of.function, {"index_select_cpu", "index_select_out_cpu", "native::embedding",
                                                  "native::index_kernel", "structured_gather", "wrapper_CPU_index"});
    return torch || (contains_any(of.file, {"_multiarray_umath"}) &&
                     contains_any(of.function, {"mapiter", "array_subscript", "PyArray_TakeFrom", "npy_fasttake"}));
  });
}

bool StackView::picks_items() const {
  return any([](const HostFrame& of) {
    const std::string_view function = plain_function(of);
    return is_of_random_module(of) &&
           (function == "sample" || function == "choice" || function == "choices" || function == "shuffle");
  });
}

bool StackView::draws_random() const {
  return any([](const HostFrame& of) {
    return contains_any(of.file, {"numpy/random/", "mtrand.cpython", "_generator.cpython", "_mt19937.cpython"}) ||
           is_of_random_module(of) ||
           contains_any(of.function, {"at::CPUGeneratorImpl", "wrapper_CPU_normal_", "wrapper_CPU_uniform_"});
  });
}

bool StackView::profiles() const {
  return any([](const HostFrame& of) {
    // An optimizer, autograd and FSDP mark their steps for a profiler, whether there is one or not.
    if (contains_any(of.function, {"record_function", "emit_nvtx"})) return false;
    if (of.python) return contains_any(of.file, {"torch/profiler/", "torch/autograd/profiler.py"});
    return contains_any(of.function, {"torch::profiler::impl::", "torch::autograd::profiler::", "libkineto::"});
  });
}

bool StackView::connects_ranks() const {
  return any([](const HostFrame& of) {
    const std::string_view function = plain_function(of);
    if (of.python) {
      return of.file.ends_with("torch/distributed/distributed_c10d.py") &&
             (function == "destroy_process_group" || function == "init_process_group" || function == "split_group" ||
              function.find("new_group") != std::string_view::npos ||
              function.find("new_subgroups") != std::string_view::npos ||
              function.find("new_process_group") != std::string_view::npos);
    }
    // NCCL connects the ranks of a communicator in its first collective.
    return contains_any(of.function,
                        {"ncclCommInit", "ncclCommSplit", "ncclCommShrink", "ncclCommFinalize", "ncclCommDestroy",
                         "ncclCommAbort", "ncclCollPreconnect", "ncclP2PPreconnect", "ncclTransportP2pSetup",
                         "ncclTransportRingConnect", "c10d::NCCLComm::create", "c10d::NCCLComm::split",
                         "c10d::NCCLComm::destroy", "c10d::NCCLComm::abort", "c10d::ProcessGroupNCCL::initNCCLComm"});
  });
}

bool StackView::copies_deeply() const {
  return any([](const HostFrame& of) {
    return of.python && of.file.ends_with("/copy.py") && plain_function(of) == "deepcopy";
  });
}

bool StackView::saves_state() const {
  // Collectives of objects pack tensors as torch.save does.
  return !sends_objects() && any([](const HostFrame& of) {
    const std::string_view function = plain_function(of);
    if (of.file.ends_with("torch/serialization.py")) return function == "save" || function == "_save";
    if (contains_any(of.file, {"safetensors/"})) return function.starts_with("save") || function == "serialize_file";
    return contains_any(of.file, {"torch/distributed/checkpoint/", "orbax/checkpoint/"}) &&
           function.find("save") != std::string_view::npos;
  });
}

bool StackView::sends_objects() const {
  return any([](const HostFrame& of) {
    if (!of.file.ends_with("torch/distributed/distributed_c10d.py")) return false;
    const std::string_view function = plain_function(of);
    return function.find("_object") != std::string_view::npos || function.find("object_") != std::string_view::npos;
  });
}

bool StackView::prepares_shards() const {
  // Files that are not on the stack of a module's own forward pass.
  return any([](const HostFrame& of) {
    return contains_any(of.file, {"torch/distributed/fsdp/"}) &&
           contains_any(of.file, {"/_fsdp_param_group.py", "/_fsdp_collectives.py", "/_flat_param.py"});
  });
}

bool StackView::in_barrier() const {
  return any([](const HostFrame& of) {
    return of.file.ends_with("torch/distributed/distributed_c10d.py") && plain_function(of).ends_with("barrier");
  });
}

bool StackView::in_cpu_collective() const {
  // NCCL's work has a wait of its own. The loop that waits for work is outside any.
  return any([](const HostFrame& of) {
    return !of.python && (contains_any(of.function, {"gloo::", "c10d::ProcessGroupGloo::AsyncWork"}) ||
                          of.function.starts_with("c10d::Work::wait("));
  });
}

bool StackView::runs_program() const {
  return any([](const HostFrame& of) {
    if (of.file.ends_with("/subprocess.py") || of.file.ends_with("/os.py")) {
      const std::string_view function = plain_function(of);
      for (const std::string_view waiting : {"communicate", "_communicate", "wait", "_wait", "_try_wait", "run",
                                             "_execute_child", "popen", "system", "spawnv", "_spawnvef"}) {
        if (function == waiting) return true;
      }
    }
    return !of.python && (of.function == "os_system" || of.function == "waitpid" || of.function == "wait4");
  });
}

bool StackView::in_profiler() const {
  return any([](const HostFrame& of) {
    return contains_any(of.file, {"libroofline_inject", "libcupti", "libnvperf"});
  });
}

bool StackView::logs() const {
  return any([](const HostFrame& of) {
    return contains_any(of.file,
                        {"/logging/__init__.py", "torch/utils/tensorboard/", "/tensorboardX/", "/wandb/", "/mlflow/",
                         "/neptune/", "/comet_ml/", "/loguru/", "/tqdm/", "/rich/", "torch/_tensor_str.py"}) ||
           of.function == "builtin_print";
  });
}

bool StackView::dispatches() const {
  if (size_ == 0 || any(in_loader)) return false;
  const HostFrame& innermost = frame(0);
  return contains_any(
      innermost.file,
      {"libcuda",           "libtorch",        "libc10",           "libcudnn",        "libcublas",
       "torch/nn/",         "torch/optim/",    "torch/_ops.py",    "torch/autograd/", "torch/functional.py",
       "torch/_tensor.py",  "torch/amp/",      "torch/cuda/",      "torch/_dynamo/",  "torch/_inductor/",
       "torch/_functorch/", "triton/runtime/", "triton/backends/", "jax/_src/",       "xla_extension",
       "cupy/_core",        "cupy/cuda",       "numba/cuda/"});
}

bool StackView::talks_to_network() const {
  return any([](const HostFrame& of) {
    return contains_any(of.file, {"/socket.py", "/ssl.py", "/http/", "/urllib", "/requests/", "/httpx/", "/aiohttp/",
                                  "/grpc/", "/redis/", "/boto", "/s3fs/", "/gcsfs/", "/fsspec/"});
  });
}

}  // namespace roofline
