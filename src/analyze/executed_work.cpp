// In a child process, as every kernel of a user: the shape is verified natively before its code is emulated.
#include "analyze/executed_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/choose_implementation.hpp"
#include "analyze/count_workload.hpp"
#include "analyze/own_kernels.hpp"
#include "analyze/scaled_workload.hpp"
#include "device/cpu/isa.hpp"
#include "device/isolate.hpp"
#include "host/host.hpp"
#include "model/error.hpp"
#include "op/case.hpp"
#include "op/extents_text.hpp"
#include "op/suite_op.hpp"
#include "report/json/json.hpp"
#include "text/parse.hpp"
#include "user/user_implementation.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kEmulationLimitS = 180;
/// Bytes of all tensors, smallest first: an interaction of all pairs of elements is still fast, and a kernel that needs
/// whole tiles finds its own at a larger one.
constexpr std::array<double, 6> kSizes = {65536, 262144, 1048576, 4194304, 16777216, 67108864};
/// Valgrind does not run AVX-512.
constexpr Isa kHighestEmulated = Isa::avx2;

/// The file whose code is a kernel's own.
fs::path module_of(const KernelSpec& spec, std::string_view implementation, const std::string& isa) {
  const fs::path compiled = compiled_for(spec, implementation, isa);
  return fs::canonical(spec.kind == SourceKind::shared_library ? spec.source : compiled);
}

std::optional<ExecutedOperations> emulate(const SuiteEntry& entry, const Shape& shape, const Suite& suite,
                                          const AnalyzeOptions& options) {
  const std::string isa(to_string(std::min(best_isa(), kHighestEmulated)));
  const std::vector<std::string> command = {fs::read_symlink("/proc/self/exe").string(),
                                            "analyze",
                                            "--once",
                                            suite.path,
                                            "--only",
                                            entry.workload.label,
                                            "--device",
                                            "cpu",
                                            "--cache",
                                            "hot"};
  std::optional<ExecutedOperations> executed =
      options.count_operations({.command = command,
                                .environment = {{kIsaVariable, isa}, {kShapeVariable, extents_text(shape.extents())}},
                                .module = module_of(*entry.kernel, entry.workload.implementation, isa)});
  if (!executed) return std::nullopt;
  for (auto& [pipe, count] : executed->flops) count /= kProfiledLaunches;
  executed->library_flops /= kProfiledLaunches;
  executed->integers /= kProfiledLaunches;
  return executed;
}

/// In the child.
class EmulatingWorker {
 public:
  EmulatingWorker(const Suite& suite, const AnalyzeOptions& options) : suite_(suite), options_(options) {}

  /// Sends what is found, if anything, at that size.
  AfterJob run(const SuiteEntry& entry, std::size_t size, const Send& send) {
    const bool stated = !as_suite_op(*entry.op)->wants_counted_work();
    if (!stated && size > 0) return AfterJob::next;  // at its own shape only
    try {
      const Json found = stated ? comparison(entry, size) : flops(entry);
      if (!found.is_null()) send(found.dump());
    } catch (const std::exception&) {
      return AfterJob::fresh_process;  // the row stays as it is
    }
    return AfterJob::next;
  }

 private:
  Json flops(const SuiteEntry& entry) {
    const std::optional<ExecutedOperations> executed = emulate(entry, entry.workload.shape, suite_, options_);
    if (!executed || executed->library_flops > 0) return Json::object();  // whose types are not known
    Json json = Json::object();
    for (const auto& [pipe, count] : executed->flops) json["flops"][std::string(to_string(pipe))] = count;
    return json;
  }

  Json comparison(const SuiteEntry& entry, std::size_t size) {
    const std::optional<Workload> small = shrunk_evenly(entry, kSizes.at(size));
    const std::optional<Workload> tried = size > 0 ? shrunk_evenly(entry, kSizes.at(size - 1)) : std::nullopt;
    if (!small || (tried && tried->shape == small->shape)) return {};
    const std::optional<WorkBounds> bounds = verified(entry, *small);
    if (!bounds) return {};
    const std::optional<ExecutedOperations> executed = emulate(entry, small->shape, suite_, options_);
    if (!executed) return Json::object();  // nor is it at a larger size
    ExecutedFlops flops = executed_flops(*executed, entry.op->work(*small, DeviceKind::cpu), *bounds);
    for (const auto& [name, extent] : small->shape.extents()) flops.shape[name] = extent;
    return Json({{"executed", executed_flops_to_json(flops)}});
  }

  /// What the formulas need at that shape, if the kernel is right there: it may be written for other shapes.
  std::optional<WorkBounds> verified(const SuiteEntry& entry, const Workload& workload) {
    const DeviceChoice& choice = options_.device;
    if (!device_) device_ = open_device(choice.kind, choice.index, choice.options);
    Case small(*entry.op, *entry.implementation, workload, *device_);
    const Verification result = small.verify();
    if (!result.passed) return std::nullopt;
    return result.work.value_or(WorkBounds{});
  }

  const Suite& suite_;
  const AnalyzeOptions& options_;
  std::unique_ptr<Device> device_;
};

/// Rows that have a time and no counters: for kernels that state their operations, one of each configuration.
std::vector<std::size_t> rows_to_emulate(const Suite& suite, const Report& report) {
  const std::vector<bool> dropped = slower_configurations(suite, report);
  std::set<std::tuple<const KernelSpec*, std::string, DType>> seen;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const SuiteEntry& entry = suite.entries[i];
    const SuiteOp* op = as_suite_op(*entry.op);
    const Point& point = report.points[i];
    if (op == nullptr || !entry.kernel || point.status != PointStatus::ok || point.counters || dropped[i]) continue;
    const bool is_new = seen.emplace(entry.kernel.get(), entry.workload.implementation, entry.workload.dtype).second;
    if (is_new || op->wants_counted_work()) rows.push_back(i);
  }
  return rows;
}

void take(const Json& found, Point& point, Report& report) {
  if (found.contains("executed") && point.verification)
    point.verification->executed = executed_flops_from_json(found["executed"]);
  if (!found.contains("flops")) return;
  std::map<Pipe, double> flops;
  for (const auto& [name, count] : found["flops"].items()) flops[parse_pipe(name).value()] = count.get<double>();
  take_flops(point, std::move(flops), report.machine);
  report.notes.push_back(
      fmt::format("{}: operations counted under emulation, bytes from buffer sizes", point.workload.label));
}

}  // namespace

void take_shape(Suite& suite, const std::string& extents) {
  std::set<std::tuple<const Op*, std::string, std::string, DType>> seen;
  std::erase_if(suite.entries, [&](const SuiteEntry& entry) {
    const Workload& w = entry.workload;
    return !seen.emplace(entry.op, w.label, w.implementation, w.dtype).second;
  });
  std::istringstream words(extents);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::optional<std::int64_t> extent =
        equals == std::string::npos ? std::nullopt : parsed_number<std::int64_t>(word.substr(equals + 1));
    if (!extent) throw UsageError(fmt::format("{}: '{}' is no extent", kShapeVariable, word), "write NAME=NUMBER");
    for (SuiteEntry& entry : suite.entries) entry.workload.shape.set(word.substr(0, equals), *extent);
  }
}

void check_executed_work(const Suite& suite, const AnalyzeOptions& options, Report& report) {
  if (!options.count_operations || report.machine.device.kind != DeviceKind::cpu) return;
  const std::vector<std::size_t> rows = rows_to_emulate(suite, report);
  EmulatingWorker worker(suite, options);
  // A job is a row at one size: the kernel may crash at the smaller ones. Rows are done in the process that emulates
  // them and in this one.
  std::set<std::size_t> answered;
  std::size_t done = 0;
  double since = wall_seconds();  // the last outcome
  const auto row_of = [&](std::int64_t job) { return rows[static_cast<std::size_t>(job) / kSizes.size()]; };
  Jobs jobs;
  jobs.count = static_cast<std::int64_t>(rows.size() * kSizes.size());
  jobs.run = [&](std::int64_t job, const Send& send) {
    const std::size_t row = row_of(job);
    if (answered.contains(row)) return AfterJob::next;
    const auto answer = [&](std::string_view text) {
      answered.insert(row);
      send(text);
    };
    return worker.run(with_implementation(suite.entries[row], report.points[row].workload.implementation),
                      static_cast<std::size_t>(job) % kSizes.size(), answer);
  };
  jobs.on_message = [&](std::int64_t job, std::string_view text) {
    done = static_cast<std::size_t>(job) / kSizes.size() + 1;
    answered.insert(row_of(job));
    since = wall_seconds();
    take(Json::parse(text), report.points[row_of(job)], report);
  };
  // A crash at one size says nothing of the next one. A kernel that hangs would do so at each.
  jobs.on_lost = [&](std::int64_t job, const std::string&) {
    constexpr double kHangs = 10;
    if (wall_seconds() - since > kHangs) answered.insert(row_of(job));
    since = wall_seconds();
  };
  jobs.limit_s = [](std::int64_t) { return kEmulationLimitS; };
  jobs.on_tick = [&] {
    if (done >= rows.size()) return;
    options.progress({static_cast<std::int64_t>(done), static_cast<std::int64_t>(rows.size()),
                      "emulating: " + report.points[rows[done]].workload.label, std::nullopt});
  };
  report.cancelled = run_isolated(jobs) == JobsEnd::interrupted || report.cancelled;
}

}  // namespace roofline
