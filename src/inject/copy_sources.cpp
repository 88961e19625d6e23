#include "inject/copy_sources.hpp"

#include <cstring>

namespace roofline::inject {

std::uint64_t digest_of(const void* bytes, std::uint64_t size) {
  constexpr std::uint64_t kWhole = 16 << 10, kWords = 256;
  const auto* const from = static_cast<const char*>(bytes);
  std::uint64_t hash = size;
  const auto add = [&](std::uint64_t at, std::size_t length) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, length);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  if (size <= kWhole) {
    std::uint64_t at = 0;
    for (; at + 8 <= size; at += 8) add(at, 8);
    if (at < size) add(at, static_cast<std::size_t>(size - at));
    return hash;
  }
  const std::uint64_t step = ((size - 8) / (kWords - 1)) & ~std::uint64_t{7};
  for (std::uint64_t index = 0; index < kWords; ++index) add(index * step, 8);
  return hash;
}

void follow_transfer(Session& session, const DriverCall& call, const CUpti_CallbackData& data, bool recorded) {
  // Of less, where it comes from says little: single numbers repeat.
  constexpr std::uint64_t kLeast = 1024;
  const void* const given = data.functionParams;
  switch (call.arguments) {
    case Arguments::copy_in: {
      // The asynchronous call has the same arguments and a stream.
      const auto& copy = *static_cast<const cuMemcpyHtoD_v2_params*>(given);
      session.kinds.inputs().use(copy.dstDevice);
      if (!recorded || copy.ByteCount < kLeast || copy.srcHost == nullptr) break;
      session.spool.write(spool::Type::copy_source,
                          spool::CopySource{reinterpret_cast<std::uintptr_t>(copy.srcHost), copy.ByteCount,
                                            digest_of(copy.srcHost, copy.ByteCount), data.correlationId, 0});
      break;
    }
    case Arguments::written_to:
      session.kinds.inputs().use(*static_cast<const CUdeviceptr*>(given));
      break;
    case Arguments::copy_out:
      break;
    default:
      session.kinds.inputs().forget();
      break;
  }
}

}  // namespace roofline::inject
