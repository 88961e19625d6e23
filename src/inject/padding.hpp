// How much of a copied batch is padding: rows of token ids that end, or begin, with the same value.
#pragma once

#include <cstdint>

namespace roofline::inject {

/// Thousandths of these values that pad rows; 0: none, or these are no rows of ids. Looks at the first 128 KiB, as
/// 64-bit and as 32-bit integers. Ids are small and not negative, at least four rows of one length have padding, all at
/// the same side and with one value, and what is not padding varies: masks, images and boards are no such rows.
std::uint32_t padding_of(const void* bytes, std::uint64_t size);

}  // namespace roofline::inject
