// Files of benchmarks, other profilers and other vendors, each with its reader and how such a file begins.
#pragma once

#include <string_view>

#include "import/byte_source.hpp"
#include "import/imported.hpp"

namespace roofline {

/// nvbench --json: mean GPU times of states, bytes as the benchmark's author states them.
ImportedProfile read_nvbench(ByteSource& source);
bool looks_like_nvbench(std::string_view beginning);

/// Google Benchmark (--benchmark_format=json): times of repetitions; bytes and FLOPs from the author's rates.
ImportedProfile read_google_benchmark(ByteSource& source);
bool looks_like_google_benchmark(std::string_view beginning);

/// trtexec --exportProfile: mean times of a TensorRT engine's layers.
ImportedProfile read_tensorrt_profile(ByteSource& source);
bool looks_like_tensorrt_profile(std::string_view beginning);

/// CSV of nsys stats: sums of kernels, without launches.
ImportedProfile read_nsys_sums(ByteSource& source);
bool looks_like_nsys_sums(std::string_view beginning);

/// rocprofv3 --kernel-trace --output-format csv: the kernels of an AMD GPU.
ImportedProfile read_rocprof(ByteSource& source);
bool looks_like_rocprof(std::string_view beginning);

/// trace.json of JAX's and TensorFlow's profiler: kernels and copies on the tracks of GPU streams.
ImportedProfile read_xla_trace(ByteSource& source);
bool looks_like_xla_trace(std::string_view beginning);

}  // namespace roofline
