// Imports that were once wrong without a word: small files of our own with the difficulty of the public ones, and what
// each of them must give. Times are in µs, as in traces. Cases of the command line are in tests/cli/cli_test.py.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "import/roofs.hpp"
#include "report/comparison/comparison.hpp"
#include "report/profile_findings.hpp"
#include "tests/support/import_files.hpp"
#include "tests/support/sqlite_file.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kA100 = "NVIDIA A100-SXM4-80GB";
constexpr const char* kH100 = "NVIDIA H100 80GB HBM3";

/// An event of a Chrome trace; `arguments` are the members of "args".
std::string event(std::string_view category, std::string_view name, std::string_view start, std::string_view duration,
                  std::string_view arguments, int process = 1, int thread = 1) {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "{}", "ts": {}, "dur": {}, "pid": {}, "tid": {}, )"
                     R"("args": {{{}}}}})",
                     category, name, start, duration, process, thread, arguments);
}

std::string trace(const std::vector<std::string>& events, std::string_view gpu = "", int gpus = 1) {
  std::string devices;
  for (int i = 0; i < gpus && !gpu.empty(); ++i) {
    devices += fmt::format(R"({}{{"id": {}, "name": "{}", "numSms": 108}})", i == 0 ? "" : ", ", i, gpu);
  }
  return fmt::format(R"({{"deviceProperties": [{}], "traceEvents": [{}]}})", devices, fmt::join(events, ", "));
}

std::string shapes(int external, std::string_view dims, std::string_view types, std::string_view concrete = "") {
  const std::string inputs = concrete.empty() ? "" : fmt::format(R"(, "Concrete Inputs": [{}])", concrete);
  return fmt::format(R"("External id": {}, "Input Dims": [{}], "Input type": [{}]{})", external, dims, types, inputs);
}

std::string ids(int correlation, int external, int device = 0, int stream = 7) {
  return fmt::format(R"("correlation": {}, "External id": {}, "device": {}, "stream": {}, "grid": [8, 1, 1], )"
                     R"("block": [128, 1, 1])",
                     correlation, external, device, stream);
}

constexpr const char* kFloats = R"("float", "float")";

/// An operator, the call in it that launches a kernel, and that kernel.
std::vector<std::string> launched(int number, std::string_view op, std::string_view arguments, std::string_view kernel,
                                  int start, std::string_view duration) {
  return {event("cpu_op", op, std::to_string(start), "30", arguments),
          event("cuda_runtime", "cudaLaunchKernel", std::to_string(start + 5), "2", ids(number, number)),
          event("kernel", kernel, std::to_string(start + 40), duration, ids(number, number), 0, 7)};
}

std::vector<std::string> joined(std::initializer_list<std::vector<std::string>> lists) {
  std::vector<std::string> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// Numbers of this file are those of a launch whose "External id" is the number of another operator, or of none.
std::string external_is_correlation() {
  return trace({event("cpu_op", "aten::relu", "100", "30", shapes(70, "[512]", R"("float")")),
                event("cuda_runtime", "cudaLaunchKernel", "110", "4", ids(9001, 9001)),
                event("kernel", "relu_kernel", "140", "5", ids(9001, 9001), 0, 7),
                event("cpu_op", "aten::mm", "200", "60", shapes(71, "[16, 4096], [4096, 48]", kFloats)),
                event("cuda_runtime", "cudaLaunchKernel", "210", "4", ids(9002, 9002)),
                event("kernel", "gemm_splitk", "250", "90", ids(9002, 9002), 0, 7),
                event("cuda_runtime", "cudaLaunchKernel", "230", "4", ids(9003, 9003)),
                event("kernel", "splitKreduce_kernel", "345", "6", ids(9003, 9003), 0, 7),
                event("cpu_op", "aten::sigmoid", "400", "30", shapes(72, "[1024, 1024]", R"("float")")),
                event("cuda_runtime", "cudaLaunchKernel", "410", "4", ids(70, 70)),  // the number of aten::relu
                event("kernel", "sigmoid_kernel", "440", "20", ids(70, 70), 0, 7)},
               kA100);
}

std::string convolution(std::string_view op, std::string_view dims, std::string_view concrete) {
  return trace(launched(1, op, shapes(1, dims, kFloats, concrete), "conv", 100, "400"), kH100);
}

std::string nsys(std::string_view rows) {
  return "CREATE TABLE StringIds (id INT, value TEXT); INSERT INTO StringIds VALUES (1, 'vec'), (2, "
         "'cudaLaunchKernel');"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, correlationId INT, nameId INT, globalTid INT);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, streamId INT, correlationId INT, shortName INT);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, streamId INT, correlationId INT, bytes INT,"
         " copyKind INT);"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, streamId INT, correlationId INT, graphId "
         "INT);" +
         std::string(rows);
}

std::string long_table(const std::vector<std::array<const char*, 4>>& rows) {
  std::string text =
      "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\","
      "\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  for (const auto& [id, metric, unit, value] : rows) {
    text += fmt::format("\"{}\",\"sgemm\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"8.9\",\"S\",\"{}\",\"{}\",\"{}\"\n",
                        id, metric, unit, value);
  }
  return text;
}

constexpr const char* kTime = "gpu__time_duration.sum";
constexpr const char* kPeak = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

/// A row of units and a launch of 30,464 ns that moves 5 MiB.
std::string wide_table(bool quoted, bool indexed) {
  const char* const mark = quoted ? "\"" : "";
  const auto line = [&](const std::vector<std::string>& fields, std::string_view index) {
    std::vector<std::string> cells;
    if (indexed) cells.emplace_back(index);
    for (const std::string& field : fields) {
      const bool needs = quoted || field.find(',') != std::string::npos;
      cells.push_back(needs ? "\"" + field + "\"" : mark + field + mark);
    }
    return fmt::format("{}\n", fmt::join(cells, ","));
  };
  return line({"ID", "Kernel Name", "Block Size", "Grid Size", "Device", "CC", "dram__bytes_read.sum",
               "dram__bytes_write.sum", kTime},
              "") +
         line({"", "", "", "", "", "", "byte", "byte", "ns"}, "0") +
         line({"0", "k(float *, int)", "(256, 1, 1)", "(64, 1, 1)", "0", "9.0", "4,194,304", "1,048,576", "30,464"},
              "1");
}

std::string utf16(std::string_view text) {
  std::string wide = "\xff\xfe";
  for (const char character : text) {
    wide += character;
    wide += '\0';
  }
  return wide;
}

/// What a case must give. Unknown figures are not checked.
struct Right {
  std::int64_t launches = 0;
  double kernel_s = 0;
  std::optional<double> wall_s = {};
  std::optional<double> flops = {};  ///< of all launches
  std::optional<double> bytes = {};  ///< of main memory, of all launches
  const char* note = nullptr;
  std::function<void(const Report&)> also = {};
};

struct Case {
  const char* id;
  const char* file;
  std::string text;  ///< of the file; statements if it is a database
  Right right;
};

double flops_of(const Report& report) {
  double sum = 0;
  for (const Point& point : report.points) {
    for (const auto& [pipe, flops] : point.work.flops) sum += flops * static_cast<double>(point.profiled->launches);
  }
  return sum;
}

double bytes_of(const Report& report) {
  double sum = 0;
  for (const Point& point : report.points) {
    for (const Level level : {Level::hbm, Level::dram}) {
      const auto found = point.work.bytes.find(level);
      if (found == point.work.bytes.end()) continue;
      sum += found->second.total() * static_cast<double>(point.profiled->launches);
    }
  }
  return sum;
}

/// Under the data-sheet limits of its GPU, as `roofline import` without a calibration.
Report report_of_path(const std::filesystem::path& path) {
  std::vector<ImportedProfile> profiles;
  profiles.push_back(read_profile_file(path));
  const DeviceFacts device = device_of(profiles);
  std::vector<std::string> sentences;
  return report_of_imports(std::move(profiles), {.machine = data_sheet_machine(device)}, {"roofline", "import"},
                           sentences);
}

Report report_of_case(const Case& one) {
  if (std::string_view(one.file).ends_with(".sqlite")) return report_of_path(SqliteFile(one.text).path());
  return report_of_path(TemporaryFile(one.file, one.text).path());
}

const CopySum& copy_of(const Report& report, std::string_view direction) {
  for (const CopySum& copies : report.profile->copies) {
    if (to_string(copies.path).find(direction) != std::string::npos) return copies;
  }
  throw std::runtime_error("no copy " + std::string(direction));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const char* id, const char* file, std::string text, Right right) {
    all.push_back({id, file, std::move(text), std::move(right)});
  };
  add("F01", "a.json", external_is_correlation(),
      {.launches = 4, .kernel_s = 121e-6, .wall_s = 350e-6, .also = [](const Report& report) {
         const Point& product = row_named(report, "gemm_splitk");
         EXPECT_EQ(product.work.operations().begin()->second, 2.0 * 16 * 4096 * 48);
         EXPECT_TRUE(row_named(report, "splitKreduce").work.flops.empty()) << "the work is booked once";
         const Point& sigmoid = row_named(report, "sigmoid_kernel");
         EXPECT_EQ(sigmoid.work.bytes.at(Level::hbm).total(), 8.0 * 1024 * 1024);
         EXPECT_THAT(sigmoid.profiled->operation, HasSubstr("aten::sigmoid"));
       }});
  add("F02", "a.json",
      trace(launched(1, "aten::mm", shapes(1, "[4096, 4096], [4096, 4096]", kFloats),
                     "cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4", 100, "1000"),
            kA100),
      {.launches = 1, .kernel_s = 1e-3, .flops = 2.0 * 4096 * 4096 * 4096, .also = [](const Report& report) {
         EXPECT_EQ(report.points[0].bound.limiting_ceiling, "tensor.tf32");
         EXPECT_NEAR(report.points[0].fraction_of_roof(), 2.0 * 4096 * 4096 * 4096 / 156e12 / 1e-3, 1e-3);
       }});
  add("F04", "a.json",
      trace({event("Operator", "aten::mm", "200", "50", R"("External id": 2, "Input dims": [[32, 64], [64, 16]],
             "Input type": ["float", "float"])"),
             event("Runtime", "cudaLaunchKernel", "210", "5", R"("correlation": 3, "external id": 2)"),
             event("Memcpy", "Memcpy HtoD (Pageable -> Device)", "100", "250",
                   R"("device": 0, "stream": 7, "correlation": 1, "bytes": 2500000)", 0, 7),
             event("Memset", "Memset (Device)", "360", "4",
                   R"("device": 0, "stream": 7, "correlation": 2, "bytes": 8192)", 0, 7),
             event("Kernel", "sgemm", "370", "20", R"("device": 0, "stream": 7, "correlation": 3, "external id": 2)", 0,
                   7)},
            kH100),
      {.launches = 1,
       .kernel_s = 20e-6,
       .wall_s = 290e-6,
       .flops = 2.0 * 32 * 64 * 16,
       .also = [](const Report& report) {
         EXPECT_EQ(copy_of(report, "host to device").bytes, 2.5e6);
         EXPECT_NEAR(copy_of(report, "host to device").total_s, 250e-6, 1e-12);
         EXPECT_EQ(copy_of(report, "memset").bytes, 8192);
       }});
  // Each library has its own order of arguments. 8 x 64 x 56 x 56 outputs of 64 x 3 x 3 products, and so on.
  constexpr double kResidual = 2.0 * 8 * 64 * 56 * 56 * 64 * 9, kPatches = 2.0 * 4 * 768 * 14 * 14 * 3 * 16 * 16;
  EXPECT_NEAR(kResidual, 1.8497e9, 1e5);
  EXPECT_NEAR(kPatches, 9.248e8, 1e5);
  add("F05 MIOpen", "a.json",
      convolution("aten::miopen_convolution", "[8, 64, 56, 56], [64, 64, 3, 3], [], [], [], [], [], [], []",
                  R"("", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False")"),
      {.launches = 1, .kernel_s = 400e-6, .flops = kResidual});
  add("F05 cuDNN", "a.json",
      convolution("aten::cudnn_convolution", "[8, 64, 56, 56], [64, 64, 3, 3], [], [], [], [], [], [], []",
                  R"("", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False", "True")"),
      {.launches = 1, .kernel_s = 400e-6, .flops = kResidual});
  add("F05 patches", "a.json",
      convolution("aten::miopen_convolution", "[4, 3, 224, 224], [768, 3, 16, 16], [768], [], [], [], [], [], []",
                  R"("", "", "", "[0, 0]", "[16, 16]", "[1, 1]", "1", "False", "False")"),
      {.launches = 1, .kernel_s = 400e-6, .flops = kPatches});
  add("F05 transposed", "a.json",
      convolution("aten::cudnn_convolution_transpose", "[6, 192, 30, 96], [192, 384, 2, 2], [], [], [], [], [], [], []",
                  R"("", "", "[0, 0]", "[0, 0]", "[2, 2]", "[1, 1]", "1", "False", "False", "True")"),
      {.launches = 1, .kernel_s = 400e-6, .flops = 2.0 * 6 * 30 * 96 * 192 * 384 * 4});
  add("F06 one", "a.csv", long_table({{"0", kTime, "ns", "214.528"}, {"0", kPeak, "%", "42,17"}}),
      {.launches = 1, .kernel_s = 214528e-9});
  add("F06 bytes", "a.csv",
      "==PROF== Connected\n" + long_table({{"0", kTime, "ns", "214.528"},
                                           {"0", "dram__bytes.sum", "byte", "31.457.280"},
                                           {"0", kPeak, "%", "42,17"},
                                           {"1", kTime, "ns", "210.112"},
                                           {"1", "dram__bytes.sum", "byte", "31.457.280"},
                                           {"1", kPeak, "%", "43,01"}}),
      {.launches = 2, .kernel_s = 424640e-9, .bytes = 2 * 31457280.0});
  add("F06 times", "a.csv",
      long_table({{"0", kTime, "ns", "214.528"}, {"1", kTime, "ns", "210.112"}, {"2", kTime, "ns", "3.214.528"}}),
      {.launches = 3, .kernel_s = 3639168e-9});
  std::vector<std::string> no_time;
  for (int i = 0; i < 5; ++i) {
    const std::string dims = shapes(i + 1, "[64, 64], [64, 64]", kFloats);
    auto events = launched(i + 1, "aten::mm", dims, "gemm", 1000 + 100 * i, "10");
    if (i == 2) events[2] = event("kernel", "gemm", "0", "0", ids(3, 3), 0, 7);
    no_time.insert(no_time.end(), events.begin(), events.end());
  }
  add("F08", "a.json", trace(no_time, kH100),
      {.launches = 5, .kernel_s = 40e-6, .wall_s = 445e-6, .note = "1 of 5 launches"});
  add("F08 nsys", "a.sqlite",
      nsys("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000000000, 1000005000, 7, 1, 1), (0, 0, 7, 2, 1),"
           " (1000020000, 1000025000, 7, 3, 1)"),
      {.launches = 3, .kernel_s = 10e-6, .wall_s = 25e-6, .note = "1 of 3 launches"});
  std::vector<std::string> overlapping;
  for (int i = 0; i < 20; ++i) {
    const char* const length = i % 10 == 0 ? "300000" : "80";
    overlapping.push_back(event("kernel", "fmha", std::to_string(100 + 100 * i), length, ids(i + 1, 0), 0, 7));
  }
  add("F10", "a.json", trace(overlapping, kH100),
      {.launches = 20, .kernel_s = 18 * 80e-6 + 2 * 100e-6, .wall_s = 1980e-6, .note = "2 of 20 GPU records"});
  std::vector<std::string> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    for (int i = 0; i < 4; ++i) {
      ranks.push_back(event("cuda_runtime", "cudaLaunchKernel", std::to_string(1005 + 100 * i), "2", ids(i, i),
                            500 + rank, 500 + rank));
      ranks.push_back(event("kernel", fmt::format("gemm_{}", rank), std::to_string(1030 + 100 * i), "10",
                            ids(i, i, rank), rank, 7));
    }
  }
  // Idle time is summed over GPUs, and so is what it is a share of: 540 us of 670 us.
  add("F11", "a.json", trace(ranks, kH100, 2),
      {.launches = 8, .kernel_s = 80e-6, .wall_s = 335e-6, .also = [](const Report& report) {
         ASSERT_EQ(report.profile->devices.size(), 2U);
         double idle = 0;
         for (const Saving& saving : report.profile->savings) {
           if (saving.kind == SavingKind::idle) idle += saving.seconds;
         }
         EXPECT_NEAR(idle / (2 * report.profile->wall_s), 0.806, 5e-4);
       }});
  std::vector<std::string> within = {event("kernel", "k", "900", "10", ids(9, 0), 0, 7)};
  for (int i = 0; i < 3; ++i) {
    within.push_back(event("gpu_memcpy", "Memcpy DtoD (Device -> Device)", std::to_string(100 + 100 * i), "8",
                           R"("device": 0, "stream": 7, "bytes": 6291456, )" + fmt::format(R"("correlation": {})", i),
                           0, 7));
  }
  add("F13", "a.json", trace(within, kH100),
      {.launches = 1, .kernel_s = 10e-6, .wall_s = 810e-6, .also = [](const Report& report) {
         const CopySum& copies = copy_of(report, "device to device");
         EXPECT_EQ(copies.bytes, 3 * 6291456.0);
         EXPECT_NEAR(fraction_of_roof(copies), 2 * 3 * 6291456.0 / 24e-6 / 3.35e12, 1e-3) << "read and write";
       }});
  add("F15", "a.sqlite",
      nsys("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1000, 9000, 7, 1, 5), (12000, 20000, 7, 2, 5)"),
      {.launches = 2,
       .kernel_s = 16e-6,
       .wall_s = 19e-6,
       .note = "--cuda-graph-trace=node",
       .also = [](const Report& report) { EXPECT_EQ(report.points.at(0).workload.label, "graph 5"); }});
  std::vector<std::string> gpu_only;
  gpu_only.reserve(10);
  for (int i = 0; i < 10; ++i) {
    gpu_only.push_back(event("kernel", "k", std::to_string(1000 * (i + 1)), "100", ids(i + 1, 0), 0, 7));
  }
  add("F16", "a.json", trace(gpu_only, kH100),
      {.launches = 10, .kernel_s = 1e-3, .wall_s = 9.1e-3, .also = [](const Report& report) {
         const WallTime& wall = report.profile->devices.at(0);
         EXPECT_EQ(wall.idle_launching_s + wall.idle_waiting_s + wall.idle_elsewhere_s, 0) << "no cause is in the file";
         EXPECT_NEAR(wall.idle_unknown_s, 8.1e-3, 1e-9);
       }});
  add("F16 XPU", "a.json",
      trace({event("cpu_op", "aten::mm", "2493828094901.425", "30", shapes(1, "[256, 256], [256, 256]", kFloats)),
             event("xpu_runtime", "urEnqueueKernelLaunch", "2493828094905.425", "5",
                   R"("correlation": 1023, "External id": 1)"),
             event("kernel", "gemm_kernel", "2493828094950.1", "40.5",
                   R"("device": 0, "sycl queue": 64, "correlation": 1023, "External id": 1)", 0, 64),
             event("gpu_memcpy", "Memcpy M2D", "2493828095000.1", "20",
                   R"("device": 0, "sycl queue": 64, "correlation": 1024, "bytes": 524288)", 0, 64)}),
      {.launches = 1, .kernel_s = 40.5e-6, .flops = 2.0 * 256 * 256 * 256, .also = [](const Report& report) {
         EXPECT_EQ(copy_of(report, "host to device").bytes, 524288);
         EXPECT_EQ(report.profile->calls.at(0).name, "kernel launch");
       }});
  constexpr double kLaunch = 30464e-9, kMoved = 5 << 20;
  add("F18 pandas", "a.csv", wide_table(false, false), {.launches = 1, .kernel_s = kLaunch, .bytes = kMoved});
  add("F18 index", "a.csv", wide_table(false, true), {.launches = 1, .kernel_s = kLaunch, .bytes = kMoved});
  add("F18 UTF-16", "a.csv", utf16(wide_table(true, false)), {.launches = 1, .kernel_s = kLaunch, .bytes = kMoved});
  add("F18 cat", "a.csv", wide_table(true, false) + wide_table(true, false),
      {.launches = 2, .kernel_s = 2 * kLaunch, .bytes = 2 * kMoved, .note = "line 4"});
  add("F18 summary", "a.csv",
      "\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Invocations\",\"Section Name\","
      "\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n"
      "\"1\",\"k\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"3\",\"S\",\"gpu__time_duration.sum\",\"ns\","
      "\"30,400.000000\",\"30,600.000000\",\"30,500.000000\"\n",
      {.launches = 3, .kernel_s = 91.5e-6, .note = "means"});
  add("F20 copies", "a.sqlite",
      nsys("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1000, 6000, 7, 1, 4096, 1), (9000, 14000, 7, 2, 4096, 1)"),
      {.wall_s = 13e-6, .note = "no kernels", .also = [](const Report& report) {
         EXPECT_EQ(copy_of(report, "host to device").bytes, 8192);
       }});
  add("F20 occupancy", "a.csv", long_table({{"0", "Achieved Occupancy", "%", "42.1"}}),
      {.launches = 1, .wall_s = 0, .note = "gpu__time_duration.sum"});
  add("F21 inf", "a.json",
      trace({event("kernel", "k", "100", "10", ids(1, 0), 0, 7),
             event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "300", "4",
                   R"~("device": 0, "stream": 7, "correlation": 2, "bytes": 200, "memory bandwidth (GB/s)": inf)~", 0,
                   7)}),
      {.launches = 1, .kernel_s = 10e-6, .wall_s = 204e-6});
  add("F21 argument", "a.json",
      trace(joined({launched(1, "aten::mm", shapes(1, "[64, 32], [32, 64]", kFloats), "k", 100, "10"),
                    {event("kernel", "k2", "200", "10", R"("est. achieved occupancy %": NaN, )" + ids(2, 2), 0, 7)}})),
      {.launches = 2, .kernel_s = 20e-6, .flops = 2.0 * 64 * 32 * 64});
  add("F21 time", "a.json", trace({event("kernel", "k", "100", "NaN", ids(1, 0), 0, 7)}),
      {.launches = 1, .note = "1 of 1 launches"});
  add("F29 nvbench", "a.json",
      R"({"meta": {"version": {"json": {"major": 1}, "nvbench": {"major": 0}}}, "devices": [{"id": 0,
      "name": "NVIDIA H100"}], "benchmarks": [{"name": "scan", "states": [{"name": "Device=0 N=2^24", "summaries":
      [{"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "type": "float64", "value": "2.5e-3"}]}]}]}]})",
      {.launches = 1, .kernel_s = 2.5e-3});
  add("F29 Google Benchmark", "a.json",
      R"({"context": {"executable": "./b", "num_cpus": 4}, "benchmarks": [{"name": "BM_sum/64", "run_type": "iteration",
      "iterations": 100, "real_time": 40, "cpu_time": 40, "time_unit": "us", "bytes_per_second": 2e9}]})",
      {.launches = 1, .kernel_s = 40e-6, .bytes = 80e3});
  add("F29 JAX", "a.json",
      R"~({"displayTimeUnit": "ns", "metadata": {"highres-ticks": true}, "traceEvents": [{"ph": "M", "pid": 1, "name":
      "process_name", "args": {"name": "/device:GPU:0"}}, {"ph": "M", "pid": 1, "tid": 13, "name": "thread_name",
      "args": {"name": "Stream #13(Compute)"}}, {"ph": "X", "pid": 1, "tid": 13, "ts": 10.5, "dur": 31.25, "name":
      "fusion_9", "args": {"hlo_op": "fusion.9", "hlo_module": "jit_f", "correlation_id": "4"}}]})~",
      {.launches = 1, .kernel_s = 31.25e-6});
  return all;
}

TEST(ImportCases, HaveTheirRightFigures) {
  for (const Case& one : cases()) {
    SCOPED_TRACE(one.id);
    const Report report = report_of_case(one);
    std::int64_t launches = 0;
    double kernel_s = 0;
    for (const Point& point : report.points) {
      launches += point.profiled->launches;
      kernel_s += point.profiled->total_s;
      EXPECT_FALSE(point.fraction_of_roof() > 1.05) << point.workload.label;
    }
    const Right& right = one.right;
    constexpr double kExact = 1e-9;
    EXPECT_EQ(launches, right.launches);
    EXPECT_NEAR(kernel_s, right.kernel_s, kExact * right.kernel_s);
    if (right.wall_s) {
      EXPECT_NEAR(report.profile->wall_s, *right.wall_s, 1e-6 * *right.wall_s);
    }
    if (right.flops) {
      EXPECT_DOUBLE_EQ(flops_of(report), *right.flops);
    }
    if (right.bytes) {
      EXPECT_NEAR(bytes_of(report), *right.bytes, kExact * *right.bytes);
    }
    if (right.note != nullptr) {
      EXPECT_THAT(report.notes, Contains(HasSubstr(right.note)));
    }
    // Sums are of what ran, never of more than the GPUs had.
    for (const WallTime& wall : report.profile->devices)
      EXPECT_LE(wall.kernels_s, report.profile->wall_s * (1 + kExact));
    if (right.also) right.also(report);
  }
}

TEST(ImportCases, WithoutGpuActivityAreRefusedByName) {
  struct Refused {
    const char *id, *file;
    std::string text;
    const char* mention;
  };
  const Refused refused[] = {
      {"F20 CPU", "a.json", trace({event("cpu_op", "aten::mm", "1", "2", R"("External id": 1)")}), "cpu_op (1)"},
      {"F20 MTIA", "a.json",
       trace({event("mtia_ccp_events", "mm", "1", "2", R"("correlation": 1)"),
              event("mtia_ccp_events", "mm", "5", "2", R"("correlation": 2)")}),
       "mtia_ccp_events (2)"},
      {"F29 nsys", "a.json", R"({"Type": 0, "TraceProcessEvent": {"startNs": "1", "name": "0"}})",
       "nsys export --type sqlite"},
      {"F29 nvprof", "a.csv", "\"Time(%)\",\"Time\",\"Calls\",\"Avg\"\n%,ms,,us\n", "nsys profile"},
      {"F23", "a.json", R"({"schema": "roofline.report/1"})", "roofline report"}};
  for (const auto& [id, name, text, mention] : refused) {
    const TemporaryFile file(name, text);
    try {
      report_of_path(file.path());
      ADD_FAILURE() << id << " is imported";
    } catch (const UsageError& error) {
      EXPECT_THAT(std::string(error.what()) + "; " + error.hint(), HasSubstr(mention)) << id;
    }
  }
}

/// F23: a trace beside itself, and beside one with a kernel that is a tenth slower.
TEST(ImportCases, AreComparedAsRunsAre) {
  const auto of = [](double factor) {
    std::vector<std::string> events;
    for (int i = 0; i < 30; ++i) {
      const std::string length = fmt::format("{:.3f}", 50 * factor * (1 + 0.001 * (i % 3)));
      events.push_back(event("kernel", "gelu", std::to_string(100 + 100 * i), length, ids(i + 1, 0), 0, 7));
    }
    return report_of_path(TemporaryFile("a.json", trace(events, kH100)).path());
  };
  const Report base = of(1), slow = of(1.1);
  const Comparison same = comparison_of(base, of(1)), slower = comparison_of(base, slow);
  ASSERT_EQ(same.changes.size(), 1U);
  EXPECT_EQ(same.changes[0].change, Change::same);
  EXPECT_EQ(same.changes[0].time_ratio, 1);
  ASSERT_EQ(slower.changes.size(), 1U);
  EXPECT_EQ(slower.changes[0].change, Change::slower);
  EXPECT_NEAR(slower.changes[0].time_ratio, 1.1, 1e-3);
  EXPECT_THAT(comparison_notes(base, slow), testing::IsEmpty());
}

}  // namespace
}  // namespace roofline
