#include "inject/counter_chips.hpp"

#include <fstream>
#include <utility>

#include "model/error.hpp"

namespace roofline::inject {

CounterChips::CounterChips(Session& session) : session_(session) {
  std::ifstream file(session.folder + "/" + spool::kMetricsFile);
  quantities_ = read_quantities(file);
}

CounterChip& CounterChips::of(CUcontext context, const DriverEvents& driver) {
  if (!profiler_) {
    profiler_.emplace(cupti().handle());
    profiler_->require();
  }
  CUdevice device = 0;
  if (driver.context_device(&device) != CUDA_SUCCESS) throw Error("a context without a device");
  const std::string name = profiler_->chip_name(device);
  profiler_->require_support(device);
  std::vector<std::uint8_t> availability = profiler_->availability(context);
  std::unique_ptr<CounterChip>& chip = chips_[name];
  if (!chip) add(name, std::move(availability), chip);
  return *chip;
}

void CounterChips::add(const std::string& name, std::vector<std::uint8_t> availability,
                       std::unique_ptr<CounterChip>& chip) {
  constexpr std::uint32_t kMostGroups = 64;
  auto made = std::make_unique<CounterChip>(
      CounterChip{CounterGroups(*profiler_, name, std::move(availability), quantities_), {}});
  const std::vector<CounterGroup>& groups = made->groups.groups();
  if (groups.empty() || groups_ + groups.size() > kMostGroups) {
    throw Error("the " + name + " has none of the requested counters");
  }
  made->range.first = groups_;
  made->range.count = static_cast<std::uint32_t>(groups.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (groups[group].instrumented) made->range.instrumented |= std::uint64_t{1} << (groups_ + group);
  }
  for (std::size_t quantity = 0; quantity < quantities_.size(); ++quantity) {
    const CounterGroups::Place& place = made->groups.places()[quantity];
    session_.spool.write(spool::Type::metric,
                         spool::Metric{place.index, groups_ + place.group,
                                       session_.spool.text(quantities_[quantity].id), session_.spool.text(place.name)});
  }
  groups_ += made->range.count;
  chip = std::move(made);
}

}  // namespace roofline::inject
