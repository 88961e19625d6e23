// Counting inside of a program, against a CUPTI and a driver that are made up: what is counted, and what must never
// happen. Their functions are found by dlsym() in this executable, as those of the real ones in their libraries.
#include "inject/counting.hpp"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cupti/profiler.hpp"
#include "inject/cupti_library.hpp"
#include "inject/gpu_claim.hpp"
#include "inject/session.hpp"

namespace {

/// Both machines and what has been asked of them. Two counters of the hardware fit into a pass.
struct Fake {
  std::map<std::string, CUptiResult> refusals;  ///< by the name of CUPTI's function
  std::function<void()> starting;               ///< called while CUPTI's ranges are being switched on
  CUpti_Profiler_Support_Level confidential = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  std::atomic<bool> busy = false;  ///< the GPU has something to do, for ever unless it is told otherwise
  std::atomic<bool> capturing = false;
  std::atomic<int> under_way = 0;     ///< launches that the driver is in and that are not counted
  std::atomic<bool> refills = false;  ///< busy again whenever its end is to be waited for
  int waits = 0;                      ///< for its end
  int calls = 0;                      ///< of the profiler
  std::atomic<int> would_hang = 0;    ///< calls while the GPU was busy, a launch or a capture under way
  std::atomic<int> lost = 0;          ///< launches that fell into another one's range of CUPTI's
  int misuses = 0;                    ///< out of their order

  CUcontext current = nullptr;
  CUcontext busy_one = nullptr;  ///< has something to do, others need not
  CUcontext enabled = nullptr;
  bool automatic = false, configured = false, started = false, in_range = false;
  std::size_t room = 0;
  std::vector<int> ranges;      ///< the kernel that ran in each
  std::atomic<int> kernel = 0;  ///< the last one
};
Fake fake;
/// Each has a GPU of its own: what an earlier one left claimed does not hinder it.
int processes = 0;

void make_anew() {
  std::destroy_at(&fake);
  std::construct_at(&fake);
  fake.current = reinterpret_cast<CUcontext>(std::uintptr_t{1});
}

/// Any of the profiler's calls may wait for all that the context has to do.
CUptiResult used(const char* function, bool in_order = true) {
  ++fake.calls;
  const bool session_busy = fake.enabled != nullptr && fake.enabled == fake.busy_one;
  if (fake.busy || session_busy || fake.capturing || fake.under_way > 0) ++fake.would_hang;
  if (!in_order) ++fake.misuses;
  const auto refusal = fake.refusals.find(function);
  return refusal != fake.refusals.end() ? refusal->second : CUPTI_SUCCESS;
}

struct Host {
  std::vector<std::string> names;
};
Host& host_of(CUpti_Profiler_Host_Object* object) { return *reinterpret_cast<Host*>(object); }

/// What a kernel makes a counter count.
double count_of(const std::string& name, int kernel) { return 1000.0 * kernel + static_cast<double>(name.size()); }

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default"), used))

FAKE CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new Host);
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  delete &host_of(params->pHostObject);
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* params) {
  return std::strncmp(params->pMetricName, "absent", 6) == 0 ? CUPTI_ERROR_INVALID_METRIC_NAME : CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    host_of(params->pHostObject).names.emplace_back(params->ppMetricNames[i]);
  }
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  params->configImageSize = 8;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  std::uint64_t passes = 0;
  std::size_t hardware = 0, instrumented = 0;
  for (const std::string& name : host_of(params->pHostObject).names) {
    if (name == "greedy") passes += 2;
    ++(name.find("_sass_") == std::string::npos ? hardware : instrumented);
  }
  passes += (hardware + 1) / 2 + (instrumented > 0 ? 1 : 0);
  std::memcpy(params->pConfigImage, &passes, sizeof(passes));
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  std::memcpy(&params->numOfPasses, params->pConfigImage, sizeof(std::uint64_t));
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    const std::string name = params->ppMetricNames[i];
    params->pMetricValues[i] = name == "broken" ? NAN : count_of(name, fake.ranges.at(params->rangeIndex));
  }
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return used("initialize"); }
FAKE CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  params->isSupported = params->architecture = params->vGpu = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  params->confidentialCompute = fake.confidential;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  params->pChipName = "XY100";
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
  params->counterAvailabilityImageSize = 4;
  return used("availability");
}
FAKE CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  const CUptiResult result = used("enable", fake.enabled == nullptr);
  if (result != CUPTI_SUCCESS) return result;
  fake.enabled = params->ctx;
  fake.configured = fake.started = fake.in_range = false;
  params->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&fake);
  return result;
}
FAKE CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) {
  const CUptiResult result = used("disable", fake.enabled != nullptr && !fake.started);
  fake.enabled = nullptr;
  return result;
}
FAKE CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  params->counterDataSize = 8;
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiRangeProfilerCounterDataImageInitialize(CUpti_RangeProfiler_CounterDataImage_Initialize_Params*) {
  fake.ranges.clear();
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  fake.automatic = params->range == CUPTI_AutoRange;
  fake.room = params->maxRangesPerPass;
  fake.configured = true;
  return used("set_config", fake.enabled != nullptr && !fake.started);
}
FAKE CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
  const CUptiResult result = used("start", fake.configured && !fake.started);
  fake.started = result == CUPTI_SUCCESS;
  if (fake.automatic && fake.starting) std::exchange(fake.starting, nullptr)();
  return result;
}
FAKE CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params*) {
  const CUptiResult result = used("stop", fake.started && !fake.in_range);
  fake.started = fake.configured = false;
  return result;
}
FAKE CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params*) {
  const bool in_order = fake.started && !fake.in_range && !fake.automatic && fake.ranges.size() < fake.room;
  fake.in_range = true;
  fake.kernel = 0;
  return used("push", in_order);
}
FAKE CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params*) {
  const CUptiResult result = used("pop", fake.in_range);
  fake.in_range = false;
  fake.ranges.push_back(fake.kernel);
  return result;
}
FAKE CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params*) {
  return used("decode", !fake.started);
}
FAKE CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  params->numTotalRanges = fake.ranges.size();
  return CUPTI_SUCCESS;
}
FAKE CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "REFUSED";
  return CUPTI_SUCCESS;
}

#undef cuEventCreate
FAKE CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = fake.current;
  return CUDA_SUCCESS;
}
FAKE CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
#undef cuDeviceGetUuid
FAKE CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice) {
  *uuid = {};
  std::snprintf(uuid->bytes, sizeof(uuid->bytes), "%d.%d", static_cast<int>(getpid()), processes);
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(fake.current);
  return CUDA_SUCCESS;
}
FAKE CUresult cuEventQuery(CUevent event) {
  if (fake.capturing) ++fake.would_hang;
  return fake.busy || event == reinterpret_cast<CUevent>(fake.busy_one) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
FAKE CUresult cuCtxRecordEvent(CUcontext, CUevent) {
  if (fake.capturing) ++fake.would_hang;
  ++fake.waits;
  if (fake.refills) fake.busy = true;
  return CUDA_SUCCESS;
}

namespace roofline::inject {
namespace {

Session* current_session = nullptr;

}  // namespace

Session* session() { return current_session; }
const Cupti& cupti() {
  static const Cupti table(dlopen(nullptr, RTLD_NOW));
  return table;
}
const Driver& driver() {
  static const Driver table(dlopen(nullptr, RTLD_NOW));
  return table;
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

CUcontext context_number(std::uintptr_t number) { return reinterpret_cast<CUcontext>(number); }

/// What a spool says of counting.
struct Written {
  std::map<spool::Id, std::string> texts;
  std::vector<std::string> quantities;                                     ///< those that are counted
  std::vector<std::string> missing;                                        ///< those that the chip has not
  std::map<spool::Id, std::map<std::string, std::vector<double>>> counts;  ///< kind, quantity
  std::map<std::uint32_t, spool::Id> kinds;                                ///< by the correlation of a counted launch
  std::map<spool::Id, std::string> uncounted;
  std::vector<std::string> not_counted, ended;  ///< notes
};

template <typename Record>
Record record_at(const std::string& bytes, std::size_t position) {
  Record record;
  std::memcpy(&record, bytes.data() + position, sizeof(record));
  return record;
}

class CountingTest : public testing::Test {
 protected:
  void SetUp() override {
    make_anew();
    folder_ = std::filesystem::temp_directory_path() / ("roofline-counting-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    setenv(spool::kCountTimeVariable, "30", 1);
    write_metrics("a 1 a\nb 2 absent1 bb\nc 1 ccc\nd 1 absent2\ne 1 e_sass_e\nf 1 greedy\ng 1 broken\n");
    begin_process();
  }
  void TearDown() override {
    EXPECT_EQ(fake.would_hang, 0);
    EXPECT_EQ(fake.lost, 0);
    EXPECT_EQ(fake.misuses, 0);
    fake.busy = false;
    fake.capturing = false;
    current_session = nullptr;
    std::filesystem::remove_all(folder_);
  }

  void write_metrics(const std::string& text) { std::ofstream(folder_ / spool::kMetricsFile) << text; }
  void begin_process() {
    ++processes;
    current_session = new Session;  // never freed, as in a program
    current_session->folder = folder_;
    std::filesystem::remove(folder_ / "spool");
    ASSERT_TRUE(current_session->spool.open(folder_ / "spool", UINT64_MAX));
    numbers_.clear();
  }

  LaunchSite site_of(spool::Id kind, std::uint32_t flags = 0) {
    return {.context = fake.current,
            .kind = kind,
            .alike = kind,
            .flags = flags,
            .number = ++numbers_[kind],
            .correlation = ++correlation_};
  }
  /// Whether it was counted.
  bool launch(const LaunchSite& site, bool succeeds = true) {
    const bool counted = counting_enters(site);
    if (counted) {
      run(static_cast<int>(site.kind));
      counting_exits(site, succeeds);
    } else {
      work([&] { fake.kernel = static_cast<int>(site.kind); });
    }
    return counted;
  }
  /// What is given to the GPU and not counted.
  template <typename Call>
  static void work(Call call) {
    const bool known = counting_work_begins();
    ++fake.under_way;
    call();
    if (fake.started && fake.automatic) ++fake.lost;
    --fake.under_way;
    if (known) counting_work_ends();
  }
  /// Launches until it is counted: attempts keep a distance.
  void launch_until_counted(spool::Id kind) {
    while (!launch(kind)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  bool launch(spool::Id kind, std::uint32_t flags = 0) { return launch(site_of(kind, flags)); }
  static void run(int kernel) {
    fake.kernel = kernel;
    if (fake.started && fake.automatic) fake.ranges.push_back(kernel);
  }
  void steps(int count, spool::Id kinds) {
    for (int step = 0; step < count; ++step) {
      for (spool::Id kind = 1; kind <= kinds; ++kind) launch(kind);
    }
  }

  Written written() {
    current_session->spool.flush();
    std::ifstream file(folder_ / "spool", std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    const std::string bytes = content.str();
    Written result;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> places;
    for (std::size_t position = 8; position < bytes.size();) {
      const auto header = record_at<spool::Header>(bytes, position);
      const std::size_t body = position + sizeof(header);
      if (header.type == spool::Type::text) {
        const auto text = record_at<spool::Text>(bytes, body);
        result.texts[text.id] = bytes.substr(body + sizeof(text), text.length);
      } else if (header.type == spool::Type::metric) {
        const auto metric = record_at<spool::Metric>(bytes, body);
        const std::string quantity = result.texts[metric.quantity];
        (metric.name != 0 ? result.quantities : result.missing).push_back(quantity);
        if (metric.name != 0) places[{metric.group, metric.index}] = quantity;
      } else if (header.type == spool::Type::counts) {
        const auto counts = record_at<spool::Counts>(bytes, body);
        result.kinds[counts.correlation] = counts.kind;
        for (std::uint32_t i = 0; i < counts.values; ++i) {
          result.counts[counts.kind][places.at({counts.group, i})].push_back(
              record_at<double>(bytes, body + sizeof(counts) + i * sizeof(double)));
        }
      } else if (header.type == spool::Type::uncounted) {
        const auto uncounted = record_at<spool::Uncounted>(bytes, body);
        result.uncounted[uncounted.kind] = result.texts[uncounted.reason];
      } else if (header.type == spool::Type::note) {
        const auto note = record_at<spool::Note>(bytes, body);
        const std::string text = bytes.substr(body + sizeof(note), header.size - sizeof(header) - sizeof(note)).c_str();
        if (note.code == spool::NoteCode::not_counted) result.not_counted.push_back(text);
        if (note.code == spool::NoteCode::counting_ended) result.ended.push_back(text);
      }
      position += header.size;
    }
    return result;
  }

  std::filesystem::path folder_;
  std::map<spool::Id, std::uint64_t> numbers_;
  std::uint32_t correlation_ = 0;
};

TEST_F(CountingTest, EveryKindHasWhatItsKernelDidOnce) {
  steps(40, 5);
  counting_finish();
  const Written spool = written();
  EXPECT_THAT(spool.quantities, ElementsAre("a", "b", "c", "e", "g"));
  EXPECT_THAT(spool.missing, ElementsAre("d", "f")) << "no name; more than a pass alone";
  ASSERT_THAT(spool.counts, SizeIs(5));
  for (const auto& [kind, quantities] : spool.counts) {
    const int kernel = static_cast<int>(kind);
    EXPECT_THAT(quantities.at("a"), ElementsAre(count_of("a", kernel)));
    EXPECT_THAT(quantities.at("b"), ElementsAre(2 * count_of("bb", kernel))) << "scaled";
    EXPECT_THAT(quantities.at("c"), ElementsAre(count_of("ccc", kernel)));
    EXPECT_THAT(quantities.at("e"), ElementsAre(count_of("e_sass_e", kernel)));
    ASSERT_THAT(quantities.at("g"), SizeIs(1));
    EXPECT_TRUE(std::isnan(quantities.at("g")[0]));
  }
  for (const auto& [correlation, kind] : spool.kinds) EXPECT_EQ((correlation - 1) % 5 + 1, kind);
  EXPECT_THAT(spool.uncounted, IsEmpty());
  EXPECT_THAT(spool.not_counted, IsEmpty());
  EXPECT_THAT(spool.ended, ElementsAre(HasSubstr("5 of 5 ")));
  EXPECT_EQ(fake.enabled, nullptr);
  EXPECT_GT(counting_cost(), 0U);
}

TEST_F(CountingTest, HeldItLeavesTheProgramAlone) {
  steps(3, 5);
  ASSERT_NE(fake.enabled, nullptr) << "a session is open";
  const std::size_t before = written().kinds.size();
  EXPECT_TRUE(counting_state().missing);
  EXPECT_FALSE(counting_state().rests);
  EXPECT_TRUE(counting_asks());

  EXPECT_TRUE(counting_holds());
  EXPECT_EQ(fake.enabled, nullptr);
  EXPECT_FALSE(counting_asks());
  EXPECT_FALSE(counting_work_begins()) << "no launch waits for counters";
  const std::size_t held = written().kinds.size();
  EXPECT_GE(held, before);
  steps(40, 5);
  EXPECT_EQ(written().kinds.size(), held);
  EXPECT_TRUE(counting_state().missing);

  counting_resumes();
  EXPECT_TRUE(counting_asks());
  while (counting_state().missing) {
    steps(1, 5);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  counting_finish();
  ASSERT_THAT(written().counts, SizeIs(5));
  for (const auto& [kind, quantities] : written().counts) EXPECT_THAT(quantities, SizeIs(5)) << kind;
  EXPECT_FALSE(counting_work_begins());
}

TEST_F(CountingTest, ItIsNotHeldWhileTheGpuIsBusy) {
  steps(6, 5);
  ASSERT_NE(fake.enabled, nullptr);
  fake.busy = true;
  EXPECT_FALSE(counting_holds());
  EXPECT_FALSE(launch(1)) << "nothing more is counted all the same";
  fake.busy = false;
  while (!counting_holds()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(fake.enabled, nullptr);
}

/// A program that queues its work would otherwise use up what counting may cost by working.
TEST_F(CountingTest, TheProgramsOwnWorkCostsNothing) {
  constexpr std::chrono::milliseconds kWork{120};
  steps(3, 5);
  ASSERT_NE(fake.enabled, nullptr);
  const std::uint64_t cost = counting_cost();
  const int waits = fake.waits;
  fake.busy = true;
  std::thread gpu([&] {
    while (fake.waits == waits) std::this_thread::yield();
    std::this_thread::sleep_for(kWork);
    fake.busy = false;
  });
  const auto before = std::chrono::steady_clock::now();
  spool::Id kind = 0;
  while (!launch(kind % 5 + 1)) ++kind;
  const auto elapsed = std::chrono::steady_clock::now() - before;
  gpu.join();
  EXPECT_LE(std::chrono::nanoseconds(counting_cost() - cost) + kWork, elapsed);
}

TEST_F(CountingTest, NoMoreRangesThanThereIsRoomFor) {
  steps(10, 300);
  counting_finish();
  EXPECT_THAT(written().counts, SizeIs(300));
}

TEST_F(CountingTest, ARefusalIsSaidOnceAndNothingIsAskedAgain) {
  for (const char* function :
       {"initialize", "availability", "enable", "set_config", "start", "push", "pop", "stop", "decode"}) {
    SCOPED_TRACE(function);
    make_anew();
    begin_process();
    fake.refusals[function] = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    steps(20, 40);
    const int calls = fake.calls;
    steps(20, 40);
    EXPECT_EQ(fake.calls, calls);
    counting_finish();
    EXPECT_EQ(fake.enabled, nullptr);
    const Written spool = written();
    EXPECT_THAT(spool.not_counted,
                ElementsAre(testing::AllOf(HasSubstr("CUPTI error 35"), HasSubstr("CAP_SYS_ADMIN"))));
    fake.misuses = 0;  // to switch off what has failed may be out of order
  }
}

TEST(CuptiErrors, ARefusedUserIsTold) {
  void* const program = dlopen(nullptr, RTLD_LAZY);
  for (const CUptiResult refusal :
       {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES}) {
    EXPECT_THROW(check_cupti(program, refusal, "reading"), PermissionError);
  }
  EXPECT_NO_THROW(check_cupti(program, CUPTI_SUCCESS, "reading"));
  try {
    check_cupti(program, CUPTI_ERROR_HARDWARE_BUSY, "reading");
    FAIL();
  } catch (const PermissionError&) {
    FAIL() << "no permission would help";
  } catch (const Error& error) {
    EXPECT_THAT(error.hint(), HasSubstr("DCGM"));
  }
  dlclose(program);
}

TEST_F(CountingTest, ConfidentialComputingIsSaid) {
  fake.confidential = CUPTI_PROFILER_CONFIGURATION_DISABLED;
  steps(5, 2);
  EXPECT_THAT(written().not_counted, ElementsAre(HasSubstr("confidential")));
}

TEST_F(CountingTest, WithoutAListNothingIsCounted) {
  write_metrics("");
  begin_process();
  steps(5, 2);
  counting_finish();
  EXPECT_THAT(written().not_counted, IsEmpty());
  EXPECT_EQ(fake.calls, 0);
}

TEST_F(CountingTest, NoTimeMeansNoCounting) {
  setenv(spool::kCountTimeVariable, "0", 1);
  begin_process();
  steps(20, 5);
  counting_finish();
  EXPECT_EQ(fake.calls, 0);
  EXPECT_THAT(written().not_counted, IsEmpty());
}

TEST_F(CountingTest, WhenItsTimeIsSpentTheProgramIsLeftAlone) {
  setenv(spool::kCountTimeVariable, "0.000001", 1);
  begin_process();
  steps(5, 3);
  EXPECT_EQ(fake.enabled, nullptr);
  const int calls = fake.calls;
  steps(20, 3);
  EXPECT_EQ(fake.calls, calls);
  counting_finish();
  const Written spool = written();
  EXPECT_THAT(spool.ended.front(), HasSubstr("0 of 3 "));
  EXPECT_THAT(spool.uncounted, SizeIs(3));
}

TEST_F(CountingTest, NothingHappensDuringACapture) {
  launch(1);
  launch(1);
  counting_capture_begins();
  fake.capturing = true;
  EXPECT_FALSE(launch(2));
  EXPECT_FALSE(launch(2));
  EXPECT_FALSE(launch(1));
  fake.capturing = false;
  counting_capture_ends();
  steps(40, 2);
  counting_finish();
  EXPECT_THAT(written().uncounted, IsEmpty());
}

TEST_F(CountingTest, ACaptureThatBeginsMeanwhileWaits) {
  launch(1);
  const LaunchSite site = site_of(1);
  ASSERT_TRUE(counting_enters(site));
  std::atomic<bool> began = false;
  std::thread other([&] {
    counting_capture_begins();
    began = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(began);
  run(1);
  counting_exits(site, true);
  other.join();
  EXPECT_FALSE(launch(1));
  counting_capture_ends();
}

TEST_F(CountingTest, ALaunchThatDoesNotEndHangsNothing) {
  launch(1);
  launch(2);
  const LaunchSite site = site_of(1);
  ASSERT_TRUE(counting_enters(site));
  fake.busy = true;  // it waits for what the program does next
  run(1);
  counting_exits(site, true);
  EXPECT_TRUE(fake.in_range);
  EXPECT_FALSE(launch(2));
  EXPECT_FALSE(launch(2));
  fake.busy = false;
  steps(40, 2);
  counting_finish();
  const Written spool = written();
  EXPECT_THAT(spool.uncounted, IsEmpty());
  EXPECT_FALSE(spool.kinds.contains(site.correlation)) << "what was launched meanwhile is in that range, too";
}

TEST_F(CountingTest, WhatNeverEndsAloneIsGivenUp) {
  launch(1);
  for (int attempt = 0; attempt < 3; ++attempt) {
    const LaunchSite site = site_of(1);
    ASSERT_TRUE(counting_enters(site));
    fake.busy = true;
    counting_exits(site, true);
    fake.busy = false;
  }
  EXPECT_FALSE(launch(1));
  counting_finish();
  EXPECT_THAT(written().uncounted.at(1), HasSubstr("launched"));
}

TEST_F(CountingTest, AProgramThatEndsWithWorkUnderWayIsNotHeld) {
  launch(1);
  const LaunchSite site = site_of(1);
  ASSERT_TRUE(counting_enters(site));
  fake.busy = true;
  counting_exits(site, true);
  counting_finish();
  EXPECT_THAT(written().ended, ElementsAre(HasSubstr("end")));
}

TEST_F(CountingTest, ALongQueueIsWaitedForOnlySoLong) {
  launch(1);
  fake.busy = true;
  EXPECT_FALSE(launch(1));
  const int calls = fake.calls;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(launch(1));
  EXPECT_EQ(fake.calls, calls);
  fake.busy = false;
  launch_until_counted(1);
}

TEST_F(CountingTest, BesideAKernelThatDoesNotEndTheProfilerIsNotEvenOpened) {
  fake.busy = true;
  steps(100, 3);
  EXPECT_EQ(fake.calls, 0);
  EXPECT_EQ(fake.waits, 1) << "until that kernel has ended, once is enough";
  counting_finish();
  EXPECT_THAT(written().not_counted, ElementsAre(HasSubstr("never idle")));
}

TEST_F(CountingTest, WhileAnotherProcessUsesTheCountersTheProfilerIsNotEvenOpened) {
  CounterClaims another;
  ASSERT_TRUE(another.take(0));
  steps(40, 2);
  EXPECT_EQ(fake.calls, 0);
  counting_finish();
  EXPECT_THAT(written().not_counted, ElementsAre(HasSubstr("another process")));
}

TEST_F(CountingTest, WhenAnotherProcessHasGivenTheCountersAwayAllIsCounted) {
  CounterClaims another;
  ASSERT_TRUE(another.take(0));
  steps(3, 2);
  another.give();
  launch_until_counted(1);
  EXPECT_FALSE(another.take(0)) << "a session is open";
  steps(40, 2);
  EXPECT_TRUE(counting_holds());
  EXPECT_TRUE(another.take(0)) << "no session is open";
  counting_finish();
  EXPECT_THAT(written().counts, SizeIs(2));
  EXPECT_THAT(written().not_counted, IsEmpty());
}

TEST_F(CountingTest, WhenTheKernelThatDidNotEndHasEndedAllIsCounted) {
  fake.busy = true;
  steps(3, 2);
  fake.busy = false;
  launch_until_counted(1);
  steps(40, 2);
  counting_finish();
  const Written spool = written();
  EXPECT_THAT(spool.counts, SizeIs(2));
  EXPECT_THAT(spool.uncounted, IsEmpty());
  EXPECT_THAT(spool.not_counted, IsEmpty());
}

TEST_F(CountingTest, AfterAnAttemptInVainTheProgramIsLeftAloneForAWhile) {
  fake.refills = true;
  launch(1);
  for (int i = 0; i < 4; ++i) {
    launch(1);
    fake.busy = false;  // what was waited for has ended since
  }
  EXPECT_EQ(fake.waits, 1);
  fake.refills = false;
  launch_until_counted(1);
}

TEST_F(CountingTest, TheProfilerWaitsForACallOfAnotherThread) {
  launch(1);
  std::atomic<bool> inside = false;
  std::thread other([&] {
    work([&] {
      inside = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    });
  });
  while (!inside) std::this_thread::yield();
  launch_until_counted(1);
  other.join();
}

TEST_F(CountingTest, WhatOtherThreadsLaunchStaysOutOfCUPTIsRanges) {
  write_metrics("a 1 a\ne 1 e_sass_e\n");
  begin_process();
  std::atomic<bool> launched = false;
  std::thread other;
  fake.starting = [&] {
    other = std::thread([&] {
      LaunchSite graph = {.context = fake.current,
                          .kind = 9,
                          .flags = spool::kGraph,
                          .number = 3,
                          .graph = reinterpret_cast<CUgraphExec>(&fake),
                          .correlation = 1000};
      launch(graph);
      launched = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // to switch on takes a while
    EXPECT_FALSE(launched);
  };
  while (!other.joinable()) {
    const LaunchSite site = site_of(1);
    if (!counting_enters(site)) {
      work([] {});
      continue;
    }
    if (other.joinable()) std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the driver takes its time
    EXPECT_FALSE(launched);
    run(1);
    counting_exits(site, true);
  }
  other.join();
  counting_finish();
  const Written spool = written();
  EXPECT_TRUE(spool.counts.at(1).contains("e"));
}

TEST_F(CountingTest, CapturesAndGraphsOfOneThreadBesideLaunchesOfOthers) {
  std::atomic<bool> stop = false;
  const auto launches = [&](spool::Id kind) {
    for (std::uint64_t number = 1; !stop; ++number) {
      launch({.context = fake.current, .kind = kind, .number = number});
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  };
  std::thread one(launches, 1), other(launches, 2);
  for (std::uintptr_t graph = 1; graph <= 60; ++graph) {
    counting_capture_begins();
    fake.capturing = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fake.capturing = false;
    counting_capture_ends();
    for (std::uint64_t number = 1; number <= 3; ++number) {
      launch({.context = fake.current,
              .kind = 3,
              .flags = spool::kGraph,
              .number = number,
              .graph = reinterpret_cast<CUgraphExec>(graph)});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  stop = true;
  one.join();
  other.join();
  counting_finish();
  EXPECT_FALSE(written().counts.empty());
}

TEST_F(CountingTest, WhatAnotherThreadDisturbsIsThrownAway) {
  launch(1);
  launch(2);
  for (const bool copies : {false, true}) {
    const LaunchSite site = site_of(1);
    ASSERT_TRUE(counting_enters(site));
    std::thread other([&] {
      if (copies) {
        work([] {});
      } else {
        EXPECT_FALSE(launch(2));
      }
    });
    other.join();
    run(1);
    counting_exits(site, true);
  }
  const std::uint32_t before = correlation_;
  steps(40, 2);
  counting_finish();
  const Written spool = written();
  EXPECT_THAT(spool.uncounted, IsEmpty());
  for (const auto& [correlation, kind] : spool.kinds) EXPECT_GT(correlation, before);
}

TEST_F(CountingTest, ALaunchThatFailsHasNoCounts) {
  launch(1);
  const LaunchSite failed = site_of(1);
  EXPECT_TRUE(launch(failed, false));
  steps(40, 1);
  counting_finish();
  const Written spool = written();
  EXPECT_FALSE(spool.kinds.contains(failed.correlation));
  EXPECT_THAT(spool.uncounted, IsEmpty());
}

TEST_F(CountingTest, KindsOnTheListAreNeverCounted) {
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(launch(1, spool::kUncountable));
  steps(10, 3);
  counting_finish();
  EXPECT_THAT(written().uncounted, SizeIs(1));
}

TEST_F(CountingTest, CooperativeKernelsAndGraphsGetNoCodeOfCUPTIs) {
  for (int i = 0; i < 40; ++i) {
    launch(1, spool::kCooperative);
    LaunchSite graph = site_of(2, spool::kGraph);
    graph.graph = reinterpret_cast<CUgraphExec>(std::uintptr_t{1});
    launch(graph);
  }
  counting_finish();
  const Written spool = written();
  ASSERT_THAT(spool.counts, SizeIs(2));
  for (const auto& [kind, quantities] : spool.counts) {
    EXPECT_TRUE(quantities.contains("a") && quantities.contains("c"));
    EXPECT_FALSE(quantities.contains("e"));
  }
}

TEST_F(CountingTest, AGraphsFirstLaunchIsNotCounted) {
  for (std::uintptr_t graph = 1; graph <= 10; ++graph) {  // alike, but each instantiated anew
    LaunchSite site = site_of(1, spool::kGraph);
    site.graph = reinterpret_cast<CUgraphExec>(graph);
    EXPECT_FALSE(launch(site));
  }
}

TEST_F(CountingTest, ContextsComeAndGo) {
  for (std::uintptr_t number = 1; number <= 3; ++number) {
    fake.current = context_number(number);
    const auto kind = static_cast<spool::Id>(number);
    for (int i = 0; i < 3; ++i) launch(kind);
    EXPECT_EQ(fake.enabled, fake.current);
    counting_context_destroyed(fake.current);
    EXPECT_EQ(fake.enabled, nullptr);
  }
  counting_finish();
  const Written spool = written();
  EXPECT_THAT(spool.counts, SizeIs(3));
  EXPECT_THAT(spool.quantities, SizeIs(5)) << "the chip's are said once";
}

TEST_F(CountingTest, ASessionIsNotTakenFromAContextThatIsBusy) {
  launch(1);
  EXPECT_TRUE(launch(1));
  fake.busy_one = fake.current;
  fake.current = context_number(2);
  const int calls = fake.calls;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(launch(2));
  EXPECT_EQ(fake.calls, calls);
  fake.busy_one = nullptr;
  launch_until_counted(3);
  EXPECT_EQ(fake.enabled, fake.current);
}

TEST_F(CountingTest, ALaunchIntoAnotherContextThanTheThreadsIsLeftAlone) {
  launch(1);
  launch(1);
  LaunchSite site = site_of(1);
  site.context = context_number(2);
  EXPECT_FALSE(launch(site));
  EXPECT_EQ(fake.enabled, context_number(1));
}

}  // namespace
}  // namespace roofline::inject
