#include "profile/causes/kernel_names.hpp"

#include "report/diagnosis/cause_lines.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

bool has(std::string_view symbol, std::string_view part) { return symbol.find(part) != std::string_view::npos; }

}  // namespace

bool is_product(std::string_view symbol) {
  return contains_any(symbol, {"gemm", "Gemm", "GEMM", "gemv", "nvjet", "wgrad", "dgrad", "fprop", "convolve", "conv2d",
                               "cutlass", "matmul", "triton_mm", "triton_tem", "triton_bmm", "winograd", "dot_kernel"});
}

bool is_plain_fp32_product(std::string_view symbol) {
  if (!is_product(symbol) || contains_any(symbol, {"tf32", "tensorop", "s1688", "s884", "gemv"})) return false;
  // ampere_sgemm_128x64_nn, cutlass_80_simt_sgemm_256x128_8x4_nn_align1, sm80_xmma_fprop_implicit_gemm_f32f32_…_simt_…
  if (contains_any(symbol, {"sgemm", "_ffma_"})) return true;
  return has(symbol, "simt") && has(symbol, "f32f32");
}

bool is_double_precision_product(std::string_view symbol) {
  // cutlass_80_tensorop_d884gemm_64x32_16x4_tn_align1, sm90_xmma_gemm_f64f64_f64f64_f64_…, volta_dgemm_128x64_nn
  return is_product(symbol) && contains_any(symbol, {"dgemm", "d884gemm", "f64f64"});
}

bool is_unaligned_product(std::string_view symbol) {
  // cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1, cutlass_80_tensorop_f16_s16816gemm_relu_f16_…_align2;
  // in double precision one value is aligned enough.
  const bool tensor = contains_any(symbol, {"tensorop_bf16", "tensorop_f16", "tensorop_h", "tensorop_s1688",
                                            "tensorop_s16816", "tensorop_s884", "tensorop_i"});
  return tensor && contains_any(symbol, {"_align1", "_align2"}) && !has(symbol, "gemm_f64");
}

bool is_indexed_sum(std::string_view symbol) { return has(symbol, "indexing_backward_kernel"); }

bool is_sparse_build(std::string_view symbol) {
  return contains_any(symbol, {"coalesceValuesKernel", "convert_indices_from_coo_to_csr", "coo2csr", "sum_duplicates"});
}

bool is_sort(std::string_view symbol) {
  return contains_any(
      symbol, {"RadixSort", "radixSort", "radix_sort", "MergeSort", "merge_sort", "SegmentedSort", "segmented_sort",
               "bitonicSort", "SortStable", "sortKeyValue", "BlockSort", "block_sort"});
}

bool ends_permutation(std::string_view symbol) { return has(symbol, "randperm_handle_duplicate_keys_kernel"); }

bool begins_permutation(std::string_view symbol) {
  return contains_any(symbol, {"random_from_to_kernel", "arange_cuda_out"});
}

bool is_fill(std::string_view symbol) { return has(symbol, "FillFunctor"); }

bool is_integer_fill(std::string_view symbol) { return contains_any(symbol, {"FillFunctorIl", "FillFunctor<long>"}); }

bool is_fill_by_index(std::string_view symbol) { return has(symbol, "_cuda_scatter_fill_internal_kernel"); }

bool is_attention(std::string_view symbol) {
  // cudnn_generated_fort_native_sdpa_sm90_flash_fprop_…, pytorch_flash::flash_fwd_kernel, fmha_cutlassF_bf16_…
  return contains_any(symbol, {"sdpa", "flash_fwd", "flash_bwd", "flash_fprop", "flash_bprop", "fmha", "FmhaKernel",
                               "attention_kernel", "fused_attention"});
}

bool is_fourier_transform(std::string_view symbol) {
  return contains_any(
      symbol, {"_fft", "fft_", "FFT", "spRadix", "dpRadix", "spVector", "dpVector", "spRealComplex", "dpRealComplex"});
}

bool is_bluestein_transform(std::string_view symbol) { return has(symbol, "bluestein"); }

bool is_attention_forward(std::string_view symbol) {
  return is_attention(symbol) && !contains_any(symbol, {"bwd", "bprop", "backward", "cutlassB"});
}

bool is_softmax(std::string_view symbol) {
  if (!contains_any(symbol, {"softmax", "SoftMax", "Softmax"})) return false;
  if (contains_any(symbol, {"LogSoftMax", "log_softmax", "logsoftmax", "LogSoftmax", "flash", "fmha", "attention"})) {
    return false;
  }
  // softmax_warp_forward<In, Out, Acc, log2_elements, is_log_softmax, is_masked>: the first truth value.
  const std::size_t warp = symbol.find("softmax_warp");
  if (warp == std::string_view::npos) return true;
  const std::size_t flag = symbol.find("Lb", warp);
  return flag == std::string_view::npos || flag + 2 >= symbol.size() || symbol[flag + 2] != '1';
}

bool is_conversion(std::string_view symbol) {
  if (contains_any(symbol, {"float16_copy_kernel_cuda", "float8_copy_kernel_cuda"})) return true;  // and bfloat16
  if (has(symbol, "copy_kernel_cuda")) return contains_any(symbol, {"LoadWithCast", "StoreWithCast"});
  return has(symbol, "fused__to_copy_") && !has(symbol, "_to_copy_add") && !has(symbol, "_to_copy_mul");
}

bool is_widening(std::string_view symbol) {
  // "{lambda(float)#1}", the type of the result, in its mangled form.
  return has(symbol, "direct_copy_kernel_cuda") && has(symbol, "LoadWithCast") && has(symbol, "UlfE");
}

bool is_narrowing(std::string_view symbol) { return has(symbol, "float16_copy_kernel_cuda"); }

bool gathers_rows(std::string_view symbol) {
  return contains_any(symbol, {"gather_kernel", "indexSelect", "index_select", "embedding", "index_elementwise_kernel",
                               "gather_elementwise"}) &&
         !is_dense_embedding_gradient(symbol);
}

bool is_channels_conversion(std::string_view symbol) {
  return contains_any(symbol, {"nchwToNhwcKernel", "nhwcToNchwKernel"});
}

bool is_channels_first_norm(std::string_view symbol) {
  return has(symbol, "batch_norm_") && has(symbol, "_kernel") && contains_any(symbol, {"at6native", "at::native"}) &&
         !has(symbol, "channels_last");
}

bool is_layout_copy(std::string_view symbol) {
  if (is_channels_conversion(symbol)) return true;
  // PyTorch copies what is contiguous on both sides by a memcpy or a vectorized kernel.
  return has(symbol, "direct_copy_kernel_cuda") && has(symbol, "elementwise_kernel") &&
         !contains_any(symbol, {"vectorized_elementwise", "unrolled_elementwise", "LoadWithCast", "StoreWithCast"});
}

bool is_elementwise(std::string_view symbol) {
  return (contains_any(symbol, {"elementwise", "dropout", "triton_poi"}) || symbol.starts_with("cupy")) &&
         !is_softmax(symbol);
}

bool is_recurrent_cell(std::string_view symbol) {
  return contains_any(symbol, {"lstm_cell_forward", "gru_cell_forward"});
}

bool is_reduction(std::string_view symbol) {
  if (is_product(symbol) || is_collective(symbol) || is_softmax(symbol) || has(symbol, "splitK")) return false;
  return contains_any(symbol, {"reduce", "Reduce", "argmin", "argmax", "_sum", "_mean", "_prod", "_amin", "_amax",
                               "_nanmin", "_nanmax", "_norm_ord", "count_nonzero", "logsumexp", "triton_red_"});
}

bool is_dense_embedding_gradient(std::string_view symbol) {
  return contains_any(symbol, {"embedding_backward", "sum_and_scatter", "compute_grad_weight"});
}

bool is_of_tensor_lists(std::string_view symbol) { return has(symbol, "multi_tensor_apply_kernel"); }

bool is_of_inductor(std::string_view symbol) { return is_inductor_kernel(symbol); }

bool is_of_library(std::string_view symbol) {
  return is_product(symbol) || is_collective(symbol) || is_of_inductor(symbol) ||
         contains_any(symbol, {"at6native", "at::native", "cudnn", "cublas", "cub_", "3cub", "cub::", "thrust", "cupy",
                               "fusion", "flash", "fmha", "fft"});
}

bool is_collective(std::string_view symbol) {
  return contains_any(symbol, {"nccl", "nvshmem", "multimem", "all_reduce", "allreduce", "cross_device_reduce"});
}

}  // namespace roofline
