#include "import/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "text/block_names.hpp"
#include "text/demangle.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

using Geometry = std::array<std::uint32_t, 6>;

Geometry geometry_of(const spool::Kind& kind) {
  return {kind.grid[0], kind.grid[1], kind.grid[2], kind.block[0], kind.block[1], kind.block[2]};
}

/// The name without differences between demanglers: blanks, "(int)16", "<unnamed>", the return type.
std::string plain_name(std::string_view name) {
  std::string text = demangled(std::string(name));
  for (const auto& [from, to] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{{"<unnamed>", "(anonymous namespace)"},
                                                                            {"(int)", ""},
                                                                            {"(bool)1", "true"},
                                                                            {"(bool)0", "false"},
                                                                            {"(long)", ""},
                                                                            {" ", ""}}) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

/// A launch that was counted.
struct Counted {
  const ProcessTrace::Counts* counts = nullptr;
  const ProcessTrace::Counts* whole = nullptr;  ///< marks it as complete, in files with incomplete launches
  spool::Id kind = 0;
};

/// What launches of both files must have in common.
using Class = std::tuple<std::string, Geometry, std::string>;

class Join {
 public:
  Join(const ImportedProfile& counted, std::vector<ImportedProfile*> timed)
      : counted_(counted), timed_(std::move(timed)) {
    result_.file = counted.file;
    const ProcessTrace& trace = counted.trace;
    std::map<std::uint32_t, const ProcessTrace::Counts*> by_launch;
    std::map<spool::Id, const ProcessTrace::Counts*> whole;
    for (const auto& counts : trace.counts) {
      if (counts.about.group == 0) by_launch[counts.about.correlation] = &counts;
      if (counts.about.group != 0) whole[counts.about.kind] = &counts;
    }
    for (const spool::Kernel& kernel : trace.kernels) {
      const auto counts = by_launch.find(kernel.correlation);
      if (counts == by_launch.end()) continue;
      const spool::Kind& kind = trace.kind(kernel.kind);
      const auto is_whole = whole.find(kernel.kind);
      const Counted launch = {counts->second, is_whole == whole.end() ? nullptr : is_whole->second, kernel.kind};
      const std::string_view name = trace.text(kind.name);
      const std::string range = range_of(trace, kind);
      for (const std::string& known : {plain_name(name), base_of(name)}) {
        for (const std::string& where : {range, std::string(kAnyRange)}) {
          launches_[{known, geometry_of(kind), where}].push_back(launch);
        }
      }
      kinds_.insert(kernel.kind);
    }
    result_.counted = static_cast<std::int64_t>(kinds_.size());
  }

  JoinResult join() {
    for (ImportedProfile* profile : timed_) join_into(*profile);
    for (const spool::Id id : kinds_) {
      if (!surely_.contains(id) && !likely_.contains(id)) {
        result_.left.push_back(base_name(counted_.trace.text(counted_.trace.kind(id).name)));
      }
    }
    result_.surely = static_cast<std::int64_t>(surely_.size());
    for (const spool::Id id : likely_) result_.likely += surely_.contains(id) ? 0 : 1;
    return std::move(result_);
  }

 private:
  static constexpr std::string_view kAnyRange = "*";

  /// A short name, marked so that it can't equal a full name.
  static std::string base_of(std::string_view name) {
    std::string text = base_name(name);
    text.push_back('~');
    return text;
  }

  static std::string range_of(const ProcessTrace& trace, const spool::Kind& kind) {
    return without_numbers(range_path(trace, trace.place(kind.place).range));
  }

  void join_into(ImportedProfile& profile) {
    ProcessTrace& trace = profile.trace;
    std::map<spool::Id, spool::Id> texts;  ///< of the counted trace, in this one
    const auto text = [&](spool::Id id) {
      const auto [found, is_new] = texts.try_emplace(id, static_cast<spool::Id>(trace.texts.size()));
      if (is_new) trace.texts.emplace_back(counted_.trace.text(id));
      return found->second;
    };
    // Launches with equal name, geometry and range, in launch order: the order distinguishes launches that do different
    // work.
    std::map<Class, std::vector<const spool::Kernel*>> classes;
    for (const spool::Kernel& kernel : trace.kernels) {
      result_.time_s += seconds(kernel.end - kernel.start);
      const spool::Kind& kind = trace.kind(kernel.kind);
      classes[{plain_name_of(trace, kind), geometry_of(kind), range_of(trace, kind)}].push_back(&kernel);
    }
    std::map<spool::Id, std::set<const Counted*>> given;
    bool any = false;
    for (auto& [alike, kernels] : classes) {
      const std::string_view name = trace.text(trace.kind(kernels.front()->kind).name);
      const auto [launches, sure] = counted_launches(alike, name);
      if (launches == nullptr) continue;
      any = true;
      std::stable_sort(kernels.begin(), kernels.end(), [](auto* a, auto* b) { return a->start < b->start; });
      const bool repeats = kernels.size() % launches->size() == 0;
      if (!repeats && differ(*launches)) ++result_.ambiguous;
      for (std::size_t i = 0; i < kernels.size(); ++i) {
        const Counted& launch = (*launches)[i % launches->size()];
        result_.matched_s += seconds(kernels[i]->end - kernels[i]->start);
        (sure && (repeats || !differ(*launches)) ? surely_ : likely_).insert(launch.kind);
        given[kernels[i]->kind].insert(&launch);
      }
    }
    if (!any) return;
    for (const spool::Metric& metric : counted_.trace.metrics) {
      trace.metrics.push_back(
          {.index = metric.index, .group = metric.group, .quantity = text(metric.quantity), .name = text(metric.name)});
    }
    for (const auto& [kind, launches] : given) {
      for (const Counted* launch : launches) {
        for (const ProcessTrace::Counts* counts : {launch->counts, launch->whole}) {
          if (counts == nullptr) continue;
          ProcessTrace::Counts copy = *counts;
          copy.about.kind = kind;
          trace.counts.push_back(std::move(copy));
        }
        for (const spool::Uncounted& uncounted : counted_.trace.uncounted) {
          if (uncounted.kind == launch->kind)
            trace.uncounted.push_back({.kind = kind, .reason = text(uncounted.reason)});
        }
      }
    }
    trace.counts_by = counted_.trace.counts_by;
    std::erase_if(trace.notes, [](const auto& note) { return note.code == spool::NoteCode::not_counted; });
  }

  const std::string& plain_name_of(const ProcessTrace& trace, const spool::Kind& kind) {
    std::string& name = names_[std::string(trace.text(kind.name))];
    if (name.empty()) name = plain_name(trace.text(kind.name));
    return name;
  }

  /// The counted launches of that class, and whether the match is exact.
  std::pair<const std::vector<Counted>*, bool> counted_launches(const Class& alike, std::string_view name) const {
    const auto& [plain, geometry, range] = alike;
    for (const auto& [known, exact] : {std::pair(plain, true), std::pair(base_of(name), false)}) {
      for (const std::string& where : {range, std::string(kAnyRange)}) {
        const auto found = launches_.find({known, geometry, where});
        if (found == launches_.end()) continue;
        return {&found->second, exact && (where == range || !differ(found->second))};
      }
    }
    return {nullptr, false};
  }

  /// True if they did different work.
  static bool differ(const std::vector<Counted>& launches) {
    return std::any_of(launches.begin(), launches.end(),
                       [&](const Counted& launch) { return launch.kind != launches.front().kind; });
  }

  const ImportedProfile& counted_;
  std::vector<ImportedProfile*> timed_;
  JoinResult result_;
  std::map<Class, std::vector<Counted>> launches_;  ///< by the full and by the short name, of a range and of any
  std::set<spool::Id> kinds_, surely_, likely_;
  std::map<std::string, std::string> names_;
};

/// Samples of instructions, with the code that they are of. Returns the number of kernels that have any.
std::int64_t move_samples(ProcessTrace& from, ProcessTrace& to) {
  if (from.instruction_samples.empty()) return 0;
  std::set<spool::Id> kernels;
  std::map<spool::Id, spool::Id> texts;
  const auto text = [&](spool::Id id) {
    const auto [found, is_new] = texts.try_emplace(id, static_cast<spool::Id>(to.texts.size()));
    if (is_new) to.texts.emplace_back(from.text(id));
    return found->second;
  };
  // Another file's reasons may have other numbers.
  const auto others = static_cast<std::uint32_t>(to.stall_reasons.size());
  for (const spool::StallReason& reason : from.stall_reasons) {
    to.stall_reasons.push_back({.index = reason.index + others, .name = text(reason.name)});
  }
  for (spool::InstructionSamples samples : from.instruction_samples) {
    samples.function = text(samples.function);
    samples.reason += others;
    kernels.insert(samples.function);
    to.instruction_samples.push_back(samples);
  }
  to.instruction_phases.insert(to.instruction_phases.end(), from.instruction_phases.begin(),
                               from.instruction_phases.end());
  to.samples_by = from.samples_by;
  to.gpu_code.merge(from.gpu_code);
  to.source_files.merge(from.source_files);
  return static_cast<std::int64_t>(kernels.size());
}

}  // namespace

std::string base_name(std::string_view name) {
  std::string text = demangled(std::string(name));
  // The last name before template arguments and parameters; "(anonymous namespace)::" has parentheses of its own.
  for (const std::string_view unnamed : {"(anonymous namespace)::", "<unnamed>::"}) {
    for (std::size_t at = text.find(unnamed); at != std::string::npos; at = text.find(unnamed)) {
      text.erase(at, unnamed.size());
    }
  }
  std::string_view base = text;
  base = base.substr(0, std::min(base.find('<'), base.find('(')));
  if (const std::size_t colon = base.rfind(':'); colon != std::string_view::npos) base.remove_prefix(colon + 1);
  if (const std::size_t blank = base.rfind(' '); blank != std::string_view::npos) base.remove_prefix(blank + 1);
  return base.empty() ? std::string(name) : std::string(base);
}

std::vector<JoinResult> join_profiles(std::vector<ImportedProfile>& profiles) {
  std::vector<ImportedProfile*> timed;
  for (ImportedProfile& profile : profiles) {
    if (profile.kind != ImportedKind::ncu) timed.push_back(&profile);
  }
  std::vector<JoinResult> results;
  if (timed.empty()) return results;
  for (ImportedProfile& profile : profiles) {
    if (profile.kind != ImportedKind::ncu) continue;
    results.push_back(Join(profile, timed).join());
    results.back().sampled = move_samples(profile.trace, timed.front()->trace);
  }
  std::erase_if(profiles, [](const ImportedProfile& profile) { return profile.kind == ImportedKind::ncu; });
  return results;
}

void name_as_launched(KernelSamples& samples, const std::vector<ProcessTrace>& traces) {
  if (samples.empty()) return;
  std::map<std::string, std::string> names;  ///< by the plain name
  std::set<std::string> launched;
  for (const ProcessTrace& trace : traces) {
    for (const spool::Kind& kind : trace.kinds) {
      const std::string name = demangled(trace.text(kind.name));
      if (launched.insert(name).second) names.emplace(plain_name(name), name);
    }
  }
  for (SampledKernel& kernel : samples.kernels) {
    if (launched.contains(kernel.name)) continue;
    if (const auto found = names.find(plain_name(kernel.name)); found != names.end()) kernel.name = found->second;
  }
}

std::vector<std::string> sentences_of(const JoinResult& result) {
  std::vector<std::string> sentences;
  if (result.counted > 0 || result.sampled == 0) {
    sentences.push_back(fmt::format(
        "{}: {} counted launch signatures; {} matched by full name, grid and block, {} by short name, grid and "
        "block; {} of kernel time now has counters",
        result.file, result.counted, result.surely, result.likely,
        result.time_s > 0 ? percent(result.matched_s / result.time_s) : "none"));
  }
  if (result.sampled > 0) {
    sentences.push_back(fmt::format("{}: samples of the instructions of {}", result.file,
                                    counted_noun(result.sampled, "kernel", "kernels")));
  }
  if (result.ambiguous > 0) {
    sentences.push_back(
        fmt::format("{}: {} kernels do different work per launch, and the launch order does not match: their counters "
                    "are averaged",
                    result.file, result.ambiguous));
  }
  if (!result.left.empty()) {
    constexpr std::size_t kMost = 5;
    std::vector<std::string> names(
        result.left.begin(), result.left.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, result.left.size())));
    sentences.push_back(
        fmt::format("{}: not matched: {}{}", result.file, fmt::join(names, ", "),
                    result.left.size() > kMost ? fmt::format(" and {} more", result.left.size() - kMost) : ""));
  }
  return sentences;
}

}  // namespace roofline
