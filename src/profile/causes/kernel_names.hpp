// What a kernel does, by its symbol: those of PyTorch, cuBLAS, cuDNN, CUTLASS, Triton and XLA.
#pragma once

#include <string_view>

namespace roofline {

/// A matrix product or a convolution.
bool is_product(std::string_view symbol);

/// A product in fp32 on the plain pipe: neither tensor cores nor TF32.
bool is_plain_fp32_product(std::string_view symbol);

/// A product in double precision, with or without tensor cores.
bool is_double_precision_product(std::string_view symbol);

/// A product on tensor cores whose operands are not aligned to more than four bytes: its dimensions are odd.
bool is_unaligned_product(std::string_view symbol);

/// PyTorch's addition of rows by index in a fixed order, for which the indices are sorted before.
bool is_indexed_sum(std::string_view symbol);

/// A part of a sort.
bool is_sort(std::string_view symbol);

/// A part of a Fourier transform by Bluestein's algorithm, of cuFFT.
bool is_bluestein_transform(std::string_view symbol);

/// A softmax, forward or backward; not a logarithmic one, which belongs to a loss.
bool is_softmax(std::string_view symbol);

/// A conversion of a tensor from one type to another, and nothing else.
bool is_conversion(std::string_view symbol);

/// A copy of a tensor that changes its strides and not its type.
bool is_layout_copy(std::string_view symbol);

/// A kernel that computes each element of its output from one element of each input.
bool is_elementwise(std::string_view symbol);

/// A kernel that sums, counts or searches along an axis, and multiplies no matrices.
bool is_reduction(std::string_view symbol);

/// The gradient of an embedding, with a row for each of its rows.
bool is_dense_embedding_gradient(std::string_view symbol);

/// An operation on lists of tensors, of which each launch takes others: PyTorch's foreach and fused optimizers.
bool is_of_tensor_lists(std::string_view symbol);

/// A kernel whose grid a library or a compiler chooses: PyTorch, CuPy, cuBLAS, cuDNN, CUTLASS, CUB, Inductor or XLA.
bool is_of_library(std::string_view symbol);

/// A collective, or another kernel that waits for other GPUs.
bool is_collective(std::string_view symbol);

}  // namespace roofline
