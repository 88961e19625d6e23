#include "import/other_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "model/error.hpp"
#include "text/parts.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Where a table has its header.
constexpr std::size_t kHeader = 512;

bool is_report_of_nsys(std::string_view file, std::string_view) {
  return file.ends_with(".nsys-rep") || file.ends_with(".qdrep") || file.ends_with(".qdstrm");
}

bool is_json_of_nsys(std::string_view, std::string_view beginning) {
  const bool is_json = beginning.find_first_of("{[") <= beginning.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return is_json && contains_any(beginning, {"\"TraceProcessEvent\"", "\"CudaEvent\"", "\"NvtxEvent\"",
                                             "\"CUPTI_ACTIVITY_KIND_", "\"TARGET_INFO_"});
}

/// Binary data that a program has read and written as text: invalid bytes are U+FFFD, and nothing restores them.
bool is_binary_read_as_text(std::string_view, std::string_view beginning) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  constexpr int kSeveral = 8;
  int replaced = 0;
  for (std::size_t at = beginning.find(kReplacement); at != std::string_view::npos;
       at = beginning.find(kReplacement, at + kReplacement.size())) {
    ++replaced;
  }
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\r' && c != '\t';
  };
  return replaced >= kSeveral && std::ranges::count_if(beginning, is_control) >= kSeveral;
}

bool is_sqlite(std::string_view beginning) { return beginning.starts_with("SQLite format 3"); }

struct OtherFile {
  std::string_view what;
  bool (*matches)(std::string_view file, std::string_view beginning);
  std::string_view next;  ///< {0} is the file, {1} without its ending
};

constexpr OtherFile kOtherFiles[] = {
    {"a pointer of Git LFS instead of the file",
     [](auto, auto beginning) { return beginning.starts_with("version https://git-lfs"); },
     "git lfs pull, and import {0} again"},
    {"zeros instead of a file: a copy or a download did not end",
     [](auto, auto beginning) {
       return beginning.size() >= kHeader && std::ranges::all_of(beginning, [](char byte) { return byte == 0; });
     },
     "copy or download {0} again"},
    {"an HTML page instead of the file",
     [](auto, auto beginning) {
       const std::string first = lower_case(beginning.substr(0, kHeader));
       const std::size_t text = std::min(first.find_first_not_of(" \t\r\n\xef\xbb\xbf"), first.size());
       return starts_with_any(std::string_view(first).substr(text), {"<!doctype html", "<html"});
     },
     "download the file itself (from GitHub: the raw file), and import that"},
    {"a binary file that was saved as text, which destroys it", is_binary_read_as_text,
     "copy the file again in binary mode (from GitHub: the raw file), and import that"},
    {"samples of perf, which have no GPU activity",
     [](auto, auto beginning) { return beginning.starts_with("PERFILE2"); },
     "roofline profile -- PROGRAM samples a CPU"},
    {"a trace of Perfetto in its binary format, which is not imported",
     [](std::string_view file, auto) { return file.ends_with(".pftrace") || file.ends_with(".perfetto-trace"); },
     "rocprofv3 --kernel-trace --output-format json, and import that; for other tools, import their Chrome trace "
     "(JSON)"},
    {"an execution trace of PyTorch or Chakra, which has no GPU activity",
     [](auto, auto beginning) {
       return contains_any(beginning, {"\"schema\""}) && contains_any(beginning, {"\"ctrl_deps\"", "\"rf_id\""});
     },
     "import the trace of torch.profiler (export_chrome_trace) of the same run"},
    {"a summary of rocpd for reading; the database is imported",
     [](auto, auto beginning) { return contains_any(beginning.substr(0, kHeader), {"KERNELS_SUMMARY:"}); },
     "import the .db file of rocprofv3"},
    {"a database of VTune or Advisor, which has no GPU activity",
     [](std::string_view file, auto beginning) { return is_sqlite(beginning) && file.ends_with("dicer.db"); },
     "roofline profile -- PROGRAM samples a CPU"},
    {"outputs of a network by trtexec, without times",
     [](auto, auto beginning) {
       return contains_any(beginning.substr(0, kHeader), {"\"dimensions\""}) &&
              contains_any(beginning.substr(0, kHeader), {"\"values\""});
     },
     "trtexec --exportProfile=layers.json --separateProfileRun, and import that"},
    {"a report of Nsight Systems, which is imported as its SQLite export", is_report_of_nsys,
     "nsys export --type sqlite -o {1}.sqlite {0}, and import that"},
    {"an nsys export as JSON, which lacks names; the SQLite export is imported", is_json_of_nsys,
     "nsys export --type sqlite REPORT.nsys-rep, and import that"},
    {"a trace of single launches by nsys stats; the SQLite export has all of them",
     [](auto, auto beginning) {
       return contains_any(beginning, {"Start (ns),Duration (ns)", "Start (ns)\",\"Duration (ns)"});
     },
     "nsys export --type sqlite REPORT.nsys-rep, and import that"},
    {"a report of nsys stats without sums of kernels; the SQLite export has every launch",
     [](auto, auto beginning) {
       // cuda_kern_exec_sum and _trace, nvtx_gpu_proj_sum and _trace, nvtx_kern_sum; quoted where a spreadsheet wrote
       // it
       return contains_any(beginning, {"QAvg (ns)", "Kernel Dur (ns)", "Projected Duration (ns)", "Proj Avg (ns)",
                                       "NVTX Inst,Kern Inst", "NVTX Inst\",\"Kern Inst"});
     },
     "nsys export --type sqlite REPORT.nsys-rep, and import that"},
    {"text of DeepSpeed's FLOPs profiler, which has no kernels",
     [](auto, auto beginning) { return contains_any(beginning, {"DeepSpeed Flops Profiler"}); },
     "record with torch.profiler.profile(record_shapes=True), and import what export_chrome_trace writes"},
    {"tables of nsys stats for reading; the SQLite export has every launch",
     [](auto, auto beginning) { return contains_any(beginning, {"' stats report\n"}); },
     "nsys export --type sqlite REPORT.nsys-rep, and import that"},
    {"a trace of an Ascend NPU (torch_npu, msprof), which is not imported",
     [](auto, auto beginning) {
       const bool on_npu = contains_any(beginning, {"\"Task Type\""}) &&
                           contains_any(beginning, {"AI_CORE", "AI_VECTOR_CORE", "Ascend"});
       // torch_npu quotes times; its device's events come last.
       const bool quoted = contains_any(beginning, {"\"ts\": \"1", "\"ts\":\"1"});
       return on_npu || (quoted && contains_any(beginning, {"aten::"}) && !contains_any(beginning, {"cuda", "hip"}));
     },
     "GPUs of NVIDIA, AMD and Intel are supported"},
    {"a table of nvprof, which is not imported",
     [](auto, auto beginning) {
       return contains_any(beginning, {"NVPROF is profiling", "\"Time(%)\",\"Time\",\"Calls\"", "Time(%),Time,Calls,",
                                       "\"Start\",\"Duration\",\"Grid X\"", "Start,Duration,Grid X,",
                                       "\"Device\",\"Kernel\",\"Invocations\"", "======== CPU profiling result",
                                       "Time,Time,Calls,Avg,Min,Max"});
     },
     "record with nsys profile --trace cuda, then nsys export --type sqlite; FLOPs and bytes: ncu --set roofline"},
    {"samples of nvidia-smi, which have no kernels",
     [](auto, auto beginning) {
       const std::string_view header = beginning.substr(0, beginning.find('\n'));
       return contains_any(header, {"timestamp"}) && contains_any(header, {"utilization.gpu [%]"});
     },
     "roofline profile -- PROGRAM records its kernels; roofline monitor samples a GPU"},
    {"a profile of Caliper, which is not imported",
     [](auto, auto beginning) { return beginning.starts_with("__rec="); },
     "roofline profile -- PROGRAM records its kernels"},
    {"a table of an Ascend NPU (torch_npu, msprof), which is not imported",
     [](auto, auto beginning) {
       const std::string_view header = beginning.substr(0, beginning.find('\n'));
       return contains_any(header, {"Accelerator Core", "OP Type,Task Type", "AI Core Time"}) &&
              contains_any(header, {"Duration(us)"});
     },
     "GPUs of NVIDIA, AMD and Intel are supported"},
    {"CSV of Google Benchmark; its JSON is imported",
     [](auto, auto beginning) { return contains_any(beginning, {"name,iterations,real_time,cpu_time,time_unit"}); },
     "run the benchmark with --benchmark_out=FILE --benchmark_out_format=json, and import that"},
    {"JSON of Google Benchmark without times; each benchmark has \"real_time\" or \"cpu_time\"",
     [](auto, auto beginning) {
       const bool others = contains_any(beginning, {"\"real_time\"", "\"cpu_time\"", "\"states\"", "\"nvbench\"",
                                                    "\"machine_info\"", "\"traceEvents\""});
       return !others && contains_any(beginning.substr(0, kHeader), {"\"benchmarks\""}) &&
              contains_any(beginning, {"\"family_index\"", "\"run_type\"", "\"library_build_type\""}) &&
              nlohmann::json::accept(beginning);  // one that was cut may have them in the rest
     },
     "run the benchmark with --benchmark_out=FILE --benchmark_out_format=json, and import that"},
    {"a log of oneDNN (ONEDNN_VERBOSE), which is not imported",
     [](auto, auto beginning) {
       return contains_any(beginning, {"onednn_verbose,", "dnnl_verbose,", "mkldnn_verbose,"});
     },
     "roofline profile -- PROGRAM shows its loops and functions under the roofs of this CPU"},
    {"a profile of ONNX Runtime, which is not imported",
     [](auto, auto beginning) {
       return contains_any(beginning, {"model_loading_", "session_initialization"}) &&
              contains_any(beginning, {"\"Session\""});
     },
     "roofline profile -- PROGRAM records its kernels; roofline bound MODEL.onnx computes the minimum time of the "
     "model"},
    {"a table of OpenVINO's counters, which is not imported",
     [](auto, auto beginning) {
       return contains_any(beginning.substr(0, kHeader), {"layerName;execStatus;", "layerName,execStatus,"});
     },
     "roofline profile -- PROGRAM shows its loops and functions under the roofs of this CPU"},
    {"times of commands by hyperfine, without kernels or loops",
     [](auto, auto beginning) {
       return contains_any(beginning.substr(0, kHeader), {"\"command\""}) && contains_any(beginning, {"\"stddev\""});
     },
     "roofline profile -- COMMAND records where its time goes"},
    {"times of JMH, without kernels or loops",
     [](auto, auto beginning) { return contains_any(beginning, {"\"jmhVersion\""}); },
     "roofline profile -- PROGRAM records where its time goes"},
    {"times of pytest-benchmark, without kernels or loops",
     [](auto, auto beginning) {
       return contains_any(beginning, {"\"machine_info\""}) &&
              contains_any(beginning, {"\"commit_info\"", "\"benchmarks\""});
     },
     "roofline profile -- PROGRAM records where its time goes"},
    {"samples for speedscope, which have no GPU activity",
     [](auto, auto beginning) {
       return contains_any(beginning, {"speedscope.app/file-format-schema", "\"exporter\": \"py-spy"});
     },
     "roofline profile -- PROGRAM samples a program and writes such a file, too (--format speedscope)"},
    {"text of nccl-tests, which is not imported",
     [](auto, auto beginning) {
       return contains_any(beginning, {"# nThread "}) && contains_any(beginning, {"minBytes "});
     },
     "roofline calibrate --device all measures links and collectives of this machine"},
    {"text of STREAM or BabelStream, which is not imported",
     [](auto, auto beginning) {
       return contains_any(beginning, {"Best Rate MB/s", "BabelStream"}) && contains_any(beginning, {"Triad"});
     },
     "roofline calibrate measures the memory bandwidth of this machine"},
    {"a model of ONNX, which has no times", [](std::string_view file, auto) { return file.ends_with(".onnx"); },
     "roofline bound {0} computes its minimum time; roofline profile -- PROGRAM records a program that runs it"},
    {"counts of a whole program by perf stat, without kernels or loops",
     [](auto, auto beginning) {
       return contains_any(beginning, {"Performance counter stats for "}) && contains_any(beginning, {" elapsed"});
     },
     "roofline profile -- PROGRAM shows its loops and functions under the roofs of this CPU"},
    {"samples of perf script, which have no GPU activity",
     [](auto, auto beginning) {
       return contains_any(beginning.substr(0, kHeader), {"# captured on"}) &&
              contains_any(beginning, {"# perf version"});
     },
     "roofline profile -- PROGRAM samples a CPU"},
    {"text of the OSU benchmarks, which is not imported",
     [](auto, auto beginning) { return contains_any(beginning.substr(0, kHeader), {"# OSU "}); },
     "roofline calibrate --device all measures links and collectives of this machine"},
    {"times of one driver of ERT; the summary of all its runs is imported",
     [](auto, auto beginning) {
       // The summary of all runs quotes these lines.
       return contains_any(beginning, {"META_DATA"}) &&
              !contains_any(beginning, {"\"empirical\"", "GFLOPs EMP", "DRAM EMP", " Weight\n"}) &&
              contains_any(beginning, {"MPI_PROCS", "OPENMP_THREADS", "GPU_BLOCKS"});
     },
     "ert CONFIG, and import its roofline.json"},
    {"text of CUDA's bandwidthTest, which is not imported",
     [](auto, auto beginning) { return contains_any(beginning, {"[CUDA Bandwidth Test]"}); },
     "roofline calibrate measures the memory and the links of this machine"},
    {"a summary of MLPerf, which has no kernels",
     [](auto, auto beginning) { return contains_any(beginning, {"MLPerf Results Summary"}); },
     "roofline profile -- PROGRAM records its kernels"},
    {"functions of VTune, which have no GPU activity",
     [](auto, auto beginning) {
       const std::string_view header = beginning.substr(0, beginning.find('\n'));
       return contains_any(header, {"CPU Time:Effective Time"});
     },
     "roofline profile -- PROGRAM shows its loops and functions under the roofs of this CPU"},
    {"text of mixbench, which is not imported",
     [](auto, auto beginning) {
       return contains_any(beginning, {"mixbench"}) && contains_any(beginning, {"Flops/byte", "flops/byte"});
     },
     "roofline calibrate measures this machine's roofs"},
    {"a report of nsys stats without any CUDA activity",
     [](auto, auto beginning) {
       return contains_any(beginning, {"does not contain CUDA kernel data"}) &&
              !contains_any(beginning, {"Total Time (ns),Instances", "\"Instances\""});
     },
     "record the program again with nsys profile --trace cuda, or with roofline profile"},
    {"JSON in UTF-16 without a byte order mark",
     [](auto, auto beginning) {
       return starts_with_any(beginning, {{"{\0", 2}, {"[\0", 2}, {"\0{", 2}, {"\0[", 2}});
     },
     "iconv -f UTF-16LE -t UTF-8 {0} (or -f UTF-16BE), and import what it writes"},
    {"an archive; the files in it are imported",
     [](auto, auto beginning) {
       constexpr std::size_t kTarMark = 257;
       return beginning.starts_with("PK\3\4") ||
              (beginning.size() > kTarMark && beginning.substr(kTarMark).starts_with("ustar"));
     },
     "unpack {0} (unzip, or tar xf), and import what is in it"},
    {"a compressed file that is not gzip, or is compressed twice",
     [](auto, auto beginning) {
       return starts_with_any(beginning, {"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd\x37zXZ", "BZh", "\x04\x22\x4d\x18"});
     },
     "unpack it, and import the file"},
    {"a database of nvprof, which is not imported",
     [](auto, auto beginning) {
       return is_sqlite(beginning) && contains_any(beginning, {"CREATE TABLE StringTable", "CONCURRENT_KERNEL"});
     },
     "record with nsys profile --trace cuda, then nsys export --type sqlite; FLOPs and bytes: ncu --set roofline"},
    {"a database of rocprof (v1); its table of kernels is imported",
     [](auto, auto beginning) {
       return is_sqlite(beginning) && contains_any(beginning, {"CREATE TABLE KERN ", "CREATE TABLE rocTX "});
     },
     "rocprof --timestamp on, and import results.csv; or rocprofv3 --kernel-trace --output-format json"},
    {"a table of torch.profiler (key_averages) for reading; its trace is imported",
     [](auto, auto beginning) {
       return contains_any(beginning, {"Self CPU %", "Self CPU total %"}) && contains_any(beginning, {"# of Calls"});
     },
     "prof.export_chrome_trace('trace.json'), and import that"},
    {"a trace of torch.autograd.profiler, which has no launches; that of torch.profiler is imported",
     [](auto, auto beginning) {
       return contains_any(beginning, {"\"pid\": \"CPU functions\"", "\"pid\": \"CUDA functions\""});
     },
     "record with torch.profiler.profile(record_shapes=True), then export_chrome_trace"},
    {"sums of rocprof (--stats), which have no launches; a trace of kernels is imported",
     [](auto, auto beginning) {
       return contains_any(beginning.substr(0, kHeader), {"\"TotalDurationNs\"", "Name,Calls,TotalDurationNs"});
     },
     "rocprofv3 --kernel-trace --output-format csv, and import kernel_trace.csv; of rocprof, results.csv"},
    {"a trace of API calls or copies by rocprofv3; that of kernels is imported",
     [](auto, auto beginning) {
       const std::string_view header = beginning.substr(0, beginning.find('\n'));
       return contains_any(header, {"\"Domain\",\"Function\"", "\"Source_Agent_Id\"", "Domain,Function,Process_Id"}) &&
              contains_any(header, {"Start_Timestamp"});
     },
     "rocprofv3 --kernel-trace --output-format csv, and import kernel_trace.csv"},
    {"a trace of rocprofv3 or rocprof-sys for Perfetto; that of kernels is imported",
     [](auto, auto beginning) {
       return contains_any(beginning, {"\"traceEvents\""}) && contains_any(beginning, {"\"kernel_dispatch\""});
     },
     "rocprofv3 --kernel-trace --output-format json, and import that"},
    {"a table of nvbench, which has no bytes and no exact times; its JSON is imported",
     [](auto, auto beginning) { return contains_any(beginning.substr(0, kHeader), {"Benchmark,Device,Device Name"}); },
     "run the benchmark with --json FILE, and import that"},
    {"a report of roofline, not a profile of another tool",
     [](auto, auto beginning) { return is_own_file(beginning, "report/"); }, "roofline report {0}"},
    {"a calibration of roofline, not a profile",
     [](auto, auto beginning) { return is_own_file(beginning, "machine/"); },
     "roofline machine {0}; for the roofs of an import: --machine {0}"},
    {"a node of roofline, not a profile", [](auto, auto beginning) { return is_own_file(beginning, "node/"); },
     "roofline report {0}"},
    {"times of inferences by trtexec, without layers",
     [](auto, auto beginning) { return contains_any(beginning, {"\"startComputeMs\""}); },
     "trtexec --exportProfile=layers.json --separateProfileRun, and import that"},
    {"layers of a TensorRT engine, without times",
     [](auto, auto beginning) {
       return contains_any(beginning, {"\"Layers\""}) && contains_any(beginning, {"\"Bindings\"", "\"LayerType\""});
     },
     "trtexec --exportProfile=layers.json --separateProfileRun, and import that"},
};

}  // namespace

bool is_own_file(std::string_view beginning, std::string_view kind) {
  constexpr std::size_t kFirst = 256;
  return beginning.substr(0, kFirst).find(fmt::format("\"roofline.{}", kind)) != std::string_view::npos;
}

void refuse_other_file(const std::string& file, std::string_view beginning) {
  const std::string stem = file.substr(0, file.rfind('.'));
  for (const OtherFile& other : kOtherFiles) {
    if (!other.matches(file, beginning)) continue;
    throw UsageError(fmt::format("{}: {}", file, other.what), fmt::format(fmt::runtime(other.next), file, stem));
  }
}

}  // namespace roofline
