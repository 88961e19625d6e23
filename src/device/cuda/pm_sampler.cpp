// Samples one pass of the hardware's counters, chosen for the chip. Two rules come from how CUPTI decodes: samples that
// do not fit into the counter data image are lost, and a hardware buffer that has overflowed stays so. In either case
// the session is restarted and the gap is reported.
#include "device/cuda/pm_sampler.hpp"

#include <cupti_pmsampling.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "cupti/host.hpp"
#include "device/cuda/cupti.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

constexpr double kFromPercent = 0.01;
constexpr std::size_t kHardwareBuffer = std::size_t{64} << 20;  // a sample takes some 16 KB of it
constexpr double kImageSeconds = 0.5;  // collected five times as often; a slot takes some 37 KB
constexpr std::uint32_t kSpareSlots = 64;

/// How samples of a metric become one figure.
enum class Fold : std::uint8_t { mean, sum };

struct ActivityMetric {
  std::string_view id;
  std::array<std::string_view, 2> candidates;  ///< CUPTI's names, of one chip or another
  Fold fold = Fold::mean;
  double scale = 1;
};

// In order of importance: a metric is kept only if it fits into one pass with those before it.
constexpr ActivityMetric kActivityMetrics[] = {
    {"tensor_active_fraction",
     {"sm__pipe_tensor_cycles_active_realtime.avg.pct_of_peak_sustained_elapsed",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
     Fold::mean,
     kFromPercent},
    {"dram_read_fraction",
     {"dram__bytes_read.sum.pct_of_peak_sustained_elapsed", "dram__bytes_op_read.sum.pct_of_peak_sustained_elapsed"},
     Fold::mean,
     kFromPercent},
    {"dram_write_fraction",
     {"dram__bytes_write.sum.pct_of_peak_sustained_elapsed", "dram__bytes_op_write.sum.pct_of_peak_sustained_elapsed"},
     Fold::mean,
     kFromPercent},
    {"dram_active_fraction",
     {"dram__bytes.sum.pct_of_peak_sustained_elapsed", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
     Fold::mean,
     kFromPercent},
    {"dram_read_bytes", {"dram__bytes_read.sum", "dram__bytes_op_read.sum"}, Fold::sum},
    {"dram_write_bytes", {"dram__bytes_write.sum", "dram__bytes_op_write.sum"}, Fold::sum},
    {"dram_bytes_per_cycle", {"dram__bytes.sum.peak_sustained"}},
    {"dram_hz", {"dram__cycles_elapsed.avg.per_second"}},
    {"busy_fraction", {"gr__cycles_active.avg.pct_of_peak_sustained_elapsed"}, Fold::mean, kFromPercent},
    {"sm_active_fraction", {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed"}, Fold::mean, kFromPercent},
    {"core_hz", {"gpc__cycles_elapsed.avg.per_second", "sm__cycles_elapsed.avg.per_second"}},
    {"counted_seconds", {"gpu__time_duration.sum"}, Fold::sum, 1e-9},
};

/// CUPTI has them since 12.6.
struct PmSampling : SharedLibrary {
  using SharedLibrary::SharedLibrary;
  decltype(&cuptiPmSamplingGetCounterAvailability) availability = symbol("cuptiPmSamplingGetCounterAvailability");
  decltype(&cuptiPmSamplingEnable) enable = symbol("cuptiPmSamplingEnable");
  decltype(&cuptiPmSamplingDisable) disable = symbol("cuptiPmSamplingDisable");
  decltype(&cuptiPmSamplingSetConfig) set_config = symbol("cuptiPmSamplingSetConfig");
  decltype(&cuptiPmSamplingStart) start = symbol("cuptiPmSamplingStart");
  decltype(&cuptiPmSamplingStop) stop = symbol("cuptiPmSamplingStop");
  decltype(&cuptiPmSamplingDecodeData) decode = symbol("cuptiPmSamplingDecodeData");
  decltype(&cuptiPmSamplingGetCounterDataSize) data_size = symbol("cuptiPmSamplingGetCounterDataSize");
  decltype(&cuptiPmSamplingCounterDataImageInitialize) data_initialize =
      symbol("cuptiPmSamplingCounterDataImageInitialize");
  decltype(&cuptiPmSamplingGetCounterDataInfo) data_info = symbol("cuptiPmSamplingGetCounterDataInfo");
  decltype(&cuptiPmSamplingCounterDataGetSampleInfo) sample_info = symbol("cuptiPmSamplingCounterDataGetSampleInfo");
};

const PmSampling& pm_sampling() {
  static const PmSampling table(cupti().handle());
  if (!table.complete()) throw Error(fmt::format("{} is missing", table.missing()), "install CUPTI 12.6 or newer");
  return table;
}

/// What one pass of a chip holds.
struct ActivityPlan {
  std::vector<const ActivityMetric*> metrics;
  std::vector<const char*> names;
  std::vector<std::uint8_t> config;
  std::unique_ptr<CuptiHost> host;
};

ActivityPlan plan_activity(const std::string& chip, const std::vector<std::uint8_t>& availability) {
  ActivityPlan plan;
  for (const ActivityMetric& metric : kActivityMetrics) {
    for (const std::string_view candidate : metric.candidates) {
      if (candidate.empty()) break;
      std::vector<const char*> names = plan.names;
      names.push_back(candidate.data());
      auto host = std::make_unique<CuptiHost>(cupti(), CUPTI_PROFILER_TYPE_PM_SAMPLING, chip, availability);
      // All metrics at once: those added later would begin another pass.
      std::optional<std::vector<std::uint8_t>> config = host->one_pass(names);
      if (!config) continue;
      plan.metrics.push_back(&metric);
      plan.names = std::move(names);
      plan.config = std::move(*config);
      plan.host = std::move(host);
      break;
    }
  }
  if (plan.metrics.empty()) throw Error(fmt::format("{} has none of the sampled counters", chip));
  return plan;
}

std::vector<std::uint8_t> pm_availability(int cuda_index) {
  ROOFLINE_CUPTI_PARAMS(CUpti_PmSampling_GetCounterAvailability_Params, params);
  params.deviceIndex = static_cast<std::size_t>(cuda_index);
  cupti().check(pm_sampling().availability(&params), "reading which counters can be sampled");
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  cupti().check(pm_sampling().availability(&params), "reading which counters can be sampled");
  return image;
}

class PmSampler final : public ActivitySampler {
 public:
  PmSampler(int cuda_index, double sample_s)
      : cuda_index_(cuda_index),
        sample_s_(sample_s),
        chip_(cupti().chip_name(cuda_index)),
        plan_(plan_activity(chip_, pm_availability(cuda_index))) {
    begin();
  }
  ~PmSampler() override { close(); }
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;

  void collect() override {
    ROOFLINE_CUPTI_PARAMS(CUpti_PmSampling_DecodeData_Params, params);
    params.pPmSamplingObject = sampler_;
    params.pCounterDataImage = data_.data();
    params.counterDataImageSize = data_.size();
    const CUptiResult status = pm_sampling().decode(&params);
    const bool overflow = status == CUPTI_ERROR_OUT_OF_MEMORY || params.overflow != 0;
    if (!overflow) cupti().check(status, "decoding samples");
    if (status == CUPTI_SUCCESS) add_samples();
    if (overflow || params.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL) {
      sums_.gap = true;
      close();
      begin();
      return;
    }
    clear_image();
  }

  std::optional<GpuActivity> take() override {
    GpuActivity taken = std::exchange(sums_, {});
    if (taken.seconds <= 0) {
      sums_.gap = taken.gap;
      return std::nullopt;
    }
    for (const ActivityMetric* metric : plan_.metrics) {
      const auto found = taken.values.find(metric->id);
      if (found != taken.values.end() && metric->fold == Fold::mean) found->second /= taken.seconds;
    }
    taken.source = counter_source(chip_);
    return taken;
  }

 private:
  template <typename Params, typename Function>
  CUptiResult call(Function* function) const {
    Params params = {};
    params.structSize = sizeof(Params);
    params.pPmSamplingObject = sampler_;
    return function(&params);
  }

  void begin() try { open(); } catch (...) {
    close();
    throw;
  }

  void open() {
    ROOFLINE_CUPTI_PARAMS(CUpti_PmSampling_Enable_Params, enable);
    enable.deviceIndex = static_cast<std::size_t>(cuda_index_);
    cupti().check(pm_sampling().enable(&enable), "enabling sampling");
    sampler_ = enable.pPmSamplingObject;
    ROOFLINE_CUPTI_PARAMS(CUpti_PmSampling_SetConfig_Params, config);
    config.pPmSamplingObject = sampler_;
    config.configSize = plan_.config.size();
    config.pConfig = plan_.config.data();
    config.hardwareBufferSize = kHardwareBuffer;
    config.samplingInterval = static_cast<std::uint64_t>(std::llround(sample_s_ * 1e9));
    config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
    config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
    CUptiResult status = pm_sampling().set_config(&config);
    if (status != CUPTI_SUCCESS) {  // GA100 has no timer of its own: cycles of its system clock, of some 1.4 GHz
      constexpr double kSystemHz = 1.4e9;
      config.samplingInterval = static_cast<std::uint64_t>(std::llround(sample_s_ * kSystemHz));
      config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
      status = pm_sampling().set_config(&config);
    }
    cupti().check(status, "configuring sampling");
    make_image();
    cupti().check(call<CUpti_PmSampling_Start_Params>(pm_sampling().start), "starting sampling");
  }

  void close() {
    if (sampler_ == nullptr) return;
    static_cast<void>(call<CUpti_PmSampling_Stop_Params>(pm_sampling().stop));
    static_cast<void>(call<CUpti_PmSampling_Disable_Params>(pm_sampling().disable));
    sampler_ = nullptr;
  }

  void make_image() {
    ROOFLINE_CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataSize_Params, size);
    size.pPmSamplingObject = sampler_;
    size.pMetricNames = plan_.names.data();
    size.numMetrics = plan_.names.size();
    size.maxSamples = static_cast<std::uint32_t>(kImageSeconds / sample_s_) + kSpareSlots;
    cupti().check(pm_sampling().data_size(&size), "allocating the counter data");
    data_.assign(size.counterDataSize, 0);
    clear_image();
  }

  void clear_image() {
    ROOFLINE_CUPTI_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params, image);
    image.pPmSamplingObject = sampler_;
    image.counterDataSize = data_.size();
    image.pCounterData = data_.data();
    cupti().check(pm_sampling().data_initialize(&image), "allocating the counter data");
  }

  void add_samples() {
    ROOFLINE_CUPTI_PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = data_.data();
    info.counterDataImageSize = data_.size();
    cupti().check(pm_sampling().data_info(&info), "counting samples");
    for (std::size_t i = 0; i < info.numCompletedSamples; ++i) add_sample(i);
  }

  void add_sample(std::size_t index) {
    ROOFLINE_CUPTI_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo_Params, info);
    info.pPmSamplingObject = sampler_;
    info.pCounterDataImage = data_.data();
    info.counterDataImageSize = data_.size();
    info.sampleIndex = index;
    cupti().check(pm_sampling().sample_info(&info), "reading a sample's time");
    if (info.startTimestamp == 0 || info.endTimestamp <= info.startTimestamp) return;  // covers no time
    const std::vector<double> values = plan_.host->evaluate(plan_.names, data_, index);
    const double seconds = static_cast<double>(info.endTimestamp - info.startTimestamp) * 1e-9;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const ActivityMetric& metric = *plan_.metrics[i];
      if (!std::isfinite(values[i])) continue;
      sums_.values[std::string(metric.id)] += values[i] * metric.scale * (metric.fold == Fold::mean ? seconds : 1);
    }
    sums_.seconds += seconds;
    ++sums_.samples;
  }

  int cuda_index_;
  double sample_s_;
  std::string chip_;
  ActivityPlan plan_;
  CUpti_PmSampling_Object* sampler_ = nullptr;
  std::vector<std::uint8_t> data_;
  GpuActivity sums_;
};

}  // namespace

std::vector<std::string> sampled_on(const std::string& chip) {
  std::vector<std::string> names;
  for (const ActivityMetric* metric : plan_activity(chip, {}).metrics) names.emplace_back(metric->id);
  return names;
}

std::unique_ptr<ActivitySampler> sample_cuda_activity(int cuda_index, double sample_s) {
  return std::make_unique<PmSampler>(cuda_index, sample_s);
}

}  // namespace roofline
