#include "report/json/kernel_samples_json.hpp"

#include "report/json/json_members.hpp"

namespace roofline {
static auto vocabulary(WaitFor) { return std::pair(&parse_wait_for, "wait"); }

void members(auto& io, SampledWait& wait) {
  io("what", wait.what);
  io("share", wait.share);
  io.text("line", wait.line);
  io.text("used_line", wait.used_line);
  io("line_share", wait.line_share);
}

void members(auto& io, SampledKind& sampled) {
  io("samples", sampled.samples);
  io("waits", sampled.waits);
}

void members(auto& io, WaitCount& wait) {
  io("what", wait.what);
  io("samples", wait.samples);
}

void members(auto& io, ReasonCount& reason) {
  io.text("reason", reason.reason);
  io("samples", reason.samples);
}

void members(auto& io, SampledLine& line) {
  io.text("file", line.file);
  io("line", line.line);
  io.text("text", line.text);
  io("samples", line.samples);
  io("waits", line.waits);
}

void members(auto& io, SampledInstruction& instruction) {
  io("offset", instruction.offset);
  io.text("name", instruction.name);
  io.index("line", instruction.line);
  io("samples", instruction.samples);
  io("reasons", instruction.reasons);
  io("waits_for", instruction.waits_for);
}

void members(auto& io, SampledKernel& kernel) {
  io.text("name", kernel.name);
  io("samples", kernel.samples);
  io("reasons", kernel.reasons);
  io("waits", kernel.waits);
  io("lines", kernel.lines);
  io("instructions", kernel.instructions);
  const int lines = static_cast<int>(kernel.lines.size());
  io.require([&](const JsonValue& json) {
    for (const SampledInstruction& instruction : kernel.instructions) {
      if (instruction.line >= lines) json.fail("an instruction's line is none of the kernel's");
    }
  });
}

void members(auto& io, KernelSamples& samples) {
  io.text("by", samples.by);
  io("seconds", samples.seconds);
  io("samples", samples.samples);
  io.positive("dropped", samples.dropped);
  io.positive("elsewhere", samples.elsewhere);
  io("period", samples.period);
  io("kernels", samples.kernels);
}

nlohmann::ordered_json kernel_samples_to_json(const KernelSamples& samples) { return to_json_value(samples); }
KernelSamples read_kernel_samples(const JsonValue& json) { return read_value<KernelSamples>(json); }

nlohmann::ordered_json sampled_to_json(const SampledKind& sampled) { return to_json_value(sampled); }
SampledKind read_sampled(const JsonValue& json) { return read_value<SampledKind>(json); }

}  // namespace roofline
