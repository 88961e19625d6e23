// What a job of several ranks loses to pipelines, exchanges, kinds of collectives and small messages, and what does not
// count as that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job_of_ranks.hpp"
#include "profile/actions.hpp"

namespace roofline {
namespace {

using spool::CollectiveKind;
using testing::HasSubstr;
using testing::Not;

/// A batch goes through the stages and back, in parts.
void pipeline_step(JobOfRanks& job, int parts) {
  for (auto& rank : job.all) job.prepare(*rank);
  const int kernels = 20 / parts;
  const auto work = [&](std::size_t rank) {
    for (int i = 0; i < kernels; ++i) JobOfRanks::launch(*job.all[rank], job.all[rank]->compute, kJobMillisecond / 2);
  };
  // While the second stage has a part, the first one has the next.
  work(0);
  for (int part = 0; part < parts; ++part) {
    job.collect(CollectiveKind::send_recv);
    if (part + 1 < parts) work(0);
    work(1);
  }
  job.collect(CollectiveKind::send_recv);
  work(0);
}

/// Gradients of each micro-batch; of the last one only; of layers of one size, in a step that has one batch.
TEST(CausesOfRanks, GradientsThatAreReducedInEachMicroBatch) {
  struct Case {
    int batches, reductions;
    bool each;
  };
  for (const Case& of : {Case{4, 2, true}, Case{4, 2, false}, Case{1, 8, true}}) {
    JobOfRanks job;
    for (auto& rank : job.all) rank->prepare = kJobMillisecond / 5;
    std::vector<std::vector<spool::Id>> modules;
    for (auto& rank : job.all) {
      const spool::Id line = rank->spool.line("/home/user/project/train.py", 16, "forward");
      std::vector<spool::Id>& kinds = modules.emplace_back();
      for (const char* name : {"embedding", "blocks.0", "blocks.1", "head"}) {
        kinds.push_back(rank->spool.kind("forward_kernel", rank->spool.place({.line = line, .module = name})));
      }
    }
    job.step = [&](JobOfRanks& step) {
      for (auto& rank : step.all) step.prepare(*rank);
      for (int batch = 0; batch < of.batches; ++batch) {
        for (std::size_t rank = 0; rank < step.all.size(); ++rank) {
          for (const spool::Id kind : modules[rank]) JobOfRanks::launch(*step.all[rank], kind, kJobMillisecond / 2);
          JobOfRanks::launch(*step.all[rank], step.all[rank]->compute, 4 * kJobMillisecond);
        }
        for (int i = 0; i < of.reductions && (of.each || batch + 1 == of.batches); ++i) step.collect();
      }
    };
    job.run();
    const Saving exposed = saving_of(job.report(), SavingCause::exposed_communication);
    const bool fault = of.batches > 1 && of.each;
    const std::string reduce_once =
        action_against(SavingCause::exposed_communication, Framework::torch, CauseDetail::micro_batches);
    EXPECT_EQ(exposed.action == reduce_once, fault) << of.batches << ' ' << of.each;
    if (!fault) continue;
    EXPECT_NEAR(exposed.seconds, 2 * 40 * 8e-3 * 3 / 4, 0.05 * 2 * 40 * 6e-3) << "all but the last of four";
  }
}

TEST(CausesOfRanks, PipelineStagesWaitForEachOther) {
  for (const int parts : {1, 20}) {
    JobOfRanks job;
    for (auto& rank : job.all) rank->prepare = kJobMillisecond / 5;
    job.transfer = (parts > 1 ? 10 : 100) * kJobMicrosecond;
    job.step = [parts](JobOfRanks& of) { pipeline_step(of, parts); };
    job.run();
    const Report report = job.report();
    const Saving& first = report.profile->savings.at(0);
    EXPECT_EQ(seconds_in(report, SavingCause::exposed_communication), 0) << parts;
    if (parts > 1) {
      EXPECT_LT(seconds_in(report, SavingCause::uneven_ranks), 0.1 * 2 * report.profile->steps->total_s);
      continue;
    }
    EXPECT_EQ(first.cause, SavingCause::uneven_ranks);
    EXPECT_THAT(first.what, HasSubstr("Pipeline stages wait"));
    EXPECT_THAT(first.action, HasSubstr("micro-batches"));
    EXPECT_THAT(first.line, HasSubstr("train.py:50"));
    EXPECT_LE(first.seconds, waiting_of(report) * 1.0001);
    EXPECT_GT(report.profile->ranks->matched_share, 0.99);
  }
}

/// Three stages in one communicator: which of their exchanges are one is not known, but how long a transfer takes.
TEST(CausesOfRanks, StagesOfOneCommunicatorWaitForEachOther) {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  Ceiling ceiling;
  ceiling.name = "nccl.send_recv";
  ceiling.kind = CeilingKind::bandwidth;
  ceiling.value = 400e9;
  machine.ceilings.push_back(ceiling);
  for (const bool known : {true, false}) {
    JobOfRanks job(3);
    job.transfer = 200 * kJobMicrosecond;
    for (auto& rank : job.all) rank->prepare = kJobMillisecond / 5;
    job.step = [](JobOfRanks& of) {
      for (auto& rank : of.all) of.prepare(*rank);
      const auto work = [&of](std::size_t rank) {
        for (int i = 0; i < 10; ++i) JobOfRanks::launch(*of.all[rank], of.all[rank]->compute, kJobMillisecond);
      };
      for (const std::size_t rank : {std::size_t{0}, std::size_t{1}}) {
        work(rank);
        of.collect(CollectiveKind::send_recv, 1, {rank, rank + 1});
      }
      work(2);
      for (const std::size_t rank : {std::size_t{1}, std::size_t{0}}) {
        of.collect(CollectiveKind::send_recv, 1, {rank, rank + 1});
        work(rank);
      }
      of.collect();  // whether all gradients are finite
    };
    job.run();
    const Report report = job.report(known ? machine : Machine());
    bool stages = false;
    for (const Saving& saving : report.profile->savings) {
      stages |= saving.what.find("Pipeline stages wait") != std::string::npos;
    }
    EXPECT_EQ(stages, known);
    const double exposed_s = seconds_in(report, SavingCause::exposed_communication);
    EXPECT_EQ(exposed_s < 0.1 * report.profile->steps->total_s, known);
  }
}

TEST(CausesOfRanks, SendsThatAreBoundByTransferAreCommunication) {
  JobOfRanks job;
  job.transfer = 5 * kJobMillisecond;
  job.step = [](JobOfRanks& of) {
    for (auto& rank : of.all) of.compute(*rank);
    of.collect(CollectiveKind::send_recv);
  };
  job.run();
  const Report report = job.report();
  EXPECT_EQ(seconds_in(report, SavingCause::uneven_ranks), 0);
  const Saving exposed = saving_of(report, SavingCause::exposed_communication);
  EXPECT_THAT(exposed.action, HasSubstr("send and receive"));
  EXPECT_THAT(exposed.line, HasSubstr("train.py:50"));
}

/// Tokens go to experts on all ranks, and back.
TEST(CausesOfRanks, ARankWithMoreOfTheTokensHasMoreWork) {
  for (const int ranks : {2, 4}) {
    for (const bool uneven : {true, false}) {
      JobOfRanks job(ranks);
      job.transfer = 100 * kJobMicrosecond;
      job.all[1]->kernels = uneven ? 25 : 10;
      job.step = [ranks](JobOfRanks& of) {
        const auto calls = static_cast<std::uint32_t>(2 * ranks);  // a send and a receive for each rank
        of.collect(CollectiveKind::send_recv, calls);
        for (auto& rank : of.all) of.compute(*rank);
        of.collect(CollectiveKind::send_recv, calls);
      };
      for (auto& rank : job.all) rank->prepare = kJobMillisecond / 5;
      job.run();
      const Report report = job.report();
      EXPECT_EQ(seconds_in(report, SavingCause::exposed_communication), 0);
      if (!uneven) {
        EXPECT_EQ(seconds_in(report, SavingCause::unequal_work), 0) << ranks;
        continue;
      }
      const Saving& first = report.profile->savings.at(0);
      EXPECT_EQ(first.cause, SavingCause::unequal_work) << ranks;
      EXPECT_THAT(first.what, HasSubstr("Rank 1 "));
      EXPECT_THAT(first.action, Not(HasSubstr("micro-batches")));
      EXPECT_EQ(report.profile->ranks->collectives.at(0).name, "all_to_all");
    }
  }
}

/// Rank 0 validates now and then; it has more to do in all steps, and logs as often.
TEST(CausesOfRanks, WorkThatOneRankDoesAlone) {
  for (const bool validates : {true, false}) {
    JobOfRanks job;
    for (auto& rank : job.all) rank->prepare = kJobMillisecond / 5;
    const spool::Id at =
        job.all[0]->spool.place({.line = job.all[0]->spool.line("/home/user/project/train.py", 47, "validate")});
    const spool::Id lone = job.all[0]->spool.kind("argmax_kernel", at);
    int number = 0;
    job.step = [&](JobOfRanks& of) {
      const bool now = number++ % 10 == 5;
      for (auto& rank : of.all) of.compute(*rank);
      JobOfRanks::Rank& first = *of.all[0];
      if (now) JobOfRanks::launch(first, lone, 10 * kJobMicrosecond);
      for (int i = 0; i < (validates ? (now ? 50 : 0) : 5); ++i)
        JobOfRanks::launch(first, first.compute, kJobMillisecond);
      of.collect();
    };
    job.run();
    const Saving unequal = saving_of(job.report(), SavingCause::unequal_work);
    ASSERT_GT(unequal.seconds, 0) << validates;
    EXPECT_EQ(unequal.line.find("train.py:47") != std::string::npos, validates) << unequal.line;
    EXPECT_EQ(unequal.action == action_against(SavingCause::unequal_work, Framework::cuda, CauseDetail::lone_work),
              validates);
  }
}

TEST(CausesOfRanks, EachKindOfCollectiveHasItsAction) {
  for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::broadcast}) {
    JobOfRanks job;
    job.transfer = 5 * kJobMillisecond;
    job.step = [kind](JobOfRanks& of) {
      of.collect(kind);
      for (auto& rank : of.all) of.compute(*rank);
    };
    job.run();
    const Saving exposed = saving_of(job.report(), SavingCause::exposed_communication);
    const bool broadcast = kind == CollectiveKind::broadcast;
    EXPECT_THAT(exposed.action, broadcast ? HasSubstr("Broadcast only what changes") : HasSubstr("Start each"));
    EXPECT_THAT(exposed.evidence, HasSubstr(broadcast ? "mostly broadcast" : "mostly all_reduce"));
    EXPECT_THAT(exposed.line, HasSubstr(broadcast ? "train.py:60" : "train.py:30"));
  }
}

/// Only the root is sharded; or each of four layers.
TEST(CausesOfRanks, ShardsOfTheWholeModelInOneCollective) {
  for (const int layers : {1, 4}) {
    JobOfRanks job;
    job.transfer = 8 * kJobMillisecond / static_cast<std::uint64_t>(layers);
    for (auto& rank : job.all) rank->prepare = kJobMillisecond / 5;
    job.step = [layers](JobOfRanks& of) {
      for (int layer = 0; layer < layers; ++layer) {
        of.collect(CollectiveKind::all_gather);
        for (auto& rank : of.all) of.compute(*rank);
      }
      for (int layer = 0; layer < layers; ++layer) of.collect(CollectiveKind::reduce_scatter);
    };
    job.run();
    const Saving exposed = saving_of(job.report(), SavingCause::exposed_communication);
    const std::string split =
        action_against(SavingCause::exposed_communication, Framework::cuda, CauseDetail::whole_shards);
    ASSERT_FALSE(exposed.action.empty());
    EXPECT_EQ(exposed.action == split, layers == 1) << exposed.action;
  }
}

/// Layers whose products are tiny, each with an all-reduce behind it.
JobOfRanks split_layers(int layers, std::uint64_t kernel) {
  JobOfRanks job;
  job.transfer = 20 * kJobMicrosecond;
  job.bytes = 64 << 10;
  for (auto& rank : job.all) {
    rank->prepare = kJobMillisecond / 5;
    rank->kernel = kernel;
    rank->launch_time = 15 * kJobMicrosecond;
  }
  job.step = [layers](JobOfRanks& of) {
    for (auto& rank : of.all) of.prepare(*rank);
    for (int layer = 0; layer < layers; ++layer) {
      for (auto& rank : of.all) JobOfRanks::launch(*rank, rank->compute, rank->kernel);
      of.collect();
    }
  };
  return job;
}

TEST(CausesOfRanks, SmallCollectivesBetweenKernelsAreToBeFewer) {
  JobOfRanks job = split_layers(100, 4 * kJobMicrosecond);
  job.all[0]->launch_time = 40 * kJobMicrosecond;  // that host is a little slower at everything
  job.run();
  const Report report = job.report();
  EXPECT_EQ(seconds_in(report, SavingCause::late_rank), 0);
  EXPECT_EQ(seconds_in(report, SavingCause::uneven_ranks), 0);
  const Saving small = saving_of(report, SavingCause::small_messages);
  EXPECT_GT(small.seconds, 0.9 * waiting_of(report));
  EXPECT_THAT(small.what, HasSubstr("each between kernels that need it"));
  EXPECT_THAT(small.action, HasSubstr("fewer and larger"));
  EXPECT_THAT(small.action, Not(HasSubstr("Merge")));
  JobOfRanks few = split_layers(6, kJobMillisecond);
  few.run();
  EXPECT_EQ(seconds_in(few.report(), SavingCause::small_messages), 0);
}

TEST(CausesOfRanks, ARankIsLateInSmallCollectivesIfItsOwnTimeExplainsTheWaits) {
  JobOfRanks slow = split_layers(60, 100 * kJobMicrosecond);
  slow.all[1]->kernel = 160 * kJobMicrosecond;  // the same kernels
  slow.run();
  EXPECT_EQ(causes_in(slow.report()).at(0), SavingCause::slow_gpu);
  JobOfRanks prepares = split_layers(60, 20 * kJobMicrosecond);
  prepares.all[1]->prepare = 12 * kJobMillisecond;
  prepares.run();
  const Report report = prepares.report();
  EXPECT_EQ(report.profile->savings.at(0).cause, SavingCause::late_rank);
  EXPECT_THAT(report.profile->savings[0].line, HasSubstr("train.py:19"));
}

TEST(CausesOfRanks, ALateLoaderIsNotToldToLoadLessOften) {
  for (const bool loads : {true, false}) {
    JobOfRanks job;
    if (loads) {
      const HostFrame loader = HostSamplesBuilder::library("torch/utils/data/dataloader.py", "__next__");
      job.all[0]->loop = {job.samples.stack({loader, HostSamplesBuilder::own("train.py", 19, "prepare_batch")})};
    }
    int step = 0;
    job.before_step = [&step](JobOfRanks& of) { of.all[0]->prepare = (step++ % 10 == 9 ? 150 : 2) * kJobMillisecond; };
    job.run(60);
    const Report report = job.report();
    ASSERT_EQ(report.profile->savings.at(0).cause, SavingCause::late_rank);
    EXPECT_THAT(report.profile->savings[0].what, HasSubstr(loads ? "prepares input data" : "Python"));
    EXPECT_EQ(report.profile->savings[0].action.find("less often") == std::string::npos, loads);
  }
}

TEST(CausesOfRanks, ALateRankWithFewerCpusIsToldSo) {
  const std::vector<std::vector<std::uint32_t>> cases = {{8, 1}, {8, 8}, {0, 0}, {8, 0}};
  for (const std::vector<std::uint32_t>& cpus : cases) {
    JobOfRanks job(2, true, cpus);
    job.all[1]->prepare = 20 * kJobMillisecond;
    job.run();
    const Report report = job.report();
    const Saving& first = report.profile->savings.at(0);
    ASSERT_EQ(first.cause, SavingCause::late_rank);
    const bool fewer = cpus[1] == 1;
    EXPECT_EQ(first.what.find("It may run on 1 CPU, rank 0 on 8") != std::string::npos, fewer) << first.what;
    EXPECT_EQ(first.action.find("affinity") != std::string::npos, fewer) << first.action;
  }
}

TEST(CausesOfRanks, ARankThatIsLateTwiceIsNamedIfItsHostShowsWhy) {
  for (const bool sampled : {true, false}) {
    JobOfRanks job;
    int step = 0;
    job.before_step = [&step](JobOfRanks& of) {
      ++step;
      of.all[0]->prepare = (step == 12 || step == 28 ? 180 : 2) * kJobMillisecond;
    };
    if (!sampled) job.all[0]->loop = {-1};
    job.run();
    const Report report = job.report();
    const Saving late = saving_of(report, SavingCause::late_rank);
    EXPECT_EQ(seconds_in(report, SavingCause::uneven_hosts) > 0, !sampled);
    if (!sampled) continue;
    EXPECT_THAT(late.what, HasSubstr("Rank 0 arrives last in 2 of"));
    EXPECT_THAT(late.line, HasSubstr("train.py:19"));
    EXPECT_THAT(late.action, HasSubstr("less often"));
  }
}

/// In each step another rank is late: its host launches later, or its kernels take longer.
TEST(CausesOfRanks, RanksThatTakeTurnsByTheirHostsOrTheirWork) {
  for (const bool hosts : {true, false}) {
    JobOfRanks job;
    int step = 0;
    job.before_step = [&](JobOfRanks& of) {
      const bool late = step++ % 4 % 3 == 0;
      for (std::size_t rank = 0; rank < 2; ++rank) {
        const bool now = late == (rank == 0);
        of.all[rank]->prepare = (hosts && now ? 14 : 4) * kJobMillisecond;
        of.all[rank]->kernel = (!hosts && now ? 2 : 1) * kJobMillisecond;
      }
    };
    job.run();
    const Report report = job.report();
    EXPECT_EQ(seconds_in(report, SavingCause::uneven_hosts) > 0, hosts);
    EXPECT_EQ(seconds_in(report, SavingCause::uneven_ranks) > 0, !hosts);
    const SavingCause first = report.profile->savings.at(0).cause;
    EXPECT_EQ(first, hosts ? SavingCause::host_python : SavingCause::uneven_ranks) << "what the hosts do comes first";
  }
}

/// Partial sums are converted to single precision, reduced, and converted back; or reduced as they are.
TEST(CausesOfRanks, SumsThatAreConvertedForACollective) {
  constexpr const char* kWiden =
      "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaEvENKUlfE_clEfE12LoadWithCast";
  constexpr const char* kNarrow = "_ZN2at6native29vectorized_elementwise_kernelIZNS0_25bfloat16_copy_kernel_cudaEUlfE_";
  for (const auto& [before, after] :
       {std::pair(kWiden, kNarrow), std::pair("add_kernel", kNarrow), std::pair(kWiden, "add_kernel")}) {
    JobOfRanks job;
    job.step = [&, first = before, last = after](JobOfRanks& of) {
      for (auto& rank : of.all) of.compute(*rank);
      for (int layer = 0; layer < 4; ++layer) {
        for (auto& rank : of.all) {
          JobOfRanks::launch(*rank, rank->compute, 2 * kJobMillisecond);
          JobOfRanks::launch(*rank, rank->spool.kind(first, 0), 50 * kJobMicrosecond);
        }
        of.collect();
        for (auto& rank : of.all) JobOfRanks::launch(*rank, rank->spool.kind(last, 0), 50 * kJobMicrosecond);
      }
    };
    job.run();
    const Saving exposed = saving_of(job.report(), SavingCause::exposed_communication);
    const bool converted = std::string_view(before) == kWiden && std::string_view(after) == kNarrow;
    const std::string remedy =
        action_against(SavingCause::exposed_communication, Framework::torch, CauseDetail::widened_messages);
    EXPECT_EQ(exposed.action == remedy, converted) << before << ' ' << after;
    if (converted) {
      EXPECT_NEAR(exposed.seconds, 2 * 40 * 4 * 1e-3 / 2, 0.02) << "half of the bytes";
    }
  }
}

/// Rows are exchanged in single precision, and converted to half precision before or behind it; or not at all.
TEST(CausesOfRanks, WideMessagesOfNarrowValues) {
  constexpr const char* kWiden =
      "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaEvENKUlfE_clEfE12LoadWithCast";
  constexpr const char* kNarrow = "_ZN2at6native29vectorized_elementwise_kernelIZNS0_25bfloat16_copy_kernel_cudaEUlfE_";
  struct Case {
    const char *before, *after;
    spool::CollectiveKind kind;
    bool wide;
  };
  using spool::CollectiveKind;
  for (const Case& of : {Case{kWiden, "add_kernel", CollectiveKind::all_to_all, true},
                         Case{"add_kernel", kNarrow, CollectiveKind::all_to_all, true},
                         Case{"add_kernel", "add_kernel", CollectiveKind::all_to_all, false},
                         Case{"add_kernel", kNarrow, CollectiveKind::all_reduce, false}}) {
    JobOfRanks job;
    for (auto& rank : job.all) rank->prepare = kJobMillisecond / 5;
    job.transfer = 5 * kJobMillisecond;
    job.step = [&of](JobOfRanks& step) {
      for (auto& rank : step.all) {
        step.compute(*rank);
        JobOfRanks::launch(*rank, rank->spool.kind(of.before, 0), 50 * kJobMicrosecond);
      }
      step.collect(of.kind);
      for (auto& rank : step.all) JobOfRanks::launch(*rank, rank->spool.kind(of.after, 0), 50 * kJobMicrosecond);
    };
    job.run();
    const Saving exposed = saving_of(job.report(), SavingCause::exposed_communication);
    const std::string remedy =
        action_against(SavingCause::exposed_communication, Framework::torch, CauseDetail::wide_messages);
    EXPECT_EQ(exposed.action == remedy, of.wide) << of.before << ' ' << of.after;
    if (of.wide) {
      EXPECT_NEAR(exposed.seconds, 2 * 40 * 5e-3 / 2, 0.02) << "half of the bytes";
    }
  }
}

/// All ranks gather a table; the next kernel reads some of its rows, or all of it.
TEST(CausesOfRanks, ATableThatIsGatheredForAFewOfItsRows) {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  Ceiling ceiling;
  ceiling.name = "hbm.read";
  ceiling.kind = CeilingKind::bandwidth;
  ceiling.value = 1e12;
  machine.ceilings.push_back(ceiling);
  constexpr const char* kGather = "_ZN2at6native24vectorized_gather_kernelILi16ElEEvPcS2_PT0_";
  struct Case {
    const char* next;
    std::uint64_t microseconds;
    bool few;
  };
  for (const Case& of : {Case{kGather, 50, true}, Case{kGather, 1200, false}, Case{"gemm_kernel", 50, false}}) {
    JobOfRanks job;
    job.bytes = 1 << 30;
    job.transfer = 5 * kJobMillisecond;
    for (auto& rank : job.all)
      rank->collective = rank->spool.kind("ncclDevKernel_AllGather_RING_LL", rank->collective_place);
    job.step = [&](JobOfRanks& step) {
      for (auto& rank : step.all) step.compute(*rank);
      step.collect(CollectiveKind::all_gather);
      for (auto& rank : step.all) {
        JobOfRanks::launch(*rank, rank->spool.kind(of.next, 0), of.microseconds * kJobMicrosecond);
        JobOfRanks::launch(*rank, rank->compute, 4 * kJobMillisecond);
      }
    };
    job.run();
    const Saving exposed = saving_of(job.report(machine), SavingCause::exposed_communication);
    const std::string what = what_is_lost(SavingCause::exposed_communication, CauseDetail::unread_rows);
    EXPECT_EQ(exposed.what.starts_with(what), of.few) << of.next << ' ' << of.microseconds;
    EXPECT_LE(exposed.seconds, 2 * 40 * 5e-3 * 1.01);
  }
}

/// Rows are exchanged, and the receiver takes their mean, or uses all of them; gradients are expanded, and sent back.
TEST(CausesOfRanks, DataThatIsReducedAfterItWasSent) {
  constexpr const char* kReduce =
      "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4ELi4EEEEEvT1_";
  constexpr const char* kElements = "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocast";
  constexpr double kBytes = 1 << 30;
  struct Case {
    const char *before, *after;
    double expanded_from, reduced_to;  // of the bytes
    bool late;
  };
  for (const Case& of : {Case{kElements, kReduce, 1, 1. / 32, true}, Case{kElements, kElements, 1. / 32, 1, true},
                         Case{kElements, kReduce, 1, 0.6, false}, Case{kElements, kElements, 1, 1. / 32, false},
                         Case{"FillFunctor", kElements, 1e-6, 1, false}}) {
    JobOfRanks job;
    job.bytes = 1 << 30;
    job.transfer = 5 * kJobMillisecond;
    std::vector<std::pair<spool::Id, spool::Id>> kinds;  // of each rank: before and after
    for (auto& rank : job.all) {
      const auto [before, after] =
          kinds.emplace_back(rank->spool.kind(of.before, 0, 0, 1000), rank->spool.kind(of.after, 0));
      rank->spool.counts(before, {{"dram.read_bytes", of.expanded_from * kBytes}, {"dram.write_bytes", kBytes}});
      rank->spool.counts(after, {{"dram.read_bytes", kBytes}, {"dram.write_bytes", of.reduced_to * kBytes}});
    }
    job.step = [&](JobOfRanks& step) {
      for (std::size_t i = 0; i < step.all.size(); ++i) {
        step.compute(*step.all[i]);
        JobOfRanks::launch(*step.all[i], kinds[i].first, kJobMillisecond);
      }
      step.collect(spool::CollectiveKind::all_to_all);
      for (std::size_t i = 0; i < step.all.size(); ++i) {
        JobOfRanks::launch(*step.all[i], kinds[i].second, kJobMillisecond);
        JobOfRanks::launch(*step.all[i], step.all[i]->compute, 4 * kJobMillisecond);
      }
    };
    job.run();
    const Saving exposed = saving_of(job.report(), SavingCause::exposed_communication);
    const std::string what = what_is_lost(SavingCause::exposed_communication, CauseDetail::reduced_late);
    EXPECT_EQ(exposed.what.starts_with(what), of.late) << of.expanded_from << ' ' << of.reduced_to;
    if (of.late) {
      EXPECT_NEAR(exposed.seconds, 2 * 40 * 5e-3 * 31 / 32, 0.02);
    }
  }
}

/// Zeros of an embedding's gradient are reduced with the rows that a batch uses.
TEST(CausesOfRanks, GradientsOfEmbeddingsThatAreMostlyZeros) {
  constexpr double kBytes = 1 << 30;
  for (const double used : {0.05, 0.9}) {
    JobOfRanks job;
    job.bytes = 1 << 30;
    job.transfer = 5 * kJobMillisecond;
    std::vector<std::pair<spool::Id, spool::Id>> kinds;  // of each rank: the fill and the gradient
    for (auto& rank : job.all) {
      const auto [fill, gradient] =
          kinds.emplace_back(rank->spool.kind("FillFunctor", 0), rank->spool.kind("sum_and_scatter", 0));
      rank->spool.counts(fill, {{"dram.write_bytes", kBytes}});
      rank->spool.counts(gradient, {{"dram.write_bytes", used * kBytes}});
    }
    job.step = [&](JobOfRanks& step) {
      for (std::size_t i = 0; i < step.all.size(); ++i) {
        step.compute(*step.all[i]);
        JobOfRanks::launch(*step.all[i], kinds[i].first, kJobMillisecond);
        JobOfRanks::launch(*step.all[i], kinds[i].second, kJobMillisecond);
      }
      step.collect(CollectiveKind::all_reduce);
      for (auto& rank : step.all) JobOfRanks::launch(*rank, rank->compute, 4 * kJobMillisecond);
    };
    job.run();
    const Saving exposed = saving_of(job.report(), SavingCause::exposed_communication);
    const std::string what = what_is_lost(SavingCause::exposed_communication, CauseDetail::unused_gradients);
    EXPECT_EQ(exposed.what.starts_with(what), used < 0.5) << exposed.what;
    if (used < 0.5) {
      EXPECT_NEAR(exposed.seconds, 2 * 40 * 5e-3 * (1 - used), 2 * 40 * 5e-3 * 0.03);
    }
  }
}

/// Hooks start collectives of gradients: the line to change is that of the backward pass.
TEST(CausesOfRanks, GradientsAreReducedAtTheLineOfTheBackwardPass) {
  for (const bool sampled : {true, false}) {
    JobOfRanks job;
    for (auto& rank : job.all) {
      const spool::Id forward =
          rank->spool.place({.line = rank->spool.line("/home/user/project/train.py", 12, "forward"), .backward = true});
      rank->collective = rank->spool.kind("ncclDevKernel_AllReduce_Sum_f32_RING_LL", forward);
      if (!sampled) continue;
      rank->loop = {job.samples.stack({HostSamplesBuilder::library("torch/autograd/graph.py", "_engine_run_backward"),
                                       HostSamplesBuilder::own("train.py", 85, "step")})};
    }
    job.transfer = 5 * kJobMillisecond;
    job.run();
    const Saving exposed = saving_of(job.report(), SavingCause::exposed_communication);
    EXPECT_EQ(exposed.line, sampled ? "train.py:85 step" : "train.py:12 forward");
  }
}

}  // namespace
}  // namespace roofline
