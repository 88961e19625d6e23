// Symbols, lines and unwinding, on this program's own code.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "sample/code_modules.hpp"
#include "sample/function_roles.hpp"
#include "sample/inline_frames.hpp"
#include "sample/line_table.hpp"
#include "sample/native_names.hpp"
#include "sample/native_stack.hpp"
#include "sample/own_files.hpp"
#include "sample/remote_memory.hpp"
#include "sample/unwind_rows.hpp"

namespace roofline {

// Not static and never inline: their names are looked for.
__attribute__((noinline)) std::uint64_t native_code_here();
__attribute__((noinline)) std::vector<CodePlace> native_code_inner(ProcessCode& code, std::string& stack);
__attribute__((noinline)) std::vector<CodePlace> native_code_outer(ProcessCode& code, std::string& stack);

std::uint64_t native_code_here() {
  return reinterpret_cast<std::uint64_t>(__builtin_extract_return_addr(__builtin_return_address(0)));
}

/// The frames of this thread, from here on.
std::vector<CodePlace> native_code_inner(ProcessCode& code, std::string& stack) {
  // From below this frame up to as much as there is of the stack.
  const auto frame = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  constexpr std::size_t kStack = 16384;
  stack.resize(kStack);
  stack.resize(RemoteMemory(::getpid()).read_some(frame, stack.data(), stack.size()));
  std::uint64_t caller = 0, back = 0;
  std::memcpy(&caller, stack.data(), sizeof caller);
  std::memcpy(&back, stack.data() + sizeof caller, sizeof back);
  // As the caller was when it made the call: x86-64 and AArch64 both save the frame pointer and the return address.
  const Registers registers = {back, frame + 2 * sizeof back, caller, std::nullopt};
  return native_stack(code, registers, std::string_view(stack).substr(2 * sizeof back), 64);
}

std::vector<CodePlace> native_code_outer(ProcessCode& code, std::string& stack) {
  std::vector<CodePlace> frames = native_code_inner(code, stack);
  return frames;
}

namespace {

namespace fs = std::filesystem;

class NativeCode : public testing::Test {
 protected:
  CodeModules modules_;
  ProcessCode code_{::getpid(), modules_};

  std::string function_at(std::uint64_t address) {
    const auto place = code_.locate(address);
    return place ? native_frames(modules_, {*place}).front().function : "";
  }
};

TEST_F(NativeCode, AFunctionIsFoundByAnAddressInIt) {
  const auto address = reinterpret_cast<std::uint64_t>(&native_code_here);
  EXPECT_EQ(function_at(address), "roofline::native_code_here()");
  EXPECT_EQ(function_at(address + 1), "roofline::native_code_here()");
  EXPECT_EQ(function_at(16), "");
}

TEST_F(NativeCode, AnExportedFunctionOfALibrary) {
  const auto place = code_.locate(reinterpret_cast<std::uint64_t>(&::getpid));
  ASSERT_TRUE(place);
  const HostFrame frame = native_frames(modules_, {*place}).front();
  EXPECT_FALSE(frame.own);
  EXPECT_NE(frame.function.find("getpid"), std::string::npos) << frame.function;
}

TEST_F(NativeCode, TheCallersOfAFunction) {
  std::string stack;
  const std::vector<CodePlace> frames = native_code_outer(code_, stack);
  ASSERT_GE(frames.size(), 3U);
  const std::vector<HostFrame> names = native_frames(modules_, frames);
  EXPECT_NE(names[0].function.find("native_code_outer"), std::string::npos) << names[0].function;
  EXPECT_NE(names[1].function.find("TheCallersOfAFunction"), std::string::npos) << names[1].function;
  const bool reaches_main = std::ranges::any_of(names, [](const HostFrame& f) { return f.function == "main"; });
  EXPECT_TRUE(reaches_main);
}

TEST_F(NativeCode, AStackOfNonsenseEnds) {
  std::string nonsense(4096, '\0');
  for (std::size_t i = 0; i < nonsense.size(); ++i) nonsense[i] = static_cast<char>(i * 37);
  const auto here = native_code_here();
  for (const std::uint64_t frame : {std::uint64_t{0}, std::uint64_t{8}, ~std::uint64_t{0}, std::uint64_t{0x7000}}) {
    const Registers registers = {here, 0x7000, frame, std::nullopt};
    EXPECT_LE(native_stack(code_, registers, nonsense, 32).size(), 32U);
    EXPECT_LE(native_stack(code_, registers, {}, 32).size(), 32U);
  }
}

TEST_F(NativeCode, EveryFunctionHasAnUnwindRow) {
  const auto place = code_.locate(reinterpret_cast<std::uint64_t>(&native_code_here));
  ASSERT_TRUE(place);
  const auto& elf = modules_[place->module].elf;
  ASSERT_TRUE(elf);
  const UnwindRow row = unwind_row(*elf, place->address);
  EXPECT_EQ(row.base, UnwindRow::Base::stack_pointer);
#if defined(__x86_64__)
  EXPECT_EQ(row.offset, 8);  // at the first instruction there is the return address alone
  EXPECT_EQ(row.return_address, -8);
#endif
  EXPECT_EQ(unwind_row(*elf, 0).base, UnwindRow::Base::unknown);
}

/// Files that are this program's with something wrong in them: whatever is asked of them, it ends.
TEST_F(NativeCode, BrokenFilesAreSurvived) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string head(std::size_t{1} << 16U, '\0');
  self.read(head.data(), static_cast<std::streamsize>(head.size()));
  const fs::path path = fs::temp_directory_path() / ("roofline-elf-" + std::to_string(::getpid()));
  const auto ask = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    const auto elf = ElfFile::open(path.string());
    if (!elf) return;
    const std::vector<std::uint64_t> addresses = {0, 0x1000, 0x2000, 0x401000, ~std::uint64_t{0}};
    for (const std::uint64_t address : addresses) unwind_row(*elf, address);
    elf->functions_at(addresses);
    source_lines(*elf, addresses);
    inlined_functions(*elf, addresses);
    elf->visit_functions(1 << 20, [](const ElfFunction& function) { wrapper_identity(function.name); });
    elf->build_id();
    elf->address_of("main", false);
  };
  ask("");
  ask(head);
  for (std::size_t i = 0; i < 0x400; i += 3) {
    std::string broken = head;
    broken[i] = static_cast<char>(broken[i] ^ 0x55);
    ask(broken);
  }
  for (std::size_t size : {std::size_t{4}, std::size_t{63}, std::size_t{64}, std::size_t{100}, std::size_t{5000}}) {
    ask(head.substr(0, size));
  }
  fs::remove(path);
}

TEST(NativeFiles, OfTheProgramAndOfOthers) {
  for (const char* own : {"/home/u/a.out", "/srv/project/build/libmine.so", "/usr/src/x/y.cpp"}) {
    EXPECT_TRUE(is_own_native_file(own)) << own;
  }
  for (const char* other :
       {"/usr/lib/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "[vdso]", "", "/tmp/roofline-1/libroofline_inject.so",
        "/venv/lib/python3.12/site-packages/torch/lib/libtorch.so", "/home/u/libtorch/lib/libc10.so",
        "/home/u/cuda/lib64/libcudart.so.13"}) {
    EXPECT_FALSE(is_own_native_file(other)) << other;
  }
}

TEST(NativeFiles, SourcesOfTheSystemAndOfNvcc) {
  EXPECT_TRUE(is_system_source("/usr/local/cuda/include/cuda_runtime.h"));
  EXPECT_TRUE(is_system_source("/tmp/tmpxft_00000eec_00000000-6_nbody.compute_90a.cudafe1.stub.c"));
  EXPECT_TRUE(is_system_source("/home/u/.venv/lib/python3.12/site-packages/triton/language/standard.py"));
  EXPECT_FALSE(is_system_source("/home/u/nbody.cu"));
  EXPECT_FALSE(is_system_source("/home/u/kernels/softmax.py"));
  EXPECT_TRUE(is_system_source("/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/core/src/iter/range.rs"));
  EXPECT_TRUE(is_system_source("/home/u/.rustup/toolchains/stable/lib/rustlib/src/rust/library/std/src/io/mod.rs"));
  EXPECT_FALSE(is_system_source("/home/u/solver/src/main.rs"));
}

TEST(FunctionRoles, CudaInTheProgram) {
  for (const char* runtime :
       {"cudaLaunchKernel", "cuLaunchKernel", "cudaMemcpyAsync_ptsz", "__cudaPushCallConfiguration",
        "libcudart_static_4d8b33a106dceb3c07a56e26de61f2d53bb62a68", "cublasSgemm_v2", "_start",
        "_Z10cudaMallocIfE9cudaErrorPPT_m", "_ZL14cudaMallocHostPPvmj", "_ZN6thrust8for_eachIPfEEvT_S2_",
        "_ZNSt6thread11_State_implIvE6_M_runEv", "_ZNK3cub6DeviceEv"}) {
    EXPECT_EQ(function_role(runtime), FunctionRole::runtime) << runtime;
  }
  for (const char* own : {"main", "_ZN6Solver4stepEv", "_Z9cudaSolvev", "current", "custom_step",
                          "_ZZ4mainENKUlvE_clEv", "_ZN2my6thrust4callEv", "", "_Z", "_Z99x", "library_static"}) {
    EXPECT_EQ(function_role(own), FunctionRole::program) << own;
  }
  EXPECT_EQ(function_role("_Z40__device_stub__Z9bodyForcePK6float4PS_fiPK6float4PS_fi"), FunctionRole::stub);
  EXPECT_EQ(function_role("_ZL25__device_stub__Z5scalePfiPfi"), FunctionRole::stub);
}

TEST(FunctionRoles, AStubAndItsWrapperHaveOneIdentity) {
  const auto stub = wrapper_identity("_Z40__device_stub__Z9bodyForcePK6float4PS_fiPK6float4PS_fi");
  EXPECT_EQ(stub, wrapper_identity("_Z9bodyForcePK6float4PS_fi"));
  EXPECT_NE(stub, wrapper_identity("_Z9bodyForcePK6float4PS_f")) << "another overload";
  EXPECT_NE(stub, wrapper_identity("main"));
  EXPECT_EQ(wrapper_identity("_ZL6kernelPf"), wrapper_identity("_Z6kernelPf")) << "static";
  EXPECT_EQ(wrapper_identity("_ZN12_GLOBAL__N_16kernelEPf"),
            wrapper_identity("_ZN45_INTERNAL_00000000_9_nbody_cu_00000000_1234566kernelEPf"));
}

TEST(NativeFiles, CallsThatReturnAfterTheGpu) {
  const auto waits = [](const char* function, bool python = false) {
    return waits_for_gpu({.function = function, .file = {}, .line = 0, .python = python, .own = false});
  };
  EXPECT_TRUE(waits("cuStreamSynchronize"));
  EXPECT_TRUE(waits("cudaDeviceSynchronize"));
  EXPECT_TRUE(waits("cuMemcpyDtoH_v2"));
  EXPECT_FALSE(waits("cuMemcpyDtoHAsync_v2"));
  EXPECT_FALSE(waits("cuLaunchKernel"));
  EXPECT_FALSE(waits("synchronize"));
  EXPECT_FALSE(waits("cuStreamSynchronize", true));
}

}  // namespace
}  // namespace roofline
