// Files of benchmarks, other profilers and other vendors, each with its reader and how such a file begins.
#pragma once

#include <filesystem>
#include <optional>
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

/// results.json of rocprof (v1): kernels and copies of AMD GPUs, without their sizes.
ImportedProfile read_rocprof_trace(ByteSource& source);
bool looks_like_rocprof_trace(std::string_view beginning);

/// rocprofv3 --output-format json: kernels and copies of AMD GPUs, with counters if collected.
ImportedProfile read_rocprof_json(ByteSource& source);
bool looks_like_rocprof_json(std::string_view beginning);

/// rocprofv3's database (rocpd, its default since ROCm 7): kernels and copies of AMD GPUs, with counters where they
/// were collected.
ImportedProfile read_rocpd(const std::filesystem::path& file);
bool looks_like_rocpd(std::string_view beginning);

/// pmc_perf.csv of rocprof-compute (Omniperf): kernels with counters, and the roofs in the roofline.csv beside it.
ImportedProfile read_rocprof_compute(const std::filesystem::path& file);
bool looks_like_rocprof_compute(std::string_view beginning);
/// roofline.csv of rocprof-compute without a pmc_perf.csv beside it: roofs only.
ImportedProfile read_rocprof_roofs(const std::filesystem::path& file);
bool looks_like_rocprof_roofs(std::string_view beginning);
/// pmc_perf.csv of a folder, and of a file of such a folder; std::nullopt if it has none.
std::optional<std::filesystem::path> rocprof_compute_table(const std::filesystem::path& given);

/// CSV of likwid-perfctr (-O): regions of a CPU program, with FLOPs and bytes where their group has them.
ImportedProfile read_likwid(ByteSource& source);
bool looks_like_likwid(std::string_view beginning);
/// The tables that likwid-perfctr prints without -O, between what the program prints.
ImportedProfile read_likwid_text(ByteSource& source);
bool looks_like_likwid_text(std::string_view beginning);

/// The name of a kernel without the suffix of its descriptor, as rocprof (v1, v2) and rocprof-compute write it:
/// " [clone .kd]", " (.kd)" or ".kd".
std::string_view without_descriptor(std::string_view kernel);

/// Empirical Roofline Toolkit (roofline.json, or the output of its roofline.py): roofs only.
ImportedProfile read_ert_json(ByteSource& source);
bool looks_like_ert_json(std::string_view beginning);
ImportedProfile read_ert_text(ByteSource& source);
bool looks_like_ert_text(std::string_view beginning);

/// xplane.pb of JAX's and TensorFlow's profiler: kernels and copies, with the FLOPs and bytes of XLA's cost model if
/// the file has them.
ImportedProfile read_xplane(const std::filesystem::path& file);
bool looks_like_xplane(std::string_view beginning);

/// trace.json of JAX's and TensorFlow's profiler: kernels and copies on the tracks of GPU streams.
ImportedProfile read_xla_trace(ByteSource& source);
bool looks_like_xla_trace(std::string_view beginning);

}  // namespace roofline
