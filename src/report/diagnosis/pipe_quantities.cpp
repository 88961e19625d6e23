// Work that another pipe of this GPU does faster: double precision, and matrix products in fp32.
#include <algorithm>
#include <map>

#include "report/diagnosis/quantity_groups.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

/// Operations per second of a pipe at the row's clock; 0 without a roof.
double roof_of(Pipe pipe, const Point& point, const Machine& machine) {
  const Ceiling* const roof = machine.compute_at(pipe, point.time->clock_hz, point.work.threads);
  return roof == nullptr ? 0 : roof->value;
}

/// Upper bound on the fraction of the row's time saved by moving its operations from `from` to `to`.
double time_saved(Pipe from, Pipe to, const Point& point, const Machine& machine) {
  Work work = point.work;
  for (std::map<Pipe, double>* const operations : {&work.flops, &work.uncounted}) {
    const auto found = operations->find(from);
    if (found == operations->end()) continue;
    const double moved = found->second;
    operations->erase(found);
    (*operations)[to] += moved;
  }
  return 1 - bound_of(work, machine, point.time->clock_hz).attainable_time_s / time_at_roof_speed(point);
}

double operations_on(Pipe pipe, const Work& work) {
  const std::map<Pipe, double> all = work.operations();
  const auto found = all.find(pipe);
  return found == all.end() ? 0 : found->second;
}

/// Each thread loads and stores at most 4 bytes at a time. Stores decide: bytes of addresses that threads share are
/// counted once, so that loads can seem narrow.
bool has_narrow_data(const QuantityCollector& out, const Counters& counters) {
  constexpr double kSingle = 4, kWarp = 32;
  const auto stored = counters.ratio("global.store_bytes", "global.store_instructions");
  const auto loaded = out.get("load.width");
  return stored && *stored <= kSingle * kWarp && loaded.value_or(0) <= kSingle;
}

void add_double_precision(QuantityCollector& out, const Point& point, const Machine& machine,
                          const Counters& counters) {
  const double vector = operations_on(Pipe::fp64, point.work), tensor = operations_on(Pipe::tensor_fp64, point.work);
  if (!(vector + tensor > 0)) return;
  const bool products = tensor > vector;
  const Pipe from = products ? Pipe::tensor_fp64 : Pipe::fp64;
  const Pipe to = products && machine.compute(Pipe::tensor_tf32) != nullptr ? Pipe::tensor_tf32 : Pipe::fp32;
  const double now = roof_of(from, point, machine), then = roof_of(to, point, machine);
  if (!(now > 0) || !(then > now)) return;
  // Programs that are meant to compute in double precision have data in it.
  constexpr double kDouble = 8, kSome = 0.02;  // bytes; of the operations
  const auto width = out.get("load.width");
  const bool single_data = width && *width < kDouble;
  const double single = operations_on(Pipe::fp32, point.work);
  const bool mixed = single > kSome * (vector + tensor);
  out.flag_is("fp64.mixed", !products && (single_data || mixed));
  // Divisions and functions of such a kernel are in double precision, too, if it converts, or if most of its
  // operations are in it although its data is not.
  constexpr double kConverts = 0.1, kSomeConversions = 0.01;  // of the waits; of the instructions
  const bool sampled = point.profiled && point.profiled->sampled;
  if (!products && !sampled) out.set("fp64.operations", vector / (vector + single));
  const bool converts = sampled && point.profiled->sampled->double_conversions > kSomeConversions;
  const double double_waits = out.get("wait.conversion.share").value_or(0) + out.get("wait.fp64.share").value_or(0);
  const bool by_literals = !products && vector > single && has_narrow_data(out, counters);
  if (double_waits > kConverts || by_literals || (converts && vector > single))
    out.set("wait.double.share", double_waits + out.get("wait.division.share").value_or(0));
  out.set("fp64.busy", std::max(vector, tensor) / now / time_at_roof_speed(point));
  out.set("fp64.rate", then / now);
  out.set("fp64.needless", time_saved(from, to, point, machine));
}

/// Multiply-adds whose operands come from shared memory, and hardly any other arithmetic: as in a matrix product.
void add_products(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
  const double flops = operations_on(Pipe::fp32, point.work);
  const auto multiply_adds = counters.find("fp32.fma");
  const auto tensor = out.get("tensor.executed");
  const auto shared = counted_bytes(counters, Level::shared);
  const auto memory = counted_bytes(counters, main_memory(machine.device.kind));
  if (!multiply_adds || !(flops > 0) || !shared || !memory || !(*memory > 0) || tensor.value_or(0) == 1) return;
  constexpr double kAll = 0.95, kFlops = 2;
  constexpr double kLeastShared = 0.1, kMostShared = 8;  // bytes a multiply-add
  constexpr double kReuse = 50;                          // FLOP/byte
  const double bytes = *shared / *multiply_adds;
  const bool like =
      kFlops * *multiply_adds > kAll * flops && flops / *memory > kReuse && bytes > kLeastShared && bytes < kMostShared;
  out.flag_is("products.fp32", like);
  // Conversions of fp16 count as additions of the FP16 pipe.
  constexpr double kConverted = 0.005;  // an operand of 16 bits is used for up to 200 multiply-adds
  out.flag_is("products.widened", counters.find("half.add").value_or(0) > kConverted * *multiply_adds);
  const double now = roof_of(Pipe::fp32, point, machine), then = roof_of(Pipe::tensor_tf32, point, machine);
  if (!like || !(now > 0) || !(then > now)) return;
  out.set("products.busy", flops / now / time_at_roof_speed(point));
  out.set("products.rate", then / now);
  out.set("products.needless", time_saved(Pipe::fp32, Pipe::tensor_tf32, point, machine));
}

}  // namespace

void add_pipes(QuantityCollector& out, const Point& point, const Machine& machine, const Counters& counters) {
  // The type of an op's row was chosen.
  if (!point.profiled || machine.device.kind != DeviceKind::cuda) return;
  add_double_precision(out, point, machine, counters);
  add_products(out, point, machine, counters);
}

}  // namespace roofline
