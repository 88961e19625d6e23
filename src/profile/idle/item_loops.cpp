#include "profile/idle/item_loops.hpp"

#include <set>
#include <string_view>

#include "profile/actions.hpp"
#include "profile/causes/kernel_names.hpp"

namespace roofline {
namespace {

using PlaceOfProcess = std::pair<int, spool::Id>;

PlaceOfProcess place_of(const StepActivity& entry) { return {entry.activity->process, entry.place.id}; }

/// Copies of a few bytes to the host by the lines of each function: sizes and values that the program waits for.
std::map<ItemLoops::Function, double> readbacks_of(const StepActivities& activities) {
  constexpr std::uint64_t kFew = 64;
  std::map<ItemLoops::Function, double> readbacks;
  for (const StepActivity& entry : activities.all) {
    if (entry.activity->what != ActivityKind::copy || entry.place.line == 0) continue;
    const spool::Copy& copy = activities.copy(entry);
    if (copy.from != spool::Memory::device || copy.to == spool::Memory::device || copy.bytes > kFew) continue;
    const spool::Line& line = activities.trace(entry).line(entry.place.line);
    ++readbacks[{entry.activity->process, line.file, line.function}];
  }
  return readbacks;
}

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
  const std::map<Function, double> readbacks = readbacks_of(activities);
  const double often = kOften * static_cast<double>(activities.steps.size());
  for (const auto& [kernel, count] : launches) {
    const auto& [process, place] = kernel.first;
    if (count < often || compiled.contains(kernel.first)) continue;
    const ProcessTrace& trace = activities.recording.traces[static_cast<std::size_t>(process)];
    const spool::Line& line = trace.line(trace.place(place).line);
    CauseDetail& kind =
        functions_.try_emplace({process, line.file, line.function}, CauseDetail::item_loop).first->second;
    lines_.insert({process, line.file, line.number});
    const auto read = readbacks.find({process, line.file, line.function});
    constexpr double kShareOfItems = 0.25;
    if (read != readbacks.end() && read->second >= kShareOfItems * often) kind = CauseDetail::grouped_loop;
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
  // Autograd repeats the launches of the loop's own lines; other lines of the function are elsewhere in it.
  const bool of_loop = place.backward == 0 || found->second == CauseDetail::recurrent_cells ||
                       lines_.contains({launched.process, line.file, line.number});
  return of_loop ? found->second : CauseDetail::none;
}

}  // namespace roofline
