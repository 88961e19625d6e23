#include "user/work_of_formulas.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "user/binding.hpp"
#include "user/input_elements.hpp"

namespace roofline {
namespace {

/// Evaluations and operations of reductions that take some tenths of a second.
constexpr std::int64_t kMostElements = std::int64_t{1} << 20;
constexpr std::int64_t kSampled = std::int64_t{1} << 14;
constexpr std::int64_t kMostSteps = std::int64_t{1} << 25;

/// What evaluating one output's formula uses.
struct Used {
  double least_flops = 0, most_flops = 0, flops_outside = 0, compound = 0;  ///< as Expression::Flops
  double changed = 0;                           ///< elements of the output that differ from what was there
  std::map<std::string, double> elements = {};  ///< different ones, by input
};

/// Different elements of each tensor.
class Reads {
 public:
  explicit Reads(std::span<const HostTensor> inputs) {
    for (const HostTensor& input : inputs)
      seen_[input.spec().name].resize(static_cast<std::size_t>(input.spec().elements));
  }
  void add(const std::string& tensor, std::int64_t index) { seen_[tensor][static_cast<std::size_t>(index)] = true; }
  /// Other outputs may have used the same elements, so that only the larger count is certain.
  void count(Used& used) const {
    for (const auto& [tensor, seen] : seen_) {
      double& elements = used.elements[tensor];
      elements = std::max(elements, static_cast<double>(std::count(seen.begin(), seen.end(), true)));
    }
  }

 private:
  std::map<std::string, std::vector<bool>> seen_;
};

/// Elements in an order of which every beginning is spread evenly over all of them, so that evaluation may stop at any
/// time: each step goes on by the golden ratio's part of the range, and comes to every element once.
class SpreadOrder {
 public:
  explicit SpreadOrder(std::int64_t elements) : elements_(static_cast<std::uint64_t>(elements)) {
    stride_ =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(elements) * 0.6180339887498949));
    while (std::gcd(stride_, elements_) != 1) ++stride_;
  }
  std::int64_t next() {
    const std::uint64_t place = place_;
    place_ = (place_ + stride_) % elements_;
    return static_cast<std::int64_t>(place);
  }

 private:
  std::uint64_t elements_, stride_, place_ = 0;
};

const HostTensor* find_input(std::span<const HostTensor> inputs, const std::string& name) {
  const auto found =
      std::find_if(inputs.begin(), inputs.end(), [&](const HostTensor& input) { return input.spec().name == name; });
  return found == inputs.end() ? nullptr : &*found;
}

/// Adds what the formula of `output` uses. An element that keeps its value needs nothing: a border that the kernel
/// leaves as it is.
void add_use(Used& used, Reads& reads, const Formula& formula, const TensorSpec& output, const Values& values,
             std::span<const HostTensor> inputs) {
  const HostTensor* before = is_read(output.role) ? find_input(inputs, output.name) : nullptr;
  ElementFormula evaluate(formula, values, elements_of(inputs), output.elements);
  const bool all = output.elements <= kMostElements;
  const std::int64_t count = all ? output.elements : kSampled;
  // Elements read by the current evaluation, until it is known whether it keeps its value; a long reduction is not
  // kept.
  std::vector<std::pair<const std::string*, std::int64_t>> now;
  std::set<std::string> here;                    // inputs that it uses at the output's own index
  std::map<std::string, std::int64_t> in_place;  // evaluations that do so
  std::int64_t place = 0;
  evaluate.on_read([&](const std::string& tensor, std::int64_t index) {
    if (all && before == nullptr) {
      reads.add(tensor, index);
    } else if (all) {
      now.emplace_back(&tensor, index);
    } else if (index == place) {
      here.insert(tensor);
    }
  });
  SpreadOrder order(output.elements);
  std::int64_t evaluated = 0, changed = 0;
  Expression::Flops flops;
  for (; evaluated < count && evaluate.steps() < kMostSteps; ++evaluated) {
    place = order.next();
    now.clear();
    here.clear();
    const Expression::Flops flops_before = evaluate.flops();
    const double value = evaluate.bounded(place, 0).value;
    if (before != nullptr && (*before)[place] == value) continue;
    ++changed;
    flops.least += evaluate.flops().least - flops_before.least;
    flops.outside += evaluate.flops().outside - flops_before.outside;
    flops.most += evaluate.flops().most - flops_before.most;
    flops.compound += evaluate.flops().compound - flops_before.compound;
    for (const auto& [tensor, index] : now) reads.add(*tensor, index);
    for (const std::string& tensor : here) ++in_place[tensor];
  }
  const double each = static_cast<double>(output.elements) / static_cast<double>(evaluated);
  used.least_flops += static_cast<double>(flops.least) * each;
  used.flops_outside += static_cast<double>(flops.outside) * each;
  used.most_flops += static_cast<double>(flops.most) * each;
  used.compound += static_cast<double>(flops.compound) * each;
  used.changed += static_cast<double>(changed) * each;
  for (const auto& [tensor, times] : in_place)
    used.elements[tensor] = std::max(used.elements[tensor], static_cast<double>(times) * each);
}

}  // namespace

WorkBounds work_of_formulas(const KernelSpec& spec, const Workload& workload, std::span<const HostTensor> inputs) {
  const Values values = values_of({}, workload);
  WorkBounds bounds;
  Used used;
  Reads reads(inputs);
  bool known = !spec.expect.formulas.empty(), floating = true, reduces = false;
  double outputs = 0, of_integers = 0;
  for (const TensorSpec& tensor : tensors_of(spec, workload)) {
    if (is_read(tensor.role)) bounds.read_most += static_cast<double>(tensor.bytes());
    if (!is_written(tensor.role)) continue;
    bounds.write_most += static_cast<double>(tensor.bytes());
    const auto formula = spec.expect.formulas.find(tensor.name);
    if (formula == spec.expect.formulas.end()) {
      // Compared with values from elsewhere, and all of it was written.
      if (tensor.role == TensorRole::output) bounds.write_least += static_cast<double>(tensor.bytes());
      known = false;
      continue;
    }
    const double changed_before = used.changed, flops_before = used.most_flops;
    add_use(used, reads, formula->second, tensor, values, inputs);
    const double changed = used.changed - changed_before;
    bounds.write_least += changed * static_cast<double>(element_size(tensor.dtype));
    outputs += changed;
    floating = floating && !is_integer(tensor.dtype);
    if (is_integer(tensor.dtype)) of_integers += used.most_flops - flops_before;
    reduces = reduces || formula->second.has_reductions();
  }
  reads.count(used);
  double elements = 0;
  for (const auto& [name, count] : used.elements) {
    bounds.read_least += count * static_cast<double>(element_size(find_input(inputs, name)->spec().dtype));
    elements += count;
  }
  if (of_integers > 0) bounds.integer_operations = of_integers;
  if (known) {
    bounds.flops_most = used.most_flops;
    // A result of k values takes k - 1 operations of two; a formula without reductions says itself what is needed. How
    // many of those of integers count as FLOPs is for the suite to say.
    const double combined = std::clamp(elements - outputs, 0.0, used.least_flops);
    const double least = reduces ? std::max(combined, used.flops_outside) : used.least_flops;
    bounds.flops_least = floating ? least : 0;
    bounds.compound_operations = used.compound;
  }
  return bounds;
}

}  // namespace roofline
