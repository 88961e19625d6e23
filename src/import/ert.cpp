// ERT measures a machine: GB/s by level and GFLOP/s. Its roofline.json has them as pairs under "empirical"; the text of
// its roofline.py has lines like "1788.00 L1 EMP" and "945.00 FP64 GFLOPs EMP", that of a run ("sum") has no EMP.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/json_values.hpp"
#include "import/other_tools.hpp"
#include "import/text_lines.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

class ErtRoofs {
 public:
  explicit ErtRoofs(ByteSource& source) : source_(source) {}

  /// GB/s of "L1", "L2", "DRAM"; ERT numbers the plateaus that it finds, the last of which is DRAM.
  void bandwidth(const std::string& level, double gigabytes) {
    constexpr double kGiga = 1e9;
    static constexpr std::pair<std::string_view, Level> kLevels[] = {
        {"L1", Level::l1}, {"L2", Level::l2}, {"L3", Level::l3}};
    const auto known =
        std::find_if(std::begin(kLevels), std::end(kLevels), [&](const auto& entry) { return entry.first == level; });
    // CPUs have HBM too: "STREAM HBM" of an A64FX.
    const bool stream = level == "STREAM DRAM" || level == "STREAM HBM";
    const bool memory = level == "DRAM" || level == "HBM" || stream;
    if (!memory && known == std::end(kLevels)) {
      passed_over_.push_back(shorten(level));
      return;
    }
    memory_is_hbm_ |= level == "HBM";
    Ceiling& ceiling = add(CeilingKind::bandwidth, gigabytes * kGiga);
    ceiling.level = memory ? Level::dram : known->second;
    // Its kernel writes as much as it reads.
    ceiling.pattern = Pattern::copy;
  }

  /// GFLOP/s of "FP64 GFLOPs", or "GFLOPs" of versions that have doubles only.
  void compute(const std::string& name, double gigaflops) {
    constexpr double kGiga = 1e9;
    static constexpr std::pair<std::string_view, Pipe> kPipes[] = {
        {"FP64", Pipe::fp64}, {"FP32", Pipe::fp32}, {"FP16", Pipe::fp16}, {"GFLOPs", Pipe::fp64}};
    const std::string word = name.substr(0, name.find(' '));
    const auto known =
        std::find_if(std::begin(kPipes), std::end(kPipes), [&](const auto& entry) { return entry.first == word; });
    if (known == std::end(kPipes)) {
      passed_over_.push_back(shorten(name));
      return;
    }
    assumed_double_ |= word == "GFLOPs";
    add(CeilingKind::compute, gigaflops * kGiga).pipe = known->second;
  }

  void on_gpu() { gpu_ = true; }

  ImportedProfile finish() {
    keep_highest();
    if (machine_.ceilings.empty())
      source_.fail("no rate of a memory level (\"DRAM\") or of arithmetic (\"FP64 GFLOPs\")");
    gpu_ |= memory_is_hbm_;
    for (Ceiling& ceiling : machine_.ceilings) {
      if (ceiling.level == Level::dram && gpu_) ceiling.level = Level::hbm;
      ceiling.name = ceiling.pipe ? std::string(to_string(*ceiling.pipe))
                                  : fmt::format("{}.{}", to_string(*ceiling.level), to_string(*ceiling.pattern));
    }
    ImportedProfile profile;
    profile.kind = ImportedKind::ert;
    profile.tool = "the Empirical Roofline Toolkit";
    machine_.device.kind = gpu_ ? DeviceKind::cuda : DeviceKind::cpu;
    machine_.device.name = gpu_ ? "GPU not named in the file" : "CPU not named in the file";
    machine_.device.identity = "imported";
    profile.roofs = std::move(machine_);
    DeviceFacts device;
    device.is_cpu = !gpu_;
    profile.devices.push_back(device);
    profile.notes.emplace_back("the file has roofs of a machine, but no program");
    if (assumed_double_) profile.notes.emplace_back("ERT states no type of its GFLOPs: this version measures fp64");
    if (!passed_over_.empty()) {
      profile.notes.push_back(fmt::format("rates that are not roofs here: {}", fmt::join(passed_over_, ", ")));
    }
    return profile;
  }

 private:
  /// Keeps the highest value of several runs in one file.
  void keep_highest() {
    std::vector<Ceiling>& all = machine_.ceilings;
    std::stable_sort(all.begin(), all.end(), [](const Ceiling& a, const Ceiling& b) { return a.value > b.value; });
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto repeats = [&](const Ceiling& other) {
        return other.level == all[i].level && other.pipe == all[i].pipe;
      };
      all.erase(std::remove_if(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end(), repeats), all.end());
    }
  }

  static std::string shorten(const std::string& text) {
    constexpr std::size_t kMost = 40;
    return text.substr(0, kMost);
  }

  Ceiling& add(CeilingKind kind, double value) {
    constexpr std::size_t kMost = 4096;
    constexpr double kHighest = 1e20;
    if (!(value > 0 && value < kHighest)) source_.fail("a rate that is zero, negative or not a number");
    if (machine_.ceilings.size() + passed_over_.size() >= kMost) source_.fail("more than 4096 rates");
    Ceiling ceiling;
    ceiling.kind = kind;
    ceiling.value = value;
    ceiling.ci95 = {value, value};
    ceiling.origin = "ERT";
    ceiling.variant = "the Empirical Roofline Toolkit";
    ceiling.stop = "imported";
    machine_.ceilings.push_back(std::move(ceiling));
    return machine_.ceilings.back();
  }

  ByteSource& source_;
  Machine machine_;
  std::vector<std::string> passed_over_;
  bool gpu_ = false, memory_is_hbm_ = false, assumed_double_ = false;
};

bool mentions(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

ImportedProfile read_ert_json(ByteSource& source) {
  ErtRoofs roofs(source);
  enum : std::size_t { kBytes, kFlops, kMetadata };
  read_json_values(source,
                   {{"empirical", "gbytes", "data", "*"},
                    {"empirical", "gflops", "data", "*"},
                    {"empirical", "metadata"},
                    {"empirical", "gflops", "metadata"}},
                   [&](std::size_t path, const nlohmann::json& value) {
                     if (path >= kMetadata) {
                       const std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
                       if (mentions(text, "GPU_BLOCKS")) roofs.on_gpu();
                       return;
                     }
                     const bool pair =
                         value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_number();
                     if (!pair) source.fail("a rate is not a pair of name and number");
                     const auto name = value[0].get<std::string>();
                     const double rate = value[1].get<double>();
                     path == kBytes ? roofs.bandwidth(name, rate) : roofs.compute(name, rate);
                   });
  return roofs.finish();
}

bool looks_like_ert_json(std::string_view beginning) {
  return mentions(beginning, "\"empirical\"") &&
         (mentions(beginning, "\"gbytes\"") || mentions(beginning, "\"gflops\""));
}

ImportedProfile read_ert_text(ByteSource& source) {
  ErtRoofs roofs(source);
  TextLines lines(source);
  std::string line;
  while (lines.next(line)) {
    if (mentions(line, "GPU_BLOCKS")) roofs.on_gpu();
    if (line.ends_with(" EMP")) line.resize(line.size() - 4);
    const std::size_t first = line.find_first_of("0123456789");
    if (first == std::string::npos || line.find_first_not_of(" \t") != first) continue;
    const std::size_t space = line.find(' ', first), name = line.find_first_not_of(' ', space);
    const auto rate = parsed_number<double>(line.substr(first, space - first));
    if (!rate || name == std::string::npos) {
      source.fail(fmt::format("line {}: not a rate and its name", lines.number()));
    }
    const std::string what = line.substr(name);
    if (what == "Weight") continue;  // of the run in ERT's choice of runs
    mentions(what, "FLOPs") ? roofs.compute(what, *rate) : roofs.bandwidth(what, *rate);
  }
  return roofs.finish();
}

bool looks_like_ert_text(std::string_view beginning) {
  const bool is_run = mentions(beginning, " GFLOPs\n") && mentions(beginning, " Weight\n");
  return is_run || mentions(beginning, "GFLOPs EMP") || mentions(beginning, "DRAM EMP");
}

}  // namespace roofline
