// Rules on collectives, launches and transfers.
#include "report/diagnosis/rules/rule_terms.hpp"

namespace roofline::rule_parts {
namespace {

/// Fraction of the rate that the calibration's sweep reached for the same message size.
constexpr double kAsCalibrated = 0.85;

// One entry per rule, not one line per member.
// clang-format off
constexpr Rule kCollectiveRules[] = {
    // Collectives, alone or with their product. The calibration's sweep gives the attainable rate of a message size.
    {"at-latency", kGpu, {is("network.latency.bound"), kNearRoof, kNotFarAbove},
     "Reaches {roof.fraction} of its roof, the latency of its collective.",
     "Merge messages: latency is below 10 % from {network.enough} on. Small ones: one-shot kernels over peer memory.",
     kMeasured, RuleKind::at_roof},
    {"at-link", kGpu, {is("network.bound"), kNearRoof, kNotFarAbove},
     "Reaches {roof.fraction} of the link roof ({network.bus} bus bandwidth).",
     "Send less or overlap it: a smaller type, reduce_scatter and all_gather (sequence parallelism), gradient "
     "accumulation.",
     kMeasured, RuleKind::at_roof},
    {"below-link", kGpu, {kUnderRoof, kAlone, below("network.of_size", kAsCalibrated)},
     "Bus bandwidth {network.bus}, {network.of_size} of the calibrated rate at this message size.",
     "Check NCCL's choices with NCCL_DEBUG=INFO: P2P over NVLink, algorithm, protocol, channels. Unset "
     "NCCL_P2P_DISABLE, NCCL_ALGO, NCCL_PROTO and NCCL_MAX_NCHANNELS. Then look for other traffic on the links.",
     kMeasured},
    {"message-size", kGpu, {kUnderRoof, kAlone, above("network.of_size", kAsCalibrated)},
     "The message size limits it: {network.message} was no faster in calibration; latency is "
     "{network.latency.share} of the time.",
     "Merge messages (buckets, flattened tensors): latency is below 10 % from {network.enough} on. Small ones: a "
     "CUDA graph, or one-shot kernels over peer memory.",
     kMeasured},
    {"exchange-latency", kGpu,
     {kUnderRoof, kWithProduct, above("network.need", 0.2), above("network.latency.part", 0.5)},
     "The collective takes {network.need} of the time, more than half of it latency ({network.latency.share}).",
     "Exchange less often: one-shot all_reduce over peer memory fused with the next norm, one exchange per layer, more "
     "tokens per step.",
     kMeasured},
    // If two activities overlap, their separate times add up to more than the total.
    {"takes-turns", kGpu,
     {kUnderRoof, kWithProduct, above("overlap.gain", 0.1), above("apart.share", 0.7), below("apart.share", 1.1)},
     "Product and collective do not overlap: alone they need {product.share} and {network.need} of the time.",
     "Overlap saves up to {overlap.gain:most}: split the product by rows, send chunks on another stream (NCCL_MAX_CTAS). "
     "Or use async tensor parallelism (Transformer Engine, cuBLASMp).",
     kMeasured},
};

constexpr Rule kLaunchRules[] = {
    // The floor is that of empty kernels in a row. A kernel that reads and writes a little takes twice that on an H200.
    {"launch-bound", kGpu, {above("launch.share", 0.35)}, "Launch overhead is {launch.share} of the time.",
     "Fuse kernels, launch them as one CUDA graph, or increase the problem size.", kMeasured},
    {"launch-bound", kCpu, {above("launch.share", 0.35)},
     "Starting and joining threads takes {launch.share} of the time.",
     "Fuse it with adjacent ops, increase the problem size, or use fewer threads.", kMeasured},
    {"transfer-bound", kGpu, {above("transfer.share", 0.5)},
     "Transfers over PCIe or NVLink take {transfer.share} of the time.",
     "Keep the data on the device, overlap copies with kernels, or use pinned memory.", kMeasured},
};
// clang-format on

}  // namespace

std::span<const Rule> collective_rules() { return kCollectiveRules; }
std::span<const Rule> launch_rules() { return kLaunchRules; }

}  // namespace roofline::rule_parts
