#include "inject/driver_calls.hpp"

#include <array>

namespace roofline::inject {
namespace {

struct Entry {
  std::string_view name;
  spool::CallKind kind;
  Arguments arguments = Arguments::none;
  bool recorded = true;
  bool prefix = false;
};

constexpr auto kCalls = std::to_array<Entry>({
    {"cuLaunchKernel", spool::CallKind::launch, Arguments::kernel},
    {"cuLaunchKernelEx", spool::CallKind::launch, Arguments::kernel_ex},
    {"cuLaunchCooperativeKernel", spool::CallKind::launch, Arguments::cooperative},
    {"cuLaunchCooperativeKernelMultiDevice", spool::CallKind::launch, Arguments::multi_device},
    {"cuLaunch", spool::CallKind::launch, Arguments::grid},
    {"cuLaunchGrid", spool::CallKind::launch, Arguments::grid},
    {"cuLaunchGridAsync", spool::CallKind::launch, Arguments::grid},
    {"cuGraphLaunch", spool::CallKind::graph_launch, Arguments::graph},
    {"cuMemcpyHtoD", spool::CallKind::copy, Arguments::copy_in},
    {"cuMemcpyHtoDAsync", spool::CallKind::copy, Arguments::copy_in},
    {"cuMemcpyDtoD", spool::CallKind::copy, Arguments::written_to},
    {"cuMemcpyDtoDAsync", spool::CallKind::copy, Arguments::written_to},
    {"cuMemcpyAsync", spool::CallKind::copy, Arguments::written_to},
    {"cuMemcpyDtoH", spool::CallKind::copy, Arguments::copy_out, true, true},
    {"cuMemcpy", spool::CallKind::copy, Arguments::none, true, true},
    {"cuMemPrefetch", spool::CallKind::copy, Arguments::none, true, true},
    {"cuMemset", spool::CallKind::fill, Arguments::written_to, true, true},
    {"cuStreamSynchronize", spool::CallKind::synchronise},
    {"cuCtxSynchronize", spool::CallKind::synchronise},
    {"cuEventSynchronize", spool::CallKind::synchronise},
    {"cuEventRecord", spool::CallKind::event, Arguments::none, true, true},
    {"cuStreamWaitEvent", spool::CallKind::event},
    {"cuEventCreate", spool::CallKind::other, Arguments::none, true, true},
    {"cuEventDestroy", spool::CallKind::other},
    {"cuStreamCreate", spool::CallKind::other, Arguments::none, true, true},
    {"cuStreamDestroy", spool::CallKind::other},
    {"cuMemAllocPitch", spool::CallKind::allocate, Arguments::pitched},
    {"cuMemAlloc", spool::CallKind::allocate, Arguments::memory, true, true},
    {"cuMemHostAlloc", spool::CallKind::allocate, Arguments::memory},
    {"cuMemHostRegister", spool::CallKind::allocate, Arguments::registered},
    {"cuMemAddressReserve", spool::CallKind::allocate, Arguments::memory},
    {"cuMemCreate", spool::CallKind::allocate},
    {"cuMemMap", spool::CallKind::allocate, Arguments::none, true, true},
    {"cuMemSetAccess", spool::CallKind::allocate},
    {"cuArray", spool::CallKind::allocate, Arguments::none, true, true},
    {"cuMemFree", spool::CallKind::release, Arguments::none, true, true},
    {"cuMemHostUnregister", spool::CallKind::release},
    {"cuMemAddressFree", spool::CallKind::release},
    {"cuMemRelease", spool::CallKind::release},
    {"cuMemUnmap", spool::CallKind::release},
    {"cuMemPoolTrimTo", spool::CallKind::release},
    {"cuModuleLoad", spool::CallKind::load, Arguments::none, true, true},
    {"cuModuleUnload", spool::CallKind::load},
    {"cuLibraryLoad", spool::CallKind::load, Arguments::none, true, true},
    {"cuLibraryUnload", spool::CallKind::load},
    {"cuLinkComplete", spool::CallKind::load},
    {"cuGraphInstantiate", spool::CallKind::load, Arguments::none, true, true},
    {"cuGraphExecUpdate", spool::CallKind::load},
    {"cuGraphExecDestroy", spool::CallKind::other},
    {"cuGraphUpload", spool::CallKind::load},
    {"cuCtxCreate", spool::CallKind::other},
    {"cuDevicePrimaryCtxRetain", spool::CallKind::other},
    {"cuLaunchHostFunc", spool::CallKind::other},
    {"cuStreamBeginCapture", spool::CallKind::other, Arguments::begin_capture, false, true},
    {"cuStreamEndCapture", spool::CallKind::other, Arguments::end_capture, false},
    {"cuGraphAddKernelNode", spool::CallKind::other, Arguments::kernel_node, false},
    {"cuGraphAddNode", spool::CallKind::other, Arguments::any_node, false},
    {"cuGraphAddMemcpyNode", spool::CallKind::other, Arguments::none, false},
    {"cuGraphAddMemsetNode", spool::CallKind::other, Arguments::none, false},
});

struct MemoryEntry {
  std::string_view name;
  MemoryCall call;
};
constexpr auto kMemoryCalls = std::to_array<MemoryEntry>({
    {"cuMemAlloc", MemoryCall::device},
    {"cuMemAllocAsync", MemoryCall::device},
    {"cuMemAllocFromPoolAsync", MemoryCall::device},
    {"cuMemAllocPitch", MemoryCall::pitched},
    {"cuMemAllocManaged", MemoryCall::managed},
    {"cuMemHostAlloc", MemoryCall::pinned},
    {"cuMemAllocHost", MemoryCall::pinned},
    {"cuMemCreate", MemoryCall::create},
    {"cuMemFree", MemoryCall::free},
    {"cuMemFreeAsync", MemoryCall::free},
    {"cuMemFreeHost", MemoryCall::free_pinned},
    {"cuMemRelease", MemoryCall::release},
});

bool drop_ending(std::string_view& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.remove_suffix(ending.size());
  return true;
}

}  // namespace

std::string plain_name(std::string_view name) {
  if (!drop_ending(name, "_ptsz")) drop_ending(name, "_ptds");
  const std::size_t bar = name.rfind("_v");
  if (bar != std::string_view::npos && bar + 3 == name.size()) name = name.substr(0, bar);
  return std::string(name);
}

DriverCall driver_call(std::string_view name) {
  const std::string plain = plain_name(name);
  const std::string_view text = plain;
  for (const Entry& entry : kCalls) {
    if (entry.prefix ? !text.starts_with(entry.name) : text != entry.name) continue;
    DriverCall call = {entry.kind, entry.arguments, MemoryCall::none, true, entry.recorded, false};
    for (const MemoryEntry& memory : kMemoryCalls) {
      if (memory.name == text) call.memory = memory.call;
    }
    call.per_thread_stream = name.ends_with("_ptsz") || name.ends_with("_ptds");
    // The first version has addresses of 32 bits.
    for (const std::string_view first :
         {"cuMemAlloc", "cuMemAllocPitch", "cuMemAllocHost", "cuMemFree", "cuMemcpyHtoD", "cuMemcpyHtoDAsync"}) {
      if (name != first) continue;
      call.arguments = Arguments::none;
      call.memory = MemoryCall::none;
    }
    if (text.starts_with("cuArrayGet")) call.followed = false;
    return call;
  }
  return {};
}

bool always_followed(const DriverCall& call) {
  if (call.memory != MemoryCall::none) return true;
  switch (call.arguments) {
    case Arguments::memory:
    case Arguments::pitched:
    case Arguments::registered:
    case Arguments::begin_capture:
    case Arguments::end_capture:
    case Arguments::kernel_node:
    case Arguments::any_node:
      return true;
    default:
      return false;
  }
}

}  // namespace roofline::inject
