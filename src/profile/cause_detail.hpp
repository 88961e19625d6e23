// Details of a cause of lost time on which its description and action depend.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofline {

enum class CauseDetail : std::uint8_t {
  none,
  small_copies,         ///< copies: many small ones in a row
  waited_copies,        ///< copies: the host waits for each, although its memory is pinned
  readback,             ///< pageable_copy: from the GPU to the host
  read_arrays,          ///< item_sync: arrays, not single values
  unified_memory,       ///< copies: pages migrated by the driver while kernels run
  host_memory,          ///< allocation: of pinned host memory
  memory_returns,       ///< allocation: a framework's allocator gives its memory back, and allocates it again
  streams,              ///< allocation: CUDA streams or events
  graphs,               ///< allocation: executable CUDA graphs
  anomaly_mode,         ///< item_sync: autograd's anomaly mode checks each gradient
  triton_compiler,      ///< recompilation: by Triton, without torch.compile
  numba_compiler,       ///< recompilation: by Numba
  nvrtc_compiler,       ///< recompilation: CUDA C++ at run time
  cudnn_compiler,       ///< recompilation: by cuDNN, for new shapes
  cpu_tensors,          ///< host_native: PyTorch's own arithmetic on the CPU
  made_on_host,         ///< host_native: a model's forward creates tensors on the host, which are then copied
  host_random,          ///< host_native: random numbers are drawn on the host
  host_picks,           ///< host_python: items are picked one by one from a Python collection
  host_results,         ///< host_python, host_native: computes with values that it has read back
  decompression,        ///< data_loading: the launching thread decompresses what it reads
  mixed_precision,      ///< double_precision: an operation of single and double precision makes its result double
  host_gather,          ///< data_loading: rows of a table in host memory are gathered by their indices
  workers_started,      ///< data_loading: worker processes are started in the loop
  busy_cpus,            ///< few_workers: they share CPUs that are all busy
  deep_copies,          ///< host_python: Python deep-copies a model or another object
  host_function,        ///< late_stream: a host function runs in the stream
  queued_work,          ///< unknown_idle: for long, although everything is queued
  subprocess,           ///< wait_queue: waits for another program's end or output
  saved_state,          ///< host_native: a checkpoint is written
  object_messages,      ///< host_python: Python objects are packed for other ranks, or unpacked
  shard_copies,         ///< host_python, host_native: FSDP prepares collectives of a unit's shards
  requests,             ///< wait_network: a server waits for requests
  answers,              ///< host_python, host_native: a server works on a request while requests are few
  item_loop,            ///< tiny_kernels, launch_rate: a loop of the program, as over the tensors of a list
  grouped_loop,         ///< tiny_kernels, launch_rate: such a loop that reads values back for each item
  collective_loop,      ///< tiny_kernels, launch_rate: such a loop with a collective for each item
  recurrent_cells,      ///< tiny_kernels, launch_rate: a recurrent cell is stepped through a sequence in Python
  eager_programs,       ///< tiny_kernels, launch_rate: operations of JAX outside of jit
  kernel_loop,          ///< tiny_kernels, launch_rate: a loop inside compiled code; small_batch: its short kernels
  graph_launches,       ///< launch_rate: of CUDA graphs
  imports,              ///< module_load: Python modules, by an import or a framework's first use
  channels_first,       ///< layout_copy: cuDNN's conversions around convolutions of tensors in NCHW
  sparse_build,         ///< layout_copy: a sparse matrix is built from indices
  equal_sorts,          ///< full_sort: of data of the same size, several times per step
  permutations,         ///< full_sort: random permutations, of which few indices are used
  repeated_values,      ///< layout_copy: of each value several times, as repeat_interleave() does
  grown_tensors,        ///< copies: a tensor is grown by concatenation, which copies all of it
  long_sums,            ///< small_batch: a reduction with few results
  optimizer_passes,     ///< unfused_optimizer: a kernel for each operation, on all parameters
  replicated_updates,   ///< unfused_optimizer: every rank of a job computes the same products
  dense_embedding,      ///< unfused_optimizer: most work is for embedding rows that the batch does not use
  default_stream,       ///< small_batch: the default stream keeps others from running concurrently
  own_grid,             ///< small_batch: the program chooses the number of blocks
  cpu_collective,       ///< wait_network: a collective of tensors in host memory, as in Gloo
  fewer_cpus,           ///< late_rank: its process may run on fewer CPUs than other ranks
  pipeline_stages,      ///< uneven_ranks: pipeline stages wait for each other's sends
  uneven_stages,        ///< unequal_work: a pipeline stage takes longer than the others
  unequal_tokens,       ///< unequal_work: unequal amounts received in an all-to-all
  uneven_updates,       ///< unequal_work: updates of parameters that are divided among the ranks
  split_sequence,       ///< unequal_work: attention of ranks that have parts of one sequence
  repeated_meetings,    ///< uneven_ranks: a small collective of the program, several times per step
  lone_work,            ///< unequal_work: lines that no other rank runs, such as a validation
  dependent_messages,   ///< small_messages: each needs results of kernels, as with split layers
  batch_norm_messages,  ///< small_messages: PyTorch's SyncBatchNorm
  micro_batches,        ///< exposed_communication: gradients are reduced in each of several micro-batches
  exposed_transfers,    ///< exposed_communication: mostly sends and receives
  exposed_gathers,      ///< exposed_communication: mostly all-gathers
  exposed_scatters,     ///< exposed_communication: mostly reduce-scatters
  whole_shards,         ///< exposed_communication: parameters and gradients of the whole model in one collective each
  split_layers,         ///< exposed_communication: activations of layers that are split between ranks
  gathered_shards,      ///< exposed_communication: whole tensors, gathered from shards after the update
  gathered_heads,       ///< exposed_communication: queries, keys and values of all heads
  widened_messages,     ///< exposed_communication: converted to single precision before, and back after
  wide_messages,        ///< exposed_communication: sent in single precision, made or used in half precision
  reduced_late,         ///< exposed_communication: data that the receiver reduces at once
  unread_rows,          ///< exposed_communication: of a table that is gathered, few rows are read
  unused_gradients,     ///< exposed_communication: mostly zeros of an embedding's gradient
  exposed_broadcasts,
  exposed_all_to_alls
};

/// What a driver call creates, allocates or frees other than GPU memory; none: nothing.
CauseDetail detail_of_call(std::string_view call);

}  // namespace roofline
