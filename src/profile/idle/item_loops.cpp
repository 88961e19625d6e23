#include "profile/idle/item_loops.hpp"

#include <set>
#include <string_view>

#include "profile/actions.hpp"
#include "profile/causes/kernel_names.hpp"

namespace roofline {
namespace {

using PlaceOfProcess = std::pair<int, spool::Id>;

PlaceOfProcess place_of(const StepActivity& entry) { return {entry.activity->process, entry.place.id}; }

}  // namespace

ItemLoops::ItemLoops(const StepActivities& activities) {
  constexpr double kOften = 32;                                      // launches of a kernel at a line in a step
  if (framework_of(activities.recording) == Framework::jax) return;  // a call launches a whole program
  std::set<PlaceOfProcess> compiled;
  std::map<std::pair<PlaceOfProcess, std::string_view>, double> launches;
  for (const StepActivity& entry : activities.all) {
    if (entry.activity->what != ActivityKind::kernel || entry.place.line == 0) continue;
    if (is_of_inductor(entry.symbol)) compiled.insert(place_of(entry));
    const bool by_autograd = entry.place.backward != 0 || entry.place.operation != 0;
    if (!by_autograd && !is_of_tensor_lists(entry.symbol)) ++launches[{place_of(entry), entry.symbol}];
  }
  const double often = kOften * static_cast<double>(activities.steps.size());
  for (const auto& [kernel, count] : launches) {
    const auto& [process, place] = kernel.first;
    if (count < often || compiled.contains(kernel.first)) continue;
    const ProcessTrace& trace = activities.recording.traces[static_cast<std::size_t>(process)];
    const spool::Line& line = trace.line(trace.place(place).line);
    CauseDetail& kind =
        functions_.try_emplace({process, line.file, line.function}, CauseDetail::item_loop).first->second;
    if (is_collective(kernel.second)) kind = CauseDetail::collective_loop;
    if (is_recurrent_cell(kernel.second)) kind = CauseDetail::recurrent_cells;
  }
}

CauseDetail ItemLoops::of(const Recording& recording, const Activity& launched) const {
  if (functions_.empty()) return CauseDetail::none;
  const spool::Place& place = recording.place(launched);
  if (place.line == 0) return CauseDetail::none;
  const spool::Line& line = recording.traces[static_cast<std::size_t>(launched.process)].line(place.line);
  const auto found = functions_.find({launched.process, line.file, line.function});
  if (found == functions_.end()) return CauseDetail::none;
  const bool backward = place.backward != 0 && found->second != CauseDetail::recurrent_cells;
  return backward ? CauseDetail::none : found->second;
}

}  // namespace roofline
