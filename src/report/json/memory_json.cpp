#include "report/json/memory_json.hpp"

#include "report/json/json_members.hpp"

namespace roofline {
static auto vocabulary(MemorySource) { return std::pair(&parse_memory_source, "source of memory figures"); }

void members(auto& io, MemoryPoint& point) {
  io("time_s", point.time_s);
  io("allocated", point.allocated);
  io("reserved", point.reserved);
}

void members(auto& io, MemoryHolder& holder) {
  io.text("line", holder.line);
  io.text("module", holder.module);
  io("backward", holder.backward);
  io("blocks", holder.blocks);
  io("bytes", holder.bytes);
}

void members(auto& io, MemoryGrowth& growth) {
  io("bytes", growth.bytes);
  io("seconds", growth.seconds);
  io("bytes_per_s", growth.bytes_per_s);
  io.optional("bytes_per_step", growth.bytes_per_step);
  io.optional("seconds_until_full", growth.seconds_until_full);
  io.optional("steps_until_full", growth.steps_until_full);
  io("kept", growth.kept);
}

void members(auto& io, OutOfMemory& failure) {
  io("time_s", failure.time_s);
  io("requested", failure.requested);
  io("allocated", failure.allocated);
  io("reserved", failure.reserved);
  io.text("line", failure.line);
}

void members(auto& io, GpuMemory& memory) {
  io("device", memory.device);
  io("pid", memory.pid);
  io("source", memory.source);
  io.positive("capacity", memory.capacity);
  io("peak_allocated", memory.peak_allocated);
  io("peak_reserved", memory.peak_reserved);
  io("peak_s", memory.peak_s);
  io("allocated", memory.allocated);
  io("reserved", memory.reserved);
  io.positive("outside", memory.outside);
  io("curve", memory.curve);
  io("explained_s", memory.explained_s);
  io("explained", memory.explained);
  io("at_peak", memory.at_peak);
  io("per_step", memory.per_step);
  io("reserved_by", memory.reserved_by);
  io("in_graphs", memory.in_graphs);
  io.optional("growth", memory.growth);
  io.optional("out_of_memory", memory.out_of_memory);
  io.positive("failures", memory.failures);
}

void members(auto& io, HostMemory& memory) {
  io("pid", memory.pid);
  io.text("command", memory.command);
  io.positive("capacity", memory.capacity);
  io("peak", memory.peak);
  io("curve", memory.curve);
  io.optional("growth", memory.growth);
}

void members(auto& io, MemoryProfile& memory) {
  io("devices", memory.devices);
  io("host", memory.host);
}

nlohmann::ordered_json json_of(const MemoryProfile& memory) { return write_members(memory); }
void read_json(const JsonValue& json, MemoryProfile& memory) { read_members(json, memory); }

}  // namespace roofline
