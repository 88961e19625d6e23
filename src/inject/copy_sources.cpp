#include "inject/copy_sources.hpp"

#include <cstring>
#include <memory>

#include "inject/mix.hpp"
#include "inject/padding.hpp"

namespace roofline::inject {
namespace {

/// A hash of all bytes up to 16 KiB; of more, of 32 cache lines spread evenly. 0: those lines repeat one value (a mask,
/// padding), so they do not identify the rest.
std::uint64_t digest_of(const void* bytes, std::uint64_t size) {
  constexpr std::uint64_t kWhole = 16 << 10, kPlaces = 32, kLine = 64;
  const auto* const from = static_cast<const char*>(bytes);
  std::uint64_t hash = size;
  const auto word_at = [from](std::uint64_t at, std::size_t length = 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, length);
    return word;
  };
  if (size <= kWhole) {
    std::uint64_t at = 0;
    for (; at + 8 <= size; at += 8) hash = mix(hash, word_at(at));
    if (at < size) hash = mix(hash, word_at(at, static_cast<std::size_t>(size - at)));
    return hash != 0 ? hash : 1;
  }
  // A cache miss costs the same for one word as for its line, and prefetched misses overlap.
  const std::uint64_t step = (size - kLine) / (kPlaces - 1);
  for (std::uint64_t place = 0; place < kPlaces; ++place) __builtin_prefetch(from + place * step);
  const std::uint64_t first = word_at(0);
  bool varies = false;
  for (std::uint64_t place = 0; place < kPlaces; ++place) {
    for (std::uint64_t at = place * step; at < place * step + kLine; at += 8) {
      const std::uint64_t word = word_at(at);
      varies = varies || word != first;
      hash = mix(hash, word);
    }
  }
  return !varies ? 0 : hash != 0 ? hash : 1;
}

}  // namespace

std::unique_ptr<NodeMemory> follow_transfer(Session& session, const DriverCall& call, const CUpti_CallbackData& data,
                                            bool recorded) {
  // Equal contents of smaller copies mean little: single numbers repeat by chance.
  constexpr std::uint64_t kLeast = 1024;
  const void* const given = data.functionParams;
  const auto uses = [&](CUdeviceptr written) {
    session.kinds.inputs().use(written);
    return std::make_unique<NodeMemory>(NodeMemory{.used = {written}});
  };
  switch (call.arguments) {
    case Arguments::copy_in: {
      // The asynchronous call has the same arguments and a stream.
      const auto& copy = *static_cast<const cuMemcpyHtoD_v2_params*>(given);
      auto memory = uses(copy.dstDevice);
      if (!recorded || copy.ByteCount < kLeast || copy.srcHost == nullptr) return memory;
      session.spool.write(spool::Type::copy_source,
                          spool::CopySource{reinterpret_cast<std::uintptr_t>(copy.srcHost), copy.ByteCount,
                                            digest_of(copy.srcHost, copy.ByteCount), data.correlationId,
                                            padding_of(copy.srcHost, copy.ByteCount)});
      return memory;
    }
    case Arguments::written_to:
      return uses(*static_cast<const CUdeviceptr*>(given));
    case Arguments::copy_out:
      return std::make_unique<NodeMemory>();
    default:
      session.kinds.inputs().forget();
      return nullptr;
  }
}

}  // namespace roofline::inject
