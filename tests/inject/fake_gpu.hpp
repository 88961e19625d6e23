// Between the fake driver and the fake CUPTI: what the one does, the other tells.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <cstdint>

/// What a fake CUPTI that was loaded gives the fake driver.
struct FakeCuptiHooks {
  /// A call of the driver is entered or left. `status` is null on entering.
  void (*call)(CUpti_CallbackId id, const char* name, const void* parameters, const char* symbol, CUcontext context,
               std::uint32_t correlation, CUresult* status);
  void (*resource)(CUpti_CallbackId id, CUcontext context, void* descriptor);
  void (*kernel)(const char* name, std::uint32_t correlation, const unsigned* grid, const unsigned* block,
                 std::uint32_t graph, std::uint64_t node);
  void (*copy)(std::uint64_t bytes, std::uint32_t correlation, std::uint32_t graph, std::uint64_t node);
  void (*fill)(std::uint64_t bytes, std::uint32_t correlation, std::uint32_t graph, std::uint64_t node);
};

/// A node of a fake graph.
struct FakeNode {
  std::uint64_t id;
  CUgraphNodeType type;
  const char* symbol;
  unsigned grid[3], block[3];
  std::uint64_t bytes;
};

/// A function as the fake driver has it: its parameters' sizes, one after another.
struct FakeFunction {
  const char* symbol;
  std::size_t parameters;
  std::size_t sizes[8];
  bool is_kernel;  ///< a CUkernel's handle, refused where a CUfunction's is asked for
};

extern "C" void fake_driver_set_hooks(const FakeCuptiHooks* hooks);
/// Whether CUPTI records kernels, and whether it reports that call.
extern "C" bool fake_cupti_records();
extern "C" bool fake_cupti_reports(CUpti_CallbackId id);
/// Records that CUPTI says it has dropped.
extern "C" void fake_cupti_drop(unsigned records);
