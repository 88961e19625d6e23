// Classifies kernels by symbol: those of PyTorch, cuBLAS, cuDNN, CUTLASS, Triton and XLA.
#pragma once

#include <string_view>

namespace roofline {

/// A matrix product or a convolution.
bool is_product(std::string_view symbol);

/// An fp32 product on the plain FP32 pipe: no tensor cores, no TF32.
bool is_plain_fp32_product(std::string_view symbol);

/// A product in double precision, with or without tensor cores.
bool is_double_precision_product(std::string_view symbol);

/// A product on tensor cores with operands aligned to at most four bytes, because its dimensions are odd.
bool is_unaligned_product(std::string_view symbol);

/// PyTorch's deterministic addition of rows by index, for which the indices are sorted first.
bool is_indexed_sum(std::string_view symbol);

/// Sums the values of equal indices of a sparse matrix, or finds the rows of sorted ones: it is being built.
bool is_sparse_build(std::string_view symbol);

/// Part of a sort.
bool is_sort(std::string_view symbol);

/// The end of PyTorch's random permutation: random keys are sorted, with the indices, and equal keys shuffled.
bool ends_permutation(std::string_view symbol);
/// What it sorts: random keys, and all indices in order.
bool begins_permutation(std::string_view symbol);

/// PyTorch fills a tensor with one value.
bool is_fill(std::string_view symbol);
/// PyTorch fills a tensor of 64-bit integers, or writes one value at given indices: together they make one-hot vectors.
bool is_integer_fill(std::string_view symbol);
bool is_fill_by_index(std::string_view symbol);

/// Part of a Fourier transform: cuFFT's, or others that are named like it.
bool is_fourier_transform(std::string_view symbol);
/// Part of cuFFT's Fourier transform by Bluestein's algorithm.
bool is_bluestein_transform(std::string_view symbol);

/// A softmax, forward or backward, but not a log-softmax, which belongs to a loss.
bool is_softmax(std::string_view symbol);

/// Attention in one kernel, forward or backward: of cuDNN, FlashAttention, CUTLASS and the like.
bool is_attention(std::string_view symbol);
bool is_attention_forward(std::string_view symbol);

/// A pure conversion of a tensor to another type.
bool is_conversion(std::string_view symbol);

/// Such a conversion by PyTorch, to single precision or from it to half precision.
bool is_widening(std::string_view symbol);
bool is_narrowing(std::string_view symbol);

/// Reads rows of a table by their indices.
bool gathers_rows(std::string_view symbol);

/// cuDNN converts tensors between NCHW and NHWC around convolutions.
bool is_channels_conversion(std::string_view symbol);
/// PyTorch's own batch normalisation of tensors in NCHW: a block for each channel.
bool is_channels_first_norm(std::string_view symbol);

/// A copy of a tensor that changes its strides but not its type.
bool is_layout_copy(std::string_view symbol);

/// PyTorch's kernel of one time step of a recurrent cell, forward.
bool is_recurrent_cell(std::string_view symbol);

/// An elementwise kernel.
bool is_elementwise(std::string_view symbol);

/// A reduction along an axis (sum, count, search) that is not a matrix product.
bool is_reduction(std::string_view symbol);

/// The gradient of an embedding, with one row per embedding row.
bool is_dense_embedding_gradient(std::string_view symbol);

/// An operation on lists of tensors, with a different part in each launch: PyTorch's foreach and fused optimizers.
bool is_of_tensor_lists(std::string_view symbol);

/// A kernel that torch.compile's Inductor generates: one call of compiled code launches all of them at one line.
bool is_of_inductor(std::string_view symbol);

/// A kernel whose grid is chosen by a library or compiler: PyTorch, CuPy, cuBLAS, cuDNN, CUTLASS, CUB, Inductor or XLA.
bool is_of_library(std::string_view symbol);

/// A collective, or another kernel that waits for other GPUs.
bool is_collective(std::string_view symbol);

}  // namespace roofline
