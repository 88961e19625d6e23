// Times of imported records: what is no time is left out and counted, and no sum exceeds the wall time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <random>

#include "import/clean_times.hpp"
#include "import/roofs.hpp"
#include "report/budget.hpp"
#include "report/profile_findings.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

/// An activity of a trace; times as the file has them.
struct TraceActivity {
  std::string start = "1000", duration = "10";  ///< µs
  int stream = 7, device = 0, correlation = 1;
  std::string category = "kernel", name = "k";
  int bytes = 4096, graph_node = 0;
};

std::string event_of(const TraceActivity& activity) {
  return R"({"ph": "X", "cat": ")" + activity.category + R"(", "name": ")" + activity.name +
         R"(", "pid": 0, "tid": 7, "ts": )" + activity.start + ", \"dur\": " + activity.duration +
         R"(, "args": {"device": )" + std::to_string(activity.device) +
         ", \"context\": 1, \"stream\": " + std::to_string(activity.stream) +
         ", \"correlation\": " + std::to_string(activity.correlation) +
         ", \"bytes\": " + std::to_string(activity.bytes) +
         ", \"graph node id\": " + std::to_string(activity.graph_node) +
         R"(, "grid": [1, 1, 1], "block": [32, 1, 1]}})";
}

std::string launch_of(double start, int correlation) {
  return R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": )" +
         std::to_string(start) + R"(, "dur": 2, "args": {"correlation": )" + std::to_string(correlation) + "}}";
}

std::string trace_of_events(const std::vector<std::string>& events) {
  std::string text = R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132},
    {"id": 1, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}], "traceEvents": [)";
  for (const std::string& event : events) text += (text.back() == '[' ? "" : ", ") + event;
  return text + "]}";
}

/// A trace of these activities alone.
std::string kineto_of(const std::vector<TraceActivity>& activities) {
  std::vector<std::string> events;
  for (const TraceActivity& activity : activities) events.push_back(event_of(activity));
  return trace_of_events(events);
}

Report report_of_text(const std::string& text) { return report_of_file(TemporaryFile("trace.json", text).path()); }

TimeDefects defects_of(const std::string& text) { return import_text("trace.json", text).time_defects; }

/// An nsys export; times are SQL, in ns.
class NsysExport {
 public:
  NsysExport() : file_("times.sqlite", "") {
    std::filesystem::remove(file_.path());
    sqlite3_open(file_.path().c_str(), &database_);
    run("CREATE TABLE StringIds (id INT, value TEXT); INSERT INTO StringIds VALUES (1, 'k'), (2, 'cudaLaunchKernel');"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, correlationId INT, nameId INT, globalTid INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, streamId INT, correlationId INT, shortName INT,"
        " globalPid INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, streamId INT, correlationId INT, graphId "
        "INT);");
  }
  ~NsysExport() { sqlite3_close(database_); }
  NsysExport(const NsysExport&) = delete;
  NsysExport& operator=(const NsysExport&) = delete;

  void run(const std::string& statements) {
    EXPECT_EQ(sqlite3_exec(database_, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << statements;
  }
  void kernel(const std::string& start, const std::string& end, int correlation, int process = 1) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (" + start + ", " + end + ", 7, " + std::to_string(correlation) +
        ", 1, " + std::to_string(process * 0x1000000) + ");");
  }
  void call(const std::string& start, const std::string& end, int correlation) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (" + start + ", " + end + ", " + std::to_string(correlation) +
        ", 2, 16777217);");
  }
  void graph(int start, int end, int graph) {
    run("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (" + std::to_string(start) + ", " + std::to_string(end) +
        ", 7, 0, " + std::to_string(graph) + ");");
  }
  ImportedProfile profile() const { return read_profile_file(file_.path()); }
  Report report() const { return report_of_file(file_.path()); }

 private:
  TemporaryFile file_;
  sqlite3* database_ = nullptr;
};

TEST(ImportedTimes, ZeroTimesAreLaunchesWithoutATime) {
  const Report report = report_of_text(kineto_of({{.start = "1700000000000000", .correlation = 1},
                                                  {.start = "0", .duration = "0", .correlation = 2},
                                                  {.start = "1700000000000100", .correlation = 3}}));
  EXPECT_NEAR(report.profile->wall_s, 110e-6, 1e-9);
  ASSERT_EQ(report.points.size(), 1U);
  EXPECT_EQ(report.points[0].profiled->launches, 3);
  EXPECT_NEAR(report.points[0].profiled->total_s, 20e-6, 1e-9);
  EXPECT_EQ(report.profile->processes.at(0).without_time, 1);
}

TEST(ImportedTimes, ZeroTimesInDatabases) {
  NsysExport file;
  file.kernel("1000000000", "1000005000", 1);
  file.kernel("0", "0", 2);
  file.kernel("1000010000", "1000015000", 3);
  const Report report = file.report();
  EXPECT_NEAR(report.profile->wall_s, 15e-6, 1e-9);
  EXPECT_EQ(report.points.at(0).profiled->launches, 3);
  EXPECT_EQ(report.profile->processes.at(0).without_time, 1);
}

TEST(ImportedTimes, WithoutAnyTimeThereIsNoWallTime) {
  const Report report = report_of_text(kineto_of({{.start = "0", .duration = "0"}}));
  EXPECT_EQ(report.profile->wall_s, 0);
  EXPECT_EQ(report.points.at(0).profiled->launches, 1);
  EXPECT_FALSE(report.points.at(0).time);
}

TEST(ImportedTimes, GoodTimesHaveNoDefect) {
  const TimeDefects defects = defects_of(kineto_of({{.start = "1000"}, {.start = "1010", .correlation = 2}}));
  EXPECT_EQ(defects.kernels, 2);
  EXPECT_EQ(defects.without_time.count + defects.transfers.count + defects.host.count, 0);
  EXPECT_EQ(defects.repeated.count + defects.overlapping.count, 0);
  EXPECT_TRUE(notes_of(defects).empty());
}

TEST(ImportedTimes, OneBadRecordDoesNotEndTheImport) {
  for (const auto& [start, duration] : std::initializer_list<std::pair<const char*, const char*>>{
           {"-5", "10"}, {"1020", "-3"}, {"1e300", "1"}, {"1020", "1e300"}, {"1020", "0"}, {"5", "1e12"}, {"3", "2"}}) {
    const std::string offset = "1700000000000000";
    const TimeDefects defects = defects_of(kineto_of({{.start = offset, .correlation = 1},
                                                      {.start = start, .duration = duration, .correlation = 2},
                                                      {.start = offset + ".5e0", .stream = 8, .correlation = 3}}));
    EXPECT_EQ(defects.without_time.count, 1) << start << ' ' << duration;
    EXPECT_EQ(defects.kernels, 3);
    EXPECT_EQ(defects.without_time.first, "k");
  }
}

TEST(ImportedTimes, BadRowsOfDatabases) {
  for (const auto& [start, end] : std::initializer_list<std::pair<const char*, const char*>>{
           {"NULL", "10"}, {"20", "NULL"}, {"20", "10"}, {"-5", "10"}, {"20", "9e999"}, {"-9e999", "1"}}) {
    NsysExport file;
    file.kernel("1000", "2000", 1);
    file.kernel(start, end, 2);
    file.call(start, end, 3);
    const TimeDefects defects = file.profile().time_defects;
    EXPECT_EQ(defects.without_time.count, 1) << start << ' ' << end;
    EXPECT_EQ(defects.host.count, 1) << start << ' ' << end;
    EXPECT_NEAR(file.report().profile->wall_s, 1e-6, 1e-12);
  }
}

TEST(ImportedTimes, CopiesWithoutATimeAreLeftOut) {
  const std::string text =
      kineto_of({{.correlation = 1},
                 {.start = "0", .duration = "0", .correlation = 2, .category = "gpu_memcpy", .name = "Memcpy DtoD"},
                 {.start = "1020", .duration = "-1", .correlation = 3, .category = "gpu_memset", .name = "Memset"}});
  EXPECT_EQ(defects_of(text).transfers.count, 2);
  EXPECT_TRUE(report_of_text(text).profile->copies.empty());
}

TEST(ImportedTimes, NoActivityStartsBeforeItsLaunch) {
  const auto trace = [](const char* start) {
    return trace_of_events({launch_of(20e6, 1), event_of({.start = "20000010", .correlation = 1}), launch_of(21e6, 2),
                            event_of({.start = start, .correlation = 2}), launch_of(22e6, 3),
                            event_of({.start = "22000010", .correlation = 3})});
  };
  EXPECT_EQ(defects_of(trace("5")).without_time.count, 1);
  EXPECT_EQ(defects_of(trace("21000010")).without_time.count, 0);
  EXPECT_EQ(defects_of(trace("20999990")).without_time.count, 0) << "clocks differ a little";
}

TEST(ImportedTimes, ClocksWithAnOffsetKeepTheirTimes) {
  const std::string text = trace_of_events({launch_of(20e6, 1), event_of({.start = "10", .correlation = 1}),
                                            launch_of(21e6, 2), event_of({.start = "1000010", .correlation = 2})});
  EXPECT_EQ(defects_of(text).without_time.count, 0);
}

TEST(ImportedTimes, RepeatedRecordsCountOnce) {
  const TraceActivity kernel = {.correlation = 4};
  TraceActivity other = kernel, copy = kernel;
  other.stream = 8;
  copy.category = "gpu_memcpy";
  copy.stream = 9;
  const Report report = report_of_text(kineto_of({kernel, kernel, other, copy, copy}));
  EXPECT_EQ(report.points.at(0).profiled->launches, 2) << "on two streams";
  EXPECT_EQ(report.profile->copies.at(0).copies, 1);
  EXPECT_EQ(defects_of(kineto_of({kernel, kernel, other, copy, copy})).repeated.count, 2);
}

TEST(ImportedTimes, AStreamRunsOneRecordAtATime) {
  const auto trace = [](int stream) {
    return kineto_of({{.start = "1000", .duration = "400000", .correlation = 1},
                      {.start = "2000", .duration = "900", .stream = stream, .correlation = 2},
                      {.start = "3000", .duration = "900", .stream = stream, .correlation = 3}});
  };
  const Report cut = report_of_text(trace(7));
  EXPECT_NEAR(cut.profile->kernel_s, 2800e-6, 1e-9);
  EXPECT_NEAR(cut.profile->wall_s, 2900e-6, 1e-9);
  EXPECT_EQ(defects_of(trace(7)).overlapping.count, 1);
  const Report whole = report_of_text(trace(8));
  EXPECT_NEAR(whole.profile->kernel_s, 401800e-6, 1e-9);
  EXPECT_EQ(defects_of(trace(8)).overlapping.count, 0);
}

/// Seconds of each of these kernels, by name.
std::map<std::string, double> times_in(const Report& report) {
  std::map<std::string, double> times;
  for (const Point& point : report.points) times[point.workload.label] = point.profiled->total_s;
  return times;
}

TEST(ImportedTimes, RecordsWithOneStartTakeTurns) {
  const auto trace = [](const char* first, const char* second, const char* third_start) {
    return kineto_of({{.start = "1000", .duration = first, .correlation = 1, .name = "a"},
                      {.start = "1000", .duration = second, .correlation = 2, .name = "b"},
                      {.start = third_start, .duration = "50", .correlation = 3, .name = "c"}});
  };
  const auto apart = times_in(report_of_text(trace("100", "300", "1300")));
  EXPECT_NEAR(apart.at("a"), 100e-6, 1e-9);
  EXPECT_NEAR(apart.at("b"), 200e-6, 1e-9);
  EXPECT_NEAR(apart.at("c"), 50e-6, 1e-9);
  const auto cut = times_in(report_of_text(trace("100", "300", "1200")));
  EXPECT_NEAR(cut.at("b"), 100e-6, 1e-9);
  const auto equal = times_in(report_of_text(trace("100", "100", "1300")));
  EXPECT_NEAR(equal.at("a"), 50e-6, 1e-9);
  EXPECT_NEAR(equal.at("b"), 50e-6, 1e-9);
  const TimeDefects defects = defects_of(trace("100", "100", "1300"));
  EXPECT_EQ(defects.without_time.count, 0);
  EXPECT_EQ(defects.overlapping.count, 2);
}

TEST(ImportedTimes, KernelsOfUnknownStreamsRunSideBySide) {
  // As PyTorch 2.7's example for Inductor: on the track of the host's thread.
  const auto kernel = [](int process, int thread, int correlation) {
    return fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "k{}", "pid": {}, "tid": {}, "ts": 1000, "dur": 100,
                          "args": {{"device": 0, "correlation": {}}}}})",
                       correlation, process, thread, correlation);
  };
  const std::string host = launch_of(900, 9);  // process 1
  const Report unknown = report_of_text(trace_of_events({host, kernel(1, 1, 1), kernel(1, 1, 2)}));
  EXPECT_NEAR(unknown.profile->kernel_s, 200e-6, 1e-9);
  const Report known = report_of_text(trace_of_events({host, kernel(0, 7, 1), kernel(0, 7, 2)}));
  EXPECT_NEAR(known.profile->kernel_s, 100e-6, 1e-9) << "a track of the GPU is a stream";
}

TEST(ImportedTimes, ProcessesWithOneGpuNumberHaveAGpuEach) {
  const auto trace = [](int second_process) {
    std::vector<std::string> events;
    for (const int process : {0, second_process}) {
      for (int i = 0; i < 4; ++i) {
        events.push_back(fmt::format(
            R"({{"ph": "X", "cat": "kernel", "name": "rank{0}", "pid": {0}, "tid": 7, "ts": {1}, "dur": 80,
               "args": {{"device": 0, "stream": 7, "correlation": {2}}}}})",
            process, 1000 + 100 * i + (process == 0 ? 0 : 37), process * 10 + i));
      }
    }
    return trace_of_events(events);
  };
  const Report two = report_of_text(trace(1000));
  EXPECT_NEAR(two.profile->kernel_s, 640e-6, 1e-9);
  EXPECT_EQ(two.profile->devices.size(), 2U);
  EXPECT_THAT(two.notes, testing::Contains(testing::HasSubstr("processes")));
  EXPECT_EQ(defects_of(trace(1000)).overlapping.count, 0);
  const Report one = report_of_text(trace(0));
  EXPECT_EQ(one.profile->devices.size(), 1U);
  EXPECT_GT(defects_of(trace(0)).repeated.count + defects_of(trace(0)).overlapping.count, 0);
}

TEST(ImportedTimes, CopiesThatWereCutSayWhyTheyAreAboveTheirRoof) {
  const auto trace = [](const char* second) {
    return kineto_of({{.start = "1000", .duration = "500", .category = "gpu_memset", .bytes = 1'000'000'000},
                      {.start = second, .duration = "900"}});
  };
  const auto evidence = [](const std::string& text) {
    const Report report =
        report_of_file(TemporaryFile("trace.json", text).path(), data_sheet_machine({.name = "NVIDIA H100 80GB HBM3"}));
    const auto& savings = report.profile->savings;
    const auto copies =
        std::find_if(savings.begin(), savings.end(), [](const auto& one) { return one.kind == SavingKind::copies; });
    return copies == savings.end() ? std::string() : copies->evidence;
  };
  EXPECT_TRUE(defects_of(trace("1010")).shortened.transfers);
  EXPECT_THAT(evidence(trace("1010")), testing::HasSubstr("above its roof"));
  EXPECT_FALSE(defects_of(trace("1600")).shortened.transfers);
  EXPECT_THAT(evidence(trace("1600")), testing::Not(testing::HasSubstr("above its roof")));
}

TEST(ImportedTimes, AFileOfRecordsWithoutTimesNamesThem) {
  const std::string text = kineto_of({{.start = "0", .duration = "0", .category = "gpu_memcpy"}});
  EXPECT_EQ(defects_of(text).transfers.count, 1);
  try {
    report_of_text(text);
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.hint(), testing::HasSubstr("left out"));
  }
}

TEST(ImportedTimes, EventsWithoutTimesAreNamedWhereThereAreNoOthers) {
  const std::string text = trace_of_events(
      {R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": "soon", "dur": 2, "args": {}})"});
  EXPECT_THAT(refusal_of("trace.json", text), testing::HasSubstr("aten::mm"));
}

TEST(ImportedTimes, QuotedSizesAreNumbers) {
  const Report report = report_of_text(trace_of_events(
      {R"({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "ts": 1, "dur": 2, "args": {"bytes": "4096"}})"}));
  EXPECT_EQ(report.profile->copies.at(0).bytes, 4096);
}

TEST(ImportedTimes, RoundedTimesOverlapWithoutANote) {
  const std::string text = kineto_of(
      {{.start = "1000", .duration = "10.5", .correlation = 1}, {.start = "1010", .duration = "5", .correlation = 2}});
  EXPECT_EQ(defects_of(text).overlapping.count, 0);
  EXPECT_NEAR(report_of_text(text).profile->kernel_s, 15.5e-6, 1e-9);
}

TEST(ImportedTimes, KernelsOfAGraphRunSideBySide) {
  const std::string text = kineto_of({{.start = "1000", .duration = "100", .correlation = 1, .graph_node = 5},
                                      {.start = "1020", .duration = "100", .correlation = 1, .graph_node = 6}});
  EXPECT_EQ(defects_of(text).overlapping.count, 0);
  EXPECT_NEAR(report_of_text(text).profile->kernel_s, 200e-6, 1e-9);
}

TEST(ImportedTimes, StreamsOfTwoProcessesAreTwo) {
  NsysExport one, two;
  for (NsysExport* file : {&one, &two}) {
    file->kernel("10000", "90000", 1, 1);
    file->kernel("20000", "95000", 1, file == &one ? 1 : 2);
  }
  EXPECT_EQ(one.profile().time_defects.overlapping.count, 1);
  EXPECT_EQ(two.profile().time_defects.overlapping.count, 0);
}

TEST(ImportedTimes, WholeGraphsHaveANameAndAShare) {
  NsysExport file;
  file.kernel("0", "1000", 1);
  file.graph(2000, 8000, 3);
  file.graph(9000, 10000, 3);
  const ImportedProfile profile = file.profile();
  EXPECT_EQ(profile.whole_graphs.launches, 2);
  EXPECT_NEAR(profile.whole_graphs.share, 0.7, 1e-9);
  const Report report = file.report();
  EXPECT_EQ(row_named(report, "graph 3").workload.label, "graph 3");
  EXPECT_EQ(row_named(report, "graph 3").profiled->launches, 2);
}

TEST(ImportedTimes, WithoutWholeGraphsNoShare) {
  NsysExport file;
  file.kernel("1000", "2000", 1);
  EXPECT_EQ(file.profile().whole_graphs.launches, 0);
  EXPECT_EQ(file.profile().whole_graphs.share, 0);
}

TEST(ImportedTimes, ACopyWithinTheMemoryHasItsSizeAndMovesTwice) {
  const auto copies = [](const char* name) {
    return report_of_text(kineto_of({{.category = "gpu_memcpy", .name = name, .bytes = 5'283'040}}))
        .profile->copies.at(0);
  };
  const CopySum within = copies("Memcpy DtoD (Device -> Device)");
  EXPECT_EQ(within.bytes, 5'283'040);
  EXPECT_EQ(moved_bytes(within), 2 * 5'283'040);
  const CopySum to_device = copies("Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(to_device.bytes, 5'283'040);
  EXPECT_EQ(moved_bytes(to_device), 5'283'040);
}

/// Activities on two GPUs and three streams each, one in four with a defect.
std::vector<TraceActivity> random_activities(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<TraceActivity> activities;
  const int count = 1 + below(60);
  for (int i = 0; i < count; ++i) {
    TraceActivity activity;
    activity.start = std::to_string(1'000'000 + below(2000));
    activity.duration = std::to_string(below(100)) + ".25";
    activity.device = below(2);
    activity.stream = below(3);
    activity.correlation = i + 1;
    activity.name = "k" + std::to_string(below(4));
    if (below(4) == 0) {
      activity.category = below(2) == 0 ? "gpu_memcpy" : "gpu_memset";
      activity.name = "Memcpy DtoD (Device -> Device)";
    }
    switch (below(24)) {
      case 0:
        activity.start = activity.duration = "0";
        break;
      case 1:
        activity.duration = "-4";
        break;
      case 2:
        activity.start = "-1000";
        break;
      case 3:
        activity.duration = "1e300";
        break;
      case 4:
        activity.start = "1700000000000000";
        break;
      case 5:
        activity.duration = "0";
        break;
      default:
        break;
    }
    activities.push_back(activity);
    if (below(12) == 0) activities.push_back(activity);
  }
  return activities;
}

/// Of each stream: busy time, and from the first start to the last end.
void expect_streams_within_their_span(const ProcessTrace& trace) {
  using Stream = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Stream, std::vector<Span>> streams;
  const auto take = [&](const auto& records) {
    for (const auto& record : records) {
      if (record.end != 0) streams[{record.device, record.stream}].push_back({record.start, record.end});
    }
  };
  take(trace.kernels);
  take(trace.copies);
  take(trace.fills);
  for (const auto& [stream, spans] : streams) {
    std::uint64_t busy = 0, first = spans.front().start, last = 0;
    for (const Span& span : spans) {
      ASSERT_LE(span.start, span.end);
      busy += span.length();
      first = std::min(first, span.start);
      last = std::max(last, span.end);
    }
    constexpr std::uint64_t kRounding = 1000;  // overlaps of a microsecond are not cut
    EXPECT_LE(busy, last - first + kRounding * spans.size());
    EXPECT_LE(last, trace.last_time);
  }
}

TEST(ImportedTimes, RandomTimelinesAddUp) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const TemporaryFile file("trace.json", kineto_of(random_activities(random)));
    expect_streams_within_their_span(read_profile_file(file.path()).trace);
    const Report report = report_of_file(file.path());
    const Profile& profile = *report.profile;
    EXPECT_LE(profile.wall_s, 3.0) << "all good records lie within 2.1 ms, or one second apart";
    for (const WallTime& wall : profile.devices) {
      const double parts = wall.before_s + wall.kernels_s + wall.copies_s + wall.counting_s + wall.idle_launching_s +
                           wall.idle_waiting_s + wall.idle_elsewhere_s + wall.idle_unknown_s + wall.after_s;
      EXPECT_NEAR(parts, profile.wall_s, 1e-12) << "round " << round;
    }
    const auto whole = whole_budget(report);
    if (!whole) continue;
    const double all = profile.steps ? static_cast<double>(profile.steps->count) * whole->wall_s : whole->wall_s;
    double saved = 0;
    for (const Saving& saving : profile.savings) saved += saving.seconds;
    EXPECT_LE(saved, all * (1 + 1e-9)) << "round " << round;
    for (const WallShare& share : whole->shares) EXPECT_LE(share.seconds, whole->wall_s * (1 + 1e-9));
  }
}

}  // namespace
}  // namespace roofline
