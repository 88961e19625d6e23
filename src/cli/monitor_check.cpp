// Two processes: one samples the counters, as during monitoring, while the other copies. The traffic of the idle GPU is
// measured first and subtracted.
#include "cli/monitor_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "cli/answer.hpp"
#include "cli/console.hpp"
#include "cli/monitor_watch.hpp"
#include "device/device.hpp"
#include "device/gpu_sensors.hpp"
#include "host/files.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "host/worker_process.hpp"
#include "model/error.hpp"
#include "monitor/wire.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kStart = 60;
constexpr double kQuiet = 0.5;      // seconds without copies, before and after
constexpr double kCopySeconds = 1;  // of copying
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

class CopyHandler final : public Handler {
 public:
  explicit CopyHandler(int index) : device_(open_device(DeviceKind::cuda, index, {})) {
    const double quarter = device_->free_memory_bytes() / 4;
    bytes_ = std::min(kMostBytes, static_cast<std::size_t>(quarter));
    if (static_cast<double>(bytes_) < 4 * device_->last_level_cache_bytes()) {
      throw Error("too little free GPU memory for a copy larger than the cache");
    }
    from_ = device_->allocate(bytes_);
    to_ = device_->allocate(bytes_);
    device_->fill(from_->data(), std::byte{0x5a}, bytes_);
    device_->fill(to_->data(), std::byte{0}, bytes_);
    device_->copy(to_->data(), from_->data(), bytes_);
    device_->synchronize();
  }
  void idle() override {}
  /// Bytes read; as many were written.
  std::string reply() override {
    double copied = 0;
    for (const double begin_s = wall_seconds(); wall_seconds() - begin_s < kCopySeconds;) {
      device_->copy(to_->data(), from_->data(), bytes_);
      device_->synchronize();
      copied += static_cast<double>(bytes_);
    }
    return fmt::format("{:.0f}", copied);
  }

 private:
  std::unique_ptr<Device> device_;
  std::size_t bytes_ = 0;
  std::unique_ptr<Buffer> from_, to_;
};

std::string ask_for(WorkerProcess& worker) {
  WorkerProcess* const asked[] = {&worker};
  worker.request();
  for (const double begin_s = wall_seconds(); wall_seconds() - begin_s < kStart && !interrupted();) {
    WorkerProcess::wait_for(asked, 1);
    if (auto answer = worker.reply()) return *answer;
    if (!worker.lost().empty()) throw Error(worker.lost());
  }
  throw Error("the driver does not respond");
}

void rest(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

GpuActivity activity_of(WorkerProcess& sampler) {
  const GpuReading reading = reading_from_text(ask_for(sampler));
  if (!reading.activity) {
    const auto reason = reading.absent.find("activity");
    throw Error(reason == reading.absent.end() ? "no sample was taken" : reason->second);
  }
  return *reading.activity;
}

/// Bytes moved by the copies: those counted minus the idle traffic.
std::optional<MovedBytes> moved_by_copies(const GpuActivity& idle, const GpuActivity& busy, CountedBy source) {
  const auto before = moved_bytes(idle, source);
  const auto with = moved_bytes(busy, source);
  if (!before || !with || idle.seconds <= 0) return std::nullopt;
  const double interval = busy.seconds / idle.seconds;
  return MovedBytes{with->read - interval * before->read, with->write - interval * before->write};
}

struct CheckedInterval {
  ByteCheck check;
  GpuActivity busy;
  double wall_s = 0;  ///< between the two readings
};

CheckedInterval check_interval(const Watched& watched, WorkerProcess& copier, double sample_s) {
  const GpuAddress address{watched.pci, watched.info.index};
  WorkerProcess sampler([address, sample_s] { return sensor_handler(address, sample_s); });
  ask_for(sampler);
  rest(kQuiet);
  const GpuActivity idle = activity_of(sampler);
  const double begin_s = wall_seconds();
  const double copied = std::stod(ask_for(copier));
  rest(kQuiet);
  CheckedInterval interval;
  interval.busy = activity_of(sampler);
  interval.wall_s = wall_seconds() - begin_s;
  interval.check = {.activity_source = interval.busy.source,
                    .driver = watched.info.driver,
                    .checked_at = utc_now(),
                    .known = {copied, copied},
                    .counted = moved_by_copies(idle, interval.busy, CountedBy::sums),
                    .share_of_peak = moved_by_copies(idle, interval.busy, CountedBy::share_of_peak)};
  return interval;
}

std::string ratio_text(const std::optional<MovedBytes>& bytes, const MovedBytes& known) {
  if (!bytes) return "not sampled on this chip";
  return fmt::format("read {:.4f}, written {:.4f} of the copied bytes", bytes->read / known.read,
                     bytes->write / known.write);
}

std::string describe_interval(const CheckedInterval& interval, double sample_s) {
  const auto value = [&](std::string_view name) {
    const auto found = interval.busy.values.find(name);
    return found == interval.busy.values.end() ? std::nan("") : found->second;
  };
  const GpuActivity& busy = interval.busy;
  std::string text = fmt::format(
      "  samples of {}: {} of them, {:.4f} s in all; {:.4f} s by their own count, {:.4f} s "
      "between the readings{}\n",
      duration(sample_s), busy.samples, busy.seconds, value("counted_seconds"), interval.wall_s,
      busy.gap ? "; samples were lost" : "");
  text += fmt::format("    counted        {}\n", ratio_text(interval.check.counted, interval.check.known));
  text += fmt::format("    share of peak  {}\n", ratio_text(interval.check.share_of_peak, interval.check.known));
  text += fmt::format("    peak {} at {}, copied {}, DRAM active {}\n",
                      si(value("dram_bytes_per_cycle") * value("dram_hz"), "B/s", 4), si(value("dram_hz"), "Hz", 4),
                      si(2 * interval.check.known.read, "B", 4), percent(value("dram_active_fraction")));
  return text;
}

ExitCode check_one(const Watched& watched, bool json) {
  const int index = watched.info.index;
  WorkerProcess copier([index] { return std::make_unique<CopyHandler>(index); });
  ask_for(copier);
  // The sampling interval of monitor decides; results of shorter ones are printed too, because they must agree.
  const CheckedInterval deciding = check_interval(watched, copier, kActivitySampleSeconds);
  std::string text = fmt::format("{}  {}: {}\n", watched.device, watched.info.name, deciding.check.activity_source);
  text += describe_interval(deciding, kActivitySampleSeconds);
  for (const double sample_s : {1e-3, 1e-4}) {
    if (json || interrupted()) break;
    text += describe_interval(check_interval(watched, copier, sample_s), sample_s);
  }
  const std::optional<CountedBy> trusted = deciding.check.trusted();
  text += trusted ? fmt::format("  correct within {}: bytes are shown from now on ({})\n",
                                percent(ByteCheck::kTolerance), to_string(*trusted))
                  : fmt::format("  wrong by more than {}: bytes are not shown\n", percent(ByteCheck::kTolerance));
  const std::string document = byte_check_to_json(deciding.check);
  write_stdout(json ? document : text);
  write_file(byte_check_path(watched.info), document);
  return trusted ? ExitCode::ok : ExitCode::workload_failed;
}

}  // namespace

ExitCode check_bytes(const std::vector<Watched>& devices, bool json) {
  ExitCode worst = ExitCode::ok;
  bool any = false;
  for (const Watched& watched : devices) {
    if (watched.info.kind != DeviceKind::cuda) continue;
    if (interrupted()) return ExitCode::cancelled;
    any = true;
    try {
      if (check_one(watched, json) != ExitCode::ok) worst = ExitCode::workload_failed;
    } catch (const Error& error) {
      print_problem({"failed", fmt::format("{}: {}", watched.device, error.what()), error.hint()}, "roofline: ");
      worst = ExitCode::workload_failed;
    }
  }
  if (!any) throw DeviceError("no GPU has counters to check", "see: roofline devices");
  return worst;
}

}  // namespace roofline
