// What /proc says of threads: its texts, and the states that they mean.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "sample/host_samples.hpp"
#include "sample/proc_text.hpp"
#include "sample/thread_wait.hpp"

namespace roofline {
namespace {

TEST(ProcText, AThreadsNameMayHoldParenthesesAndBlanks) {
  const auto stat = parse_thread_stat(
      "4711 (a) (b c) S 42 4711 1 0 -1 4194304 95 0 0 0 5 6 0 0 20 0 1 0 4428885 3133440 366 18446744073709551615\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->id, 4711);
  EXPECT_EQ(stat->name, "a) (b c");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 42);
  EXPECT_EQ(stat->start, 4428885U);
  for (const char* broken : {"", "4711", "4711 (a", "4711 (a) S", "x (a) S 42", "4711 )a( S 42 1 1"}) {
    EXPECT_FALSE(parse_thread_stat(broken)) << broken;
  }
}

TEST(ProcText, TimesOfAThread) {
  EXPECT_EQ(parse_thread_times("4394098 5255813 17\n"), (ThreadTimes{4394098, 5255813, 17}));
  EXPECT_FALSE(parse_thread_times("4394098 5255813"));
  EXPECT_FALSE(parse_thread_times(""));
}

TEST(ProcText, TheSystemCallOfABlockedThread) {
  const auto running = parse_blocked_call("running\n");
  ASSERT_TRUE(running);
  EXPECT_TRUE(running->running);
  const auto waits = parse_blocked_call("202 0x7f01 0x80 0x2 0x0 0x0 0xffffffff 0x7ffc26c24e08 0x7f1da49d02ad\n");
  ASSERT_TRUE(waits);
  EXPECT_FALSE(waits->running);
  EXPECT_EQ(waits->number, 202);
  EXPECT_EQ(waits->arguments[0], 0x7f01U);
  EXPECT_EQ(waits->arguments[5], 0xffffffffU);
  EXPECT_EQ(waits->stack_pointer, 0x7ffc26c24e08U);
  EXPECT_EQ(waits->program_counter, 0x7f1da49d02adU);
  const auto fault = parse_blocked_call("-1 0x7ffc26c24e08 0x7f1da49d02ad\n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->number, -1);
  EXPECT_EQ(fault->program_counter, 0x7f1da49d02adU);
  EXPECT_FALSE(parse_blocked_call("202 0x7f01 0x80"));
  EXPECT_FALSE(parse_blocked_call(""));
}

TEST(ProcText, Mappings) {
  const auto mappings = parse_mappings(
      "7f07600000-7f07700000 r-xp 00021000 08:01 1234                       /usr/lib/with blank/libx.so (deleted)\n"
      "what is no mapping\n"
      "7ffc26c00000-7ffc26c21000 rw-p 00000000 00:00 0 \n");
  ASSERT_EQ(mappings.size(), 2U);
  EXPECT_EQ(mappings[0].start, 0x7f07600000U);
  EXPECT_EQ(mappings[0].end, 0x7f07700000U);
  EXPECT_EQ(mappings[0].offset, 0x21000U);
  EXPECT_EQ(mappings[0].inode, 1234U);
  EXPECT_TRUE(mappings[0].executable);
  EXPECT_EQ(mappings[0].path, "/usr/lib/with blank/libx.so (deleted)");
  EXPECT_FALSE(mappings[1].executable);
  EXPECT_EQ(mappings[1].path, "");
}

TEST(ProcText, ChildrenAndTargetsOfAnEventLoop) {
  EXPECT_EQ(parse_ids("12 13 14 "), (std::vector<std::int64_t>{12, 13, 14}));
  EXPECT_TRUE(parse_ids("").empty());
  EXPECT_EQ(parse_epoll_targets("pos:\t0\nflags:\t02\ntfd:        5 events:       19 data: 5\n"
                                "tfd:        7 events:       19 data: 7\n"),
            (std::vector<int>{5, 7}));
  EXPECT_TRUE(parse_epoll_targets("pos:\t0\n").empty());
}

TEST(ThreadWait, SystemCallsByWhatTheyWaitFor) {
  EXPECT_EQ(system_call_kind(SYS_futex), SystemCallKind::futex);
  EXPECT_EQ(system_call_kind(SYS_read), SystemCallKind::read);
  EXPECT_EQ(system_call_kind(SYS_clock_nanosleep), SystemCallKind::sleep);
  EXPECT_EQ(system_call_kind(SYS_wait4), SystemCallKind::child);
  EXPECT_EQ(system_call_kind(SYS_epoll_pwait), SystemCallKind::epoll);
  EXPECT_EQ(system_call_kind(SYS_accept4), SystemCallKind::socket);
  EXPECT_EQ(system_call_kind(SYS_getpid), SystemCallKind::other);
}

TEST(ThreadWait, DescriptorsByTheirLinks) {
  EXPECT_EQ(descriptor_kind("pipe:[123]"), DescriptorKind::pipe);
  EXPECT_EQ(descriptor_kind("socket:[5]"), DescriptorKind::network_socket);
  EXPECT_EQ(descriptor_kind("/dev/nvidiactl"), DescriptorKind::gpu);
  EXPECT_EQ(descriptor_kind("/dev/pts/0"), DescriptorKind::terminal);
  EXPECT_EQ(descriptor_kind("/data/train.bin"), DescriptorKind::file);
  EXPECT_EQ(descriptor_kind("anon_inode:[eventfd]"), DescriptorKind::event);
  EXPECT_EQ(descriptor_kind(""), DescriptorKind::unknown);
}

TEST(ThreadWait, SocketsOfAServer) {
  const std::string table =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 501 1 00 100\n"
      "   1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 502 1 00 20\n"
      "   2: 0100007F:D431 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 503 1 00 20\n"
      "  sl  local_address                         remote_address                        st tx_queue rx_queue\n"
      "   0: 00000000000000000000000000000000:22B8 00000000000000000000000000000000:0000 0A 00000000:00000000 "
      "00:00000000 00000000  1000        0 601 1 00 100\n";
  EXPECT_TRUE(serves_requests(table, 501)) << "it listens";
  EXPECT_TRUE(serves_requests(table, 502)) << "it was accepted";
  EXPECT_FALSE(serves_requests(table, 503)) << "the client's end";
  EXPECT_TRUE(serves_requests(table, 601));
  EXPECT_FALSE(serves_requests(table, 999));
  EXPECT_FALSE(serves_requests("", 501));
  EXPECT_FALSE(serves_requests("1: :\n0: x:1 y 0A\n", 501));
}

TEST(ThreadWait, StatesByDescriptor) {
  EXPECT_EQ(waits_for(DescriptorKind::server_socket, false), ThreadState::request);
  EXPECT_EQ(waits_for(DescriptorKind::pipe, false), ThreadState::read);
  EXPECT_EQ(waits_for(DescriptorKind::local_socket, true), ThreadState::read);
  EXPECT_EQ(waits_for(DescriptorKind::network_socket, true), ThreadState::network);
  EXPECT_EQ(waits_for(DescriptorKind::file, false), ThreadState::disk);
  EXPECT_EQ(waits_for(DescriptorKind::gpu, true), ThreadState::gpu);
  EXPECT_EQ(waits_for(DescriptorKind::event, true), ThreadState::poll);
  EXPECT_EQ(waits_for(DescriptorKind::unknown, false), ThreadState::other);
}

TEST(ThreadWait, StatesByKernelFunction) {
  EXPECT_EQ(state_of_kernel_function("futex_do_wait"), ThreadState::lock);
  EXPECT_EQ(state_of_kernel_function("anon_pipe_read"), ThreadState::read);
  EXPECT_EQ(state_of_kernel_function("hrtimer_nanosleep"), ThreadState::sleep);
  EXPECT_EQ(state_of_kernel_function("do_wait"), ThreadState::child);
  EXPECT_EQ(state_of_kernel_function("inet_csk_accept"), ThreadState::request);
  EXPECT_EQ(state_of_kernel_function("0"), ThreadState::other);
}

TEST(ThreadStates, EachHasItsOwnId) {
  for (const ThreadState state : kThreadStates) EXPECT_EQ(parse_thread_state(id_of(state)), state);
  EXPECT_FALSE(parse_thread_state("elsewhere"));
}

}  // namespace
}  // namespace roofline
