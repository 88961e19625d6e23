#include "import/torch_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "import/op_work.hpp"
#include "model/error.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Json = nlohmann::json;

/// These reserve memory or describe it.
constexpr std::string_view kWithoutWork[] = {
    "empty",      "empty_like", "new_empty", "empty_strided",     "resize_",   "as_strided_", "unsqueeze_", "squeeze_",
    "transpose_", "detach_",    "t_",        "new_empty_strided", "lift_fresh"};

/// These move elements and compute none: that they have no FLOPs is known.
constexpr std::string_view kMovers[] = {
    "_to_copy", "arange",      "cat",  "clone",       "constant_pad_nd", "flip",  "full",       "full_like",
    "index",    "masked_fill", "ones", "ones_like",   "repeat",          "roll",  "rot90",      "scalar_tensor",
    "stack",    "tril",        "triu", "unfold_copy", "where",           "zeros", "zeros_like", "_foreach_copy_"};

std::string_view base_name(std::string_view name) {
  const std::size_t space = name.rfind("::");
  return space == std::string_view::npos ? name : name.substr(space + 2);
}

double total(const std::vector<TorchUse>& uses) {
  double bytes = 0;
  for (const TorchUse& use : uses) bytes += use.bytes;
  return bytes;
}

class TorchProblem {
 public:
  TorchProblem(const TorchGraph& graph, const Inference& inference)
      : graph_(graph), inference_(inference), memory_(main_memory(inference.device)) {}

  BoundProblem made() {
    phase_.name = "forward";
    phase_.fused = Work{};
    for (const TorchCall& call : graph_.calls) add(call);
    if (phase_.parts.empty())
      throw UsageError(graph_.file + ": no operator computes", "return what forward() computes");
    add_fused_bytes();
    BoundProblem problem;
    problem.name =
        fmt::format("{}: {}, {} of parameters and inputs", clean_line(graph_.file),
                    counted_noun(std::llround(calls_), "operator", "operators"), si(persistent_bytes(), "B"));
    if (!without_model_.empty()) {
      problem.notes.push_back(
          fmt::format("FLOPs of {} are not counted, their bytes are", fmt::join(without_model_, ", ")));
    }
    problem.phases.push_back(std::move(phase_));
    return problem;
  }

 private:
  void add(const TorchCall& call) {
    if (std::ranges::find(kWithoutWork, base_name(call.name)) != std::end(kWithoutWork)) return;
    calls_ += call.times;
    for (const TorchUse& use : call.reads) read_[use.storage] += call.times * use.bytes;
    for (const TorchUse& use : call.writes) written_[use.storage] += call.times * use.bytes;
    const auto [known, is_new] =
        part_of_.try_emplace({call.name, call.dims, call.types, call.concrete, call.tf32}, phase_.parts.size());
    if (is_new) {
      const OpCall op = {call.name, call.dims, call.types, call.concrete};
      std::string name = text_of(op);
      if (name.starts_with("aten::")) name.erase(0, std::string_view("aten::").size());
      phase_.parts.push_back({clean_line(name), 0, work_of_call(call, op)});
    }
    ProblemPart& part = phase_.parts[known->second];
    part.times += call.times;
    for (const auto& [pipe, flops] : part.work.flops) phase_.fused->flops[pipe] += call.times * flops;
  }

  Work work_of_call(const TorchCall& call, const OpCall& op) {
    const std::optional<OpWork> known = work_of(op);
    Work work;
    Traffic& traffic = work.bytes[memory_];
    traffic = {.read = total(call.reads), .write = total(call.writes)};
    if (!known) {
      const bool moves = std::ranges::find(kMovers, base_name(call.name)) != std::end(kMovers);
      if (!moves && !has_model(call.name)) without_model_.insert(clean_line(std::string(base_name(call.name))));
      return work;
    }
    if (const auto bytes = known->work.bytes.find(Level::hbm); bytes != known->work.bytes.end())
      traffic = bytes->second;
    const bool tf32 = known->by_longest_kernel && (call.tf32 || inference_.tf32);
    for (const auto& [pipe, flops] : known->work.flops) {
      work.flops[tf32 && pipe == Pipe::fp32 ? product_pipe(DType::fp32, true, inference_.device) : pipe] += flops;
    }
    return work;
  }

  void add_fused_bytes() {
    Traffic& all = phase_.fused->bytes[memory_];
    for (const auto& [storage, bytes] : read_) {
      if (is_persistent(storage)) all.read += std::min(bytes, graph_.storages[storage].bytes);
    }
    std::map<std::size_t, double> kept;
    for (const TorchUse& use : graph_.outputs) {
      if (written_.contains(use.storage)) kept[use.storage] = std::max(kept[use.storage], use.bytes);
    }
    for (const auto& [storage, bytes] : written_) {
      if (is_persistent(storage)) kept[storage] = std::min(bytes, graph_.storages[storage].bytes);
    }
    for (const auto& [storage, bytes] : kept) all.write += bytes;
  }

  bool is_persistent(std::size_t storage) const {
    return storage < graph_.storages.size() && graph_.storages[storage].persistent;
  }

  double persistent_bytes() const {
    double bytes = 0;
    for (const TorchStorage& storage : graph_.storages) bytes += storage.persistent ? storage.bytes : 0;
    return bytes;
  }

  const TorchGraph& graph_;
  const Inference& inference_;
  Level memory_;
  ProblemPhase phase_;
  double calls_ = 0;
  std::map<std::tuple<std::string, std::string, std::string, std::string, bool>, std::size_t> part_of_;
  std::map<std::size_t, double> read_, written_;  ///< bytes by storage
  std::set<std::string> without_model_;
};

std::vector<TorchUse> uses_of(const Json& list, std::size_t storages) {
  std::vector<TorchUse> uses;
  for (const Json& use : list) {
    const auto storage = use.at(0).get<std::size_t>();
    const auto bytes = use.at(1).get<double>();
    if (storage >= storages || !(bytes >= 0)) throw UsageError("a use of no storage");
    uses.push_back({storage, bytes});
  }
  return uses;
}

}  // namespace

TorchGraph parse_torch_trace(std::string_view line) {
  const Json document = Json::parse(line, nullptr, false);
  if (!document.is_object()) throw UsageError("the trace of a PyTorch problem is no JSON");
  TorchGraph graph;
  try {
    graph.file = document.at("file").get<std::string>();
    if (const auto error = document.find("error"); error != document.end()) {
      throw UsageError(fmt::format("{}: {}", graph.file, clean_line(error->get<std::string>())));
    }
    for (const Json& storage : document.at("storages")) {
      graph.storages.push_back({storage.at(0) != "intermediate", storage.at(1).get<double>()});
    }
    for (const Json& from : document.at("calls")) {
      TorchCall call;
      call.name = from.at("name").get<std::string>();
      call.dims = from.at("dims").dump();
      call.types = from.at("types").dump();
      call.concrete = from.at("concrete").dump();
      call.times = from.at("times").get<double>();
      call.tf32 = from.at("tf32").get<bool>();
      call.reads = uses_of(from.at("reads"), graph.storages.size());
      call.writes = uses_of(from.at("writes"), graph.storages.size());
      graph.calls.push_back(std::move(call));
    }
    graph.outputs = uses_of(document.at("outputs"), graph.storages.size());
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{}: its trace is incomplete ({})", graph.file, error.what()));
  }
  return graph;
}

BoundProblem problem_of(const TorchGraph& graph, const Inference& inference) {
  return TorchProblem(graph, inference).made();
}

}  // namespace roofline
