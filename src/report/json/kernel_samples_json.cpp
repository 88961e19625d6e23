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
  io.positive("special", sampled.special);
  io.positive("double_conversions", sampled.double_conversions);
  io.text("store_line", sampled.store_line);
  io.positive("shared", sampled.shared);
  io.positive("queue_full", sampled.queue_full);
  io.positive("behind_barrier", sampled.behind_barrier);
  io.text("behind_line", sampled.behind_line);
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
      if (instruction.line >= lines) json.fail("an instruction refers to a line that the kernel lacks");
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

nlohmann::ordered_json json_of(const KernelSamples& samples) { return write_members(samples); }
void read_json(const JsonValue& json, KernelSamples& samples) { read_members(json, samples); }

nlohmann::ordered_json json_of(const SampledKind& sampled) { return write_members(sampled); }
void read_json(const JsonValue& json, SampledKind& sampled) { read_members(json, sampled); }

}  // namespace roofline
