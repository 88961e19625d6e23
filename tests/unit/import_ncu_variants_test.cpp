// Nsight Compute's CSV as it meets users: other locales, encodings, programs that saved it again, summaries, several
// outputs in a file, messages between the lines, and the names of metrics in versions from 2020 to 2026.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "import/ncu.hpp"
#include "import/ncu_messages.hpp"
#include "import/ncu_metrics.hpp"
#include "import/ncu_table.hpp"
#include "import/ncu_units.hpp"
#include "import/roofs.hpp"
#include "import/text_lines.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/work_source.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct MetricRow {
  std::string id, metric, unit, value;
};

const std::string kDetailHeader =
    "\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\","
    "\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";

std::string detail_rows(const std::vector<MetricRow>& rows) {
  std::string text;
  for (const MetricRow& row : rows) {
    text += "\"" + row.id + "\",\"7\",\"app\",\"k(float *, int)\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\"," +
            "\"8.9\",\"Section\",\"" + row.metric + "\",\"" + row.unit + "\",\"" + row.value + "\"\n";
  }
  return text;
}

std::string details(const std::vector<MetricRow>& rows) { return kDetailHeader + detail_rows(rows); }

std::vector<std::uint64_t> times_of(const ImportedProfile& profile) {
  std::vector<std::uint64_t> times;
  for (const spool::Kernel& kernel : profile.trace.kernels) times.push_back(kernel.end - kernel.start);
  return times;
}

std::vector<std::uint64_t> times_in(std::string_view text) { return times_of(import_text("a.csv", text)); }

std::string notes_in(std::string_view text) {
  std::string notes;
  for (const std::string& note : import_text("a.csv", text).notes) notes += note + '\n';
  return notes;
}

/// The mean of a quantity over a file's launches.
double counted(std::string_view text, std::string_view quantity) {
  const TemporaryFile file("a.csv", text);
  const Report report = report_of_file(file.path());
  const auto& counters = report.points.at(0).counters;
  return counters ? counters->find(quantity).value_or(-1) : -1;
}

constexpr const char* kTime = "gpu__time_duration.sum";

TEST(NcuSigns, MeanOneThingOrAreOpen) {
  EXPECT_EQ(signs_of("25120"), NumberSigns::none);
  EXPECT_EQ(signs_of("0.250"), NumberSigns::decimal_point);
  EXPECT_EQ(signs_of("1,205,000"), NumberSigns::decimal_point);
  EXPECT_EQ(signs_of("25,120.000000"), NumberSigns::decimal_point);
  EXPECT_EQ(signs_of("12,34,567"), NumberSigns::decimal_point) << "lakhs";
  EXPECT_EQ(signs_of("2.117.344"), NumberSigns::decimal_comma);
  EXPECT_EQ(signs_of("65,77"), NumberSigns::decimal_comma);
  EXPECT_EQ(signs_of("1\u202f205,5"), NumberSigns::decimal_comma);
  EXPECT_EQ(signs_of("117.344"), NumberSigns::point_or_thousands);
  EXPECT_EQ(signs_of("-25,120"), NumberSigns::comma_or_thousands);
  EXPECT_EQ(signs_of("4,096.00 (1: 2,048; 2: 2,048)"), NumberSigns::decimal_point) << "instances";
  for (const char* text : {"", "-", "12.4.1", "1.205,000,1", "NVIDIA H100", "1.2e", "1,2,3"}) {
    EXPECT_EQ(signs_of(text), NumberSigns::not_a_number) << text;
  }
}

TEST(NcuSigns, AreDecidedByTheWholeFile) {
  const MetricRow time = {"0", kTime, "ns", "117.344"};
  EXPECT_THAT(times_in(details({time, {"0", "sm__throughput.avg.pct", "%", "65,77"}})), ElementsAre(117344));
  EXPECT_THAT(times_in(details({time, {"1", kTime, "ns", "2.117.344"}})), ElementsAre(117344, 2117344));
  EXPECT_THAT(times_in(details({time, {"0", "sm__throughput.avg.pct", "%", "65.77"}})), ElementsAre(117));
  EXPECT_THAT(times_in(details({{"0", kTime, "ns", "25,120"}})), ElementsAre(25120)) << "a count in its own unit";
}

TEST(NcuSigns, ThatStayOpenAreRefusedWithTheirPlace) {
  const std::string open = details({{"0", "launch__registers_per_thread", "register/thread", "32"},  //
                                    {"0", kTime, "us", "117.344"}});
  EXPECT_THAT(refusal_of("a.csv", open), AllOf(HasSubstr("line 3"), HasSubstr("column 14"), HasSubstr(kTime)));
  const std::string both = details({{"0", kTime, "us", "117.344"},  //
                                    {"0", "a__b.avg", "%", "6,5"},
                                    {"0", "c__d.avg", "%", "6.5"}});
  EXPECT_THAT(refusal_of("a.csv", both), AllOf(HasSubstr("line 2"), HasSubstr("line 3"), HasSubstr("line 4")));
  EXPECT_THAT(refusal_of("a.csv", details({{"0", kTime, "ns", "fast"}})), HasSubstr("line 2"));
}

const std::string kWideHeader =
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\","
    "\"dram__bytes_read.sum\",\"gpu__time_duration.sum\"\n";
const std::string kWideUnits = "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Kbyte\",\"us\"\n";
const std::string kWideRow =
    "\"0\",\"7\",\"k(float *, \"\"x\"\")\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"1.5\","
    "\"2.25\"\n";

TEST(NcuTableOf, QuotesIndexColumnsAndUnitsMayDiffer) {
  const std::string plain =
      "ID,Kernel Name,Grid Size,gpu__time_duration.sum\n,,,us\n0,\"k(int, int)\",\"(64, 1, 1)\",2.5\n";
  EXPECT_THAT(times_in(plain), ElementsAre(2500));
  const std::string indexed = ",ID,Kernel Name,gpu__time_duration.sum\n0,,,us\n1,0.0,\"k(int, int)\",2.5\n2,1.0,k,5\n";
  EXPECT_THAT(times_in(indexed), ElementsAre(2500, 5000));
  const std::string window = "ID;Function Name;Block Size [block];gpu__time_duration.sum [ms]\n0;k;256, 1, 1;1.5\n";
  EXPECT_THAT(times_in(window), ElementsAre(1500000));
  EXPECT_FALSE(ncu_table("ID,Kernel Name,Colour"));
  EXPECT_FALSE(ncu_table("0,1,\"Kernel Name\",2"));
}

TEST(NcuTableOf, WithoutAKnownMetricIsRefused) {
  const std::string other = details({{"0", "SQ_INSTS_SALU", "inst", "5"}, {"0", "gld_transactions", "", "7"}});
  EXPECT_THAT(refusal_of("a.csv", other),
              AllOf(HasSubstr("a.csv"), HasSubstr("SQ_INSTS_SALU"), HasSubstr("gld_transactions"), HasSubstr(kTime)));
  EXPECT_THAT(refusal_of("a.csv", "ID,Kernel Name,foo__bar.sum\n,,inst\n0,k,5\n"), HasSubstr("foo__bar.sum"));
  EXPECT_EQ(refusal_of("a.csv", details({{"0", "SQ_INSTS_SALU", "inst", "5"}, {"0", kTime, "ns", "7"}})), "");
  EXPECT_EQ(refusal_of("a.csv", details({{"0", kTime, "ns", "n/a"}})), "") << "a launch without a time";
}

TEST(NcuTableOf, WithoutUnitsIsRefused) {
  EXPECT_THAT(times_in(kWideHeader + kWideUnits + kWideRow), ElementsAre(2250));
  EXPECT_THAT(refusal_of("a.csv", kWideHeader + kWideRow), AllOf(HasSubstr("line 2"), HasSubstr("dram__bytes_read")));
  EXPECT_THAT(refusal_of("a.csv", details({{"0", kTime, "", "2250"}})), HasSubstr("line 2"));
}

std::string utf16(std::string_view text, bool big, bool mark) {
  std::string bytes;
  const auto add = [&](unsigned unit) {
    const char low = static_cast<char>(unit & 0xffU), high = static_cast<char>(unit >> 8U);
    bytes += big ? high : low;
    bytes += big ? low : high;
  };
  if (mark) add(0xfeff);
  for (const char character : text) add(static_cast<unsigned char>(character));
  return bytes;
}

TEST(NcuEncoding, Utf16AndMarksAreRead) {
  const std::string text = kWideHeader + kWideUnits + kWideRow;
  std::string lines;
  for (const char character : text) lines += character == '\n' ? std::string("\r\n") : std::string(1, character);
  for (const bool big : {false, true}) {
    for (const bool mark : {false, true}) EXPECT_THAT(times_in(utf16(lines, big, mark)), ElementsAre(2250)) << big;
  }
  EXPECT_THAT(times_in("\xef\xbb\xbf" + lines), ElementsAre(2250));
  EXPECT_THAT(times_in(text + "\xef\xbb\xbf" + text), ElementsAre(2250, 2250)) << "a mark inside, of cat";
  EXPECT_EQ(utf8_beginning(std::string("\xff\xfe\x3d\xd8\x80\xde", 6)), "\xef\xbb\xbf\xf0\x9f\x9a\x80");
  EXPECT_EQ(utf8_beginning(std::string("\xff\xfe\x3d\xd8\x41\x00", 6)),
            "\xef\xbb\xbf\xef\xbf\xbd"
            "A");
  EXPECT_NE(refusal_of("a.csv", utf16(lines.substr(0, lines.size() - 4), false, true)), "") << "truncated";
}

const std::string kSummary =
    "\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"Invocations\",\"Section Name\","
    "\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n";

TEST(NcuSummary, HasMeansOfItsLaunches) {
  const std::string row = "\"1\",\"k(int, int)\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",";
  const std::string text = kSummary + row + "\"3\",\"\",\"Duration\",\"us\",\"1.00\",\"3.00\",\"2.00\"\n" + row +
                           "\"3\",\"\",\"dram__bytes.sum\",\"Kbyte\",\"1.00\",\"3.00\",\"2.50\"\n";
  const ImportedProfile profile = import_text("a.csv", text);
  EXPECT_THAT(times_of(profile), ElementsAre(2000, 2000, 2000));
  EXPECT_EQ(profile.trace.times, TimeSource::averaged);
  EXPECT_EQ(counted(text, "dram.bytes"), 2500);
  EXPECT_EQ(import_text("a.csv", kWideHeader + kWideUnits + kWideRow).trace.times, TimeSource::replayed);
}

TEST(NcuSummary, WithoutKernelsOrWithoutANumberIsRefused) {
  const std::string of_gpu =
      "\"Device\",\"Invocations\",\"Metric Name\",\"Metric Unit\",\"Average\"\n\"0\",\"2\",\"a\",\"%\",\"1\"\n";
  EXPECT_THAT(refusal_of("a.csv", of_gpu), HasSubstr("line 1"));
  for (const char* count : {"", "0", "4294967295", "99999999999999999999999"}) {
    const std::string row =
        "\"1\",\"k\",\"\",\"\",\"0\",\"" + std::string(count) + "\",\"\",\"Duration\",\"us\",\"1\",\"1\",\"1\"\n";
    EXPECT_THAT(refusal_of("a.csv", kSummary + row), HasSubstr("line 2")) << count;
  }
}

TEST(NcuOutputs, OneAfterTheOtherAreAdded) {
  const std::string one = kWideHeader + kWideUnits + kWideRow;
  EXPECT_THAT(times_in(one + "==PROF== Disconnected\n" + details({{"0", kTime, "ns", "900"}})), ElementsAre(2250, 900));
  EXPECT_THAT(notes_in(one + one), HasSubstr("line 4"));
  EXPECT_THAT(notes_in(one), testing::Not(HasSubstr("header")));
}

TEST(NcuMessagesOf, AFileWithoutLaunchesSayWhy) {
  const std::string denied =
      "==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not have "
      "permission\n==WARNING== No kernels were profiled.\n";
  EXPECT_THAT(refusal_of("a.csv", denied), AllOf(HasSubstr("line 2"), HasSubstr("ERR_NVGPUCTRPERM")));
  const std::string none = "==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. k(const float *, int)\n";
  EXPECT_THAT(refusal_of("a.csv", none), HasSubstr("line 1"));
  EXPECT_THAT(refusal_of("a.csv", kWideHeader + kWideUnits), HasSubstr("no launches"));
}

TEST(NcuMessagesOf, AFileWithLaunchesAreNotes) {
  const std::string text = "==PROF== Connected\n" + details({{"0", kTime, "ns", "900"}});
  EXPECT_THAT(notes_in(text + "==ERROR== Failed to profile \"k\" in process 7\n"), HasSubstr("line 4"));
  EXPECT_THAT(notes_in(text + "==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. k(float *, int)\n"),
              HasSubstr("line 4"));
  EXPECT_THAT(notes_in(text), testing::Not(HasSubstr("line ")));
  NcuMessages messages;
  const std::string busy = "==ERROR== a driver resource was unavailable";
  EXPECT_TRUE(messages.take(busy, 3));
  EXPECT_FALSE(messages.take("=== the program's own ===", 4));
  ASSERT_NE(messages.reason(), nullptr);
  EXPECT_EQ(messages.reason()->kind, NcuMessageKind::busy);
}

TEST(NcuCut, LinesAreRefusedOrNoted) {
  const std::string text = details({{"0", kTime, "ns", "900"}, {"1", kTime, "ns", "25120"}});
  EXPECT_THAT(refusal_of("a.csv", text.substr(0, text.size() - 4)), HasSubstr("line 3"));
  EXPECT_THAT(refusal_of("a.csv", text.substr(0, text.size() - 14)), HasSubstr("line 3"));
  EXPECT_THAT(times_in(text.substr(0, text.size() - 1)), ElementsAre(900, 25120)) << "only the line end is missing";
  const std::string plain = "ID,Kernel Name,gpu__time_duration.sum\n,,ns\n0,k,25120\n";
  EXPECT_THAT(notes_in(plain.substr(0, plain.size() - 2)), HasSubstr("line 3"));
  EXPECT_THAT(notes_in(plain), testing::Not(HasSubstr("line 3")));
  EXPECT_THAT(refusal_of("a.csv", plain + "1,k(int, int),5\n"), HasSubstr("line 4")) << "quotes lost";
}

TEST(NcuAbsent, ValuesAndTimesAreNoted) {
  const std::string text = details({{"0", kTime, "ns", "900"}, {"0", "dram__bytes.sum", "", "n/a"}});
  EXPECT_THAT(notes_in(text), AllOf(HasSubstr("line 3"), HasSubstr("dram__bytes.sum")));
  const std::string occupancy = details({{"0", "Achieved Occupancy", "%", "42.1"}});
  EXPECT_THAT(notes_in(occupancy), HasSubstr("1 of 1 launches"));
  EXPECT_NEAR(counted(occupancy, "occupancy"), 0.421, 1e-9);
  const TemporaryFile file("a.csv", details({{"0", "Registers Per Thread", "register/thread", "32"}}));
  const Report report = report_of_file(file.path());
  EXPECT_THAT(report.profile->why_no_counters, HasSubstr("ncu --set roofline"));
  EXPECT_THAT(notes_in(details({{"0", kTime, "ns", "900"}})), testing::Not(HasSubstr("of 1 launches")));
}

struct Spelled {
  const char *metric, *unit, *value;
  const char* quantity;
  double expected;
};

TEST(NcuSpellings, OfAFactGiveTheSame) {
  const Spelled spellings[] = {
      {"dram__bytes_read.sum", "Kbyte", "64", "dram.read_bytes", 64000},
      {"dram__sectors_read.sum", "sector", "2000", "dram.read_bytes", 64000},
      {"dram__bytes.sum", "byte", "64000", "dram.bytes", 64000},
      {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "500", "fp32.fma", 500},
      {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "500", "fp32.fma", 500},
      {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum.per_second", "inst/us", "500", "fp32.fma", 500},
      {"smsp__inst_executed.sum", "inst", "70", "instructions", 70},
      {"sm__inst_executed.sum", "inst", "70", "instructions", 70},
      {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "9", "global.load_sectors", 9},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "9", "global.load_sectors", 9},
      {"l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum", "byte", "288", "global.load_sectors", 9},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector", "9", "global.store_sectors", 9},
      {"smsp__inst_executed_op_global_st.sum", "inst", "9", "global.store_instructions", 9},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "", "9", "global.store_instructions", 9},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", "9", "global.load_instructions", 9},
      {"derived__memory_l2_theoretical_sectors_global_excessive", "Kbyte", "1.5", "global.excess_sectors", 1500},
      {"derived__memory_l1_wavefronts_shared_excessive", "", "9", "shared.bank_conflicts", 9},
      {"lts__t_sectors.sum", "sector", "3", "l2.all_bytes", 96},
      // ncu 2018 and 2019 on Pascal
      {"dram__read_bytes", "Mbyte", "80", "dram.read_bytes", 80e6},
      {"dram__read_sectors", "sector", "2000", "dram.read_bytes", 64000},
      {"dram__write_bytes", "Kbyte", "64", "dram.write_bytes", 64000},
      {"dram__write_sectors", "sector", "2000", "dram.write_bytes", 64000},
      {"smsp__inst_executed_sum", "inst", "70", "instructions", 70},
      {"sm__active_warps_avg_per_active_cycle_pct", "%", "25", "occupancy", 0.25},
      {"smsp__warp_cycles_per_issue_stall_wait", "cycle", "4.5", "stall.wait", 4.5}};
  for (const Spelled& spelled : spellings) {
    const std::string text = details({{"0", kTime, "us", "1"}, {"0", spelled.metric, spelled.unit, spelled.value}});
    EXPECT_NEAR(counted(text, spelled.quantity), spelled.expected, 1e-6) << spelled.metric;
  }
  const std::string both = details({{"0", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "8"},
                                    {"0", "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector", "9"}});
  EXPECT_EQ(counted(both, "global.load_sectors"), 9) << "roofline's own name comes first";
  EXPECT_EQ(counted(details({{"0", "dram__bytes.sum", "byte", "100"}, {"0", "dram__bytes_read.sum", "byte", "60"}}),
                    "dram.write_bytes"),
            40);
}

TEST(NcuSpellings, OfTimeGiveTheSame) {
  for (const char* metric : {"gpu__time_duration.sum", "gpu__time_duration.avg", "gpu__time_active.sum",
                             "gpu__time_active.avg", "gpu__time_duration", "Duration"}) {
    EXPECT_THAT(times_in(details({{"0", metric, "usecond", "2.5"}})), ElementsAre(2500)) << metric;
  }
  EXPECT_THAT(times_in(details({{"0", "sm__cycles_elapsed.avg", "cycle", "3000"},
                                {"0", "sm__cycles_elapsed.avg.per_second", "cycle/nsecond", "1.5"}})),
              ElementsAre(2000));
  EXPECT_THAT(times_in(details({{"0", "sm__cycles_elapsed.avg", "cycle", "3000"}})), ElementsAre(0));
}

/// Requests of a transpose of 8192 x 8192 fp32 values.
constexpr double kRequests = 8192.0 * 8192 / 32;

/// A launch at a quarter of the memory roof of an H100, with these metrics besides.
std::string transpose(const std::vector<std::pair<std::string, double>>& metrics, bool dram = true) {
  std::vector<MetricRow> rows = {{"0", kTime, "ns", "612000"},
                                 {"0", "device__attribute_display_name", "", "NVIDIA H100 80GB HBM3"},
                                 {"0", "device__attribute_multiprocessor_count", "", "132"}};
  if (dram) rows.push_back({"0", "dram__bytes_read.sum", "byte", "268435456"});
  if (dram) rows.push_back({"0", "dram__bytes_write.sum", "byte", "268435456"});
  rows.push_back({"0", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "%", "0"});
  for (const char* type : {"d", "f", "h"}) {
    for (const char* operation : {"add", "mul", "fma"}) {
      const std::string name = fmt::format("smsp__sass_thread_inst_executed_op_{}{}_pred_on.sum", type, operation);
      rows.push_back({"0", name, "inst", "0"});
    }
  }
  for (const auto& [metric, value] : metrics) rows.push_back({"0", metric, "", fmt::format("{:.0f}", value)});
  std::string text = details(rows);
  for (std::size_t at = text.find("(64, 1, 1)"); at != std::string::npos; at = text.find("(64, 1, 1)", at)) {
    text.replace(at, 4, "(65536,");
  }
  return text;
}

Report report_of_h100(std::string_view text) {
  DeviceFacts device;
  device.name = "NVIDIA H100 80GB HBM3";
  device.sms = 132;
  const TemporaryFile file("a.csv", text);
  return report_of_file(file.path(), data_sheet_machine(device));
}

Verdict verdict_of(std::string_view text) { return verdicts(report_of_h100(text)).at(0); }

/// Sectors per request of loads and stores.
std::vector<std::pair<std::string, double>> accesses(double loads, double stores) {
  return {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", loads * kRequests},
          {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", kRequests},
          {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", stores * kRequests},
          {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", kRequests}};
}

TEST(NcuVerdicts, NameScatteredAccessesWithoutTheirBytes) {
  constexpr double kSaving = 612e-6 - 2 * 268435456 / 3.352e12;
  for (const auto& [loads, stores, rule] :
       {std::tuple(4, 32, "many-sector-stores"), std::tuple(32, 4, "many-sector-loads")}) {
    const Verdict verdict = verdict_of(transpose(accesses(loads, stores)));
    EXPECT_EQ(verdict.rule, rule);
    EXPECT_THAT(verdict.finding, AllOf(HasSubstr("32"), HasSubstr("2×")));
    EXPECT_NEAR(verdict.total_gain_s, kSaving, 0.01 * kSaving);
    EXPECT_EQ(verdict_of(transpose(accesses(loads, stores), false)).rule, rule) << "without a roof";
  }
  // 4 bytes per thread in order are 4 sectors, 16 bytes are 16, or 17 at any address.
  for (const double sectors : {4.0, 8.0, 16.0, 17.0}) {
    EXPECT_EQ(verdict_of(transpose(accesses(sectors, sectors))).rule, "latency") << sectors;
  }
  const std::vector<std::pair<std::string, double>> few = {
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 4 * kRequests},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", kRequests},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 0.32 * kRequests},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 0.01 * kRequests}};
  EXPECT_EQ(verdict_of(transpose(few)).rule, "latency") << "a hundredth of the stores";
}

TEST(NcuVerdicts, NameScatteredStoresByOtherMetrics) {
  EXPECT_EQ(verdict_of(transpose({{"smsp__inst_executed_op_global_st.sum", kRequests},
                                  {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 32 * kRequests}}))
                .rule,
            "many-sector-stores");
  auto excess = accesses(4, 32);
  excess.emplace_back("derived__memory_l2_theoretical_sectors_global_excessive", 28 * kRequests);
  const Verdict bounded = verdict_of(transpose(excess));
  EXPECT_EQ(bounded.rule, "many-sector-stores");
  EXPECT_THAT(bounded.finding, HasSubstr("4.6×")) << "32 of 32 - (28 - 3): the loads have 3 in excess at most";
  excess = accesses(4, 32);
  excess.emplace_back("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", 4);
  EXPECT_THAT(verdict_of(transpose(excess)).finding, HasSubstr("8×")) << "of 32 bytes, 4 are used";
  EXPECT_EQ(verdict_of(transpose(excess)).rule, "scattered-stores");
  // 8 bytes per thread with a stride of two: no more sectors than 16 bytes in order have.
  excess = accesses(2, 16);
  EXPECT_EQ(verdict_of(transpose(excess)).rule, "latency");
  excess.emplace_back("memory_l2_theoretical_sectors_global", 18 * kRequests);
  excess.emplace_back("memory_l2_theoretical_sectors_global_ideal", 10 * kRequests);
  EXPECT_EQ(verdict_of(transpose(excess)).rule, "many-sector-stores");
  const std::string sum = "derived__memory_l2_theoretical_sectors_global_excessive";
  EXPECT_EQ(verdict_of(transpose({{sum, 28 * kRequests}})).rule, "excess-sectors");
  EXPECT_EQ(verdict_of(transpose({{sum, 0}})).rule, "latency");
}

TEST(NcuVerdicts, NameBankConflictsByTheirCycles) {
  const auto with = [](double conflicts) {
    auto metrics = accesses(4, 4);
    metrics.emplace_back("sm__cycles_elapsed.avg", 1e6);
    metrics.emplace_back("derived__memory_l1_wavefronts_shared_excessive", conflicts * 132e6);
    return report_of_h100(transpose(metrics));
  };
  EXPECT_EQ(verdicts(with(0.5)).at(0).rule, "bank-conflict-cycles");
  EXPECT_NEAR(with(0.5).profile->savings.at(0).seconds, 0.5 * 612e-6, 1e-6);
  EXPECT_EQ(verdicts(with(0.05)).at(0).rule, "latency");
}

TEST(NcuRepeats, RowsThatAreThereTwiceCountOnce) {
  const std::vector<MetricRow> first = {{"0", "gpu__time_duration.sum", "ns", "500"},
                                        {"1", "gpu__time_duration.sum", "ns", "700"}};
  EXPECT_THAT(times_in(details(first) + detail_rows(first)), ElementsAre(500, 700));
  const std::string header =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"ns\"\n";
  const std::string rows = "\"0\",\"7\",\"k\",\"500\"\n\"1\",\"7\",\"k\",\"700\"\n";
  EXPECT_THAT(times_in(header + rows + rows), ElementsAre(500, 700));
  EXPECT_THAT(notes_in(header + rows + rows), HasSubstr("2 rows"));
  EXPECT_THAT(notes_in(header + rows), testing::Not(HasSubstr("rows")));
}

TEST(NcuRepeats, IdsThatStartAgainAreOtherLaunches) {
  const std::vector<MetricRow> first = {{"0", "gpu__time_duration.sum", "ns", "500"},
                                        {"1", "gpu__time_duration.sum", "ns", "700"}};
  const std::vector<MetricRow> second = {{"0", "gpu__time_duration.sum", "ns", "600"},
                                         {"1", "gpu__time_duration.sum", "ns", "800"}};
  const std::string text = details(first) + detail_rows(second);
  EXPECT_THAT(times_in(text), ElementsAre(500, 700, 600, 800));
  EXPECT_THAT(notes_in(text), HasSubstr("2 launches"));
  // Metrics of a launch in two places of the file are of one launch.
  EXPECT_THAT(times_in(details({first[0], first[1], {"0", "dram__bytes_read.sum", "byte", "64"}})),
              ElementsAre(500, 700));
}

TEST(NcuRepeats, AnotherKernelOfThatIdIsAnotherLaunch) {
  const std::string first = detail_rows({{"0", kTime, "ns", "5000"}, {"0", "dram__bytes_read.sum", "byte", "64"}});
  std::string second = detail_rows({{"0", kTime, "ns", "7000"}, {"0", "dram__bytes_read.sum", "byte", "64"}});
  EXPECT_THAT(times_in(kDetailHeader + first + first), ElementsAre(5000));
  for (std::size_t at = second.find("k("); at != std::string::npos; at = second.find("k(", at + 1)) second[at] = 'j';
  EXPECT_THAT(times_in(kDetailHeader + first + second), ElementsAre(5000, 7000));
}

/// An A100 whose launch of 1 ms has these metrics besides.
Report launch_on_a100(std::vector<MetricRow> rows) {
  rows.push_back({"0", kTime, "ns", "1000000"});
  const TemporaryFile file("a.csv", details(rows));
  return report_of_file(file.path(), data_sheet_machine({.name = "NVIDIA A100-SXM4-80GB"}));
}

std::vector<MetricRow> with(std::vector<MetricRow> rows, const std::vector<MetricRow>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

TEST(NcuParts, BytesAreKnownWithoutFlops) {
  const std::vector<MetricRow> bytes = {{"0", "dram__bytes_read.sum", "byte", "800000000"},
                                        {"0", "dram__bytes_write.sum", "byte", "200000000"}};
  const std::vector<MetricRow> flops = {{"0", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", "1000"},
                                        {"0", "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "inst", "1000"},
                                        {"0", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "1000"},
                                        {"0", "sm__inst_executed_pipe_tensor.sum", "inst", "0"}};
  const Report part = launch_on_a100(bytes), whole = launch_on_a100(with(bytes, flops)), none = launch_on_a100(flops);
  const Point& row = part.points.at(0);
  EXPECT_EQ(row.work.bytes.at(Level::hbm).total(), 1e9);
  EXPECT_EQ(row.bound.label, BoundLabel::memory);
  EXPECT_NEAR(row.fraction_of_roof(), whole.points.at(0).fraction_of_roof(), 1e-9);
  EXPECT_FALSE(std::isfinite(row.bound.arithmetic_intensity));
  EXPECT_THAT(row.profiled->not_counted, AllOf(HasSubstr("FP32"), HasSubstr("tensor")));
  EXPECT_TRUE(is_counted_in_part(row));
  EXPECT_FALSE(is_counted_in_part(whole.points.at(0)));
  EXPECT_TRUE(std::isfinite(whole.points.at(0).bound.arithmetic_intensity));
  EXPECT_EQ(work_source(none.points.at(0)), "") << "FLOPs alone give no bound";
  for (const Verdict& verdict : verdicts(part)) {
    for (const auto& [what, value] : verdict.evidence) EXPECT_THAT(what, testing::Not(HasSubstr("FP32")));
  }
}

TEST(NcuParts, AKernelThatDoesNothingNeedsNoOtherReport) {
  const Report report = launch_on_a100({{"0", "dram__bytes_read.sum", "byte", "0"},
                                        {"0", "dram__bytes_write.sum", "byte", "0"},
                                        {"0", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst", "0"},
                                        {"0", "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "inst", "0"},
                                        {"0", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "0"},
                                        {"0", "sm__inst_executed_pipe_tensor.sum", "inst", "0"}});
  ASSERT_EQ(verdicts(report).size(), 1U);
  EXPECT_THAT(verdicts(report)[0].action, testing::Not(HasSubstr("ncu")));
  const Report unknown = launch_on_a100({});
  EXPECT_THAT(verdicts(unknown).at(0).action, HasSubstr("ncu"));
}

TEST(NcuParts, LaunchesOfDifferentWorkAreDifferentRows) {
  const auto launches_of = [](const char* first, const char* second) {
    std::vector<MetricRow> rows;
    for (const auto& [id, count] : {std::pair("0", first), std::pair("1", second)}) {
      rows.push_back({id, "dram__bytes.sum", "byte", "1000000"});
      for (const char* operation : {"dadd", "dmul", "dfma"}) {
        rows.push_back(
            {id, fmt::format("smsp__sass_thread_inst_executed_op_{}_pred_on.sum", operation), "inst", count});
      }
      rows.push_back({id, kTime, "ns", "1000"});
    }
    const TemporaryFile file("a.csv", details(rows));
    return report_of_file(file.path()).points.size();
  };
  EXPECT_EQ(launches_of("1000", "5000"), 2U);
  EXPECT_EQ(launches_of("1000", "1001"), 1U) << "rates are rounded";
}

}  // namespace
}  // namespace roofline
