#include "import/kineto_context.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace roofline::kineto {
namespace {

class ContextFinder {
 public:
  ContextFinder(const Events& events, ByteSource& source, TraceBuilder& builder)
      : events_(events), source_(source), builder_(builder) {}

  std::vector<HostContext> locate(const Origins& origins, ProcessTrace& trace) {
    // The forward of each backward operator first: its kernels are attributed there.
    std::vector<std::pair<Moment, std::size_t>> asked;
    std::vector<HostContext> forwards(events_.backward.size());
    for (std::size_t i = 0; i < events_.backward.size(); ++i) {
      const auto forward = events_.forward.find(events_.backward[i].second);
      if (forward == events_.forward.end()) continue;
      asked.emplace_back(forward->second, i);
      backward_at_.emplace(std::pair(events_.backward[i].first.thread, events_.backward[i].first.time), i);
    }
    std::vector<std::uint32_t> order(events_.spans.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    // The outer one of operators with equal times is first in the file.
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      const Span &x = events_.spans[a], &y = events_.spans[b];
      return std::tie(x.thread, x.start, y.end, x.kind) < std::tie(y.thread, y.start, x.end, y.kind);
    });
    sweep(order, asked, forwards, {}, nullptr);

    asked.clear();
    std::vector<HostContext> places(events_.gpu.size());
    for (std::size_t i = 0; i < events_.gpu.size(); ++i) {
      const Origin& origin = origins.of[i];
      if (origin.call != nullptr) {
        asked.emplace_back(Moment{origin.call->thread, origin.call->start}, i);
      } else if (origin.operation != nullptr) {
        asked.emplace_back(Moment{origin.operation->thread, origin.operation->start}, i);
      }
    }
    sweep(order, asked, places, forwards, &trace);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Span* operation = origins.of[i].operation;
      if (operation == nullptr) continue;
      places[i].signature = operation->what;
      places[i].operation = index_of(*operation);
    }
    return places;
  }

 private:
  std::uint32_t index_of(const Span& span) const { return static_cast<std::uint32_t>(&span - events_.spans.data()); }

  struct Open {
    const Span* span;
    spool::Id range;  ///< of it and those around it
  };

  void sweep(const std::vector<std::uint32_t>& order, std::vector<std::pair<Moment, std::size_t>>& asked,
             std::vector<HostContext>& answers, const std::vector<HostContext>& forwards, ProcessTrace* ranges) {
    std::sort(asked.begin(), asked.end());
    std::vector<Open> stack;
    HostContext last;
    bool changed = true;
    std::size_t next = 0;
    const auto close_until = [&](std::uint32_t thread, std::uint64_t time) {
      const std::size_t before = stack.size();
      std::erase_if(stack, [&](const Open& open) { return open.span->thread != thread || open.span->end < time; });
      changed |= stack.size() != before;
    };
    const auto open_span = [&](const Span& span) {
      // Each span visits the open ones; a hostile file could keep all open.
      constexpr std::size_t kDeepest = 4096;
      close_until(span.thread, span.start);
      if (stack.size() >= kDeepest) source_.fail("more than 4096 nested events in a thread");
      spool::Id range = stack.empty() ? 0 : stack.back().range;
      if (span.kind == SpanKind::annotation) {
        range = builder_.range(range, events_.words[span.what]);
        if (ranges != nullptr) {
          ranges->range_times.push_back(
              {.start = span.start, .end = span.end, .range = range, .thread = events_.thread_ids[span.thread]});
        }
      }
      stack.push_back({&span, range});
      changed = true;
    };
    for (const auto& [moment, index] : asked) {
      for (; next < order.size(); ++next) {
        const Span& span = events_.spans[order[next]];
        if (std::tie(span.thread, span.start) > std::tie(moment.thread, moment.time)) break;
        open_span(span);
      }
      close_until(moment.thread, moment.time);
      if (changed) last = host_context(stack, forwards);
      changed = false;
      answers[index] = last;
    }
    if (ranges == nullptr) return;
    for (; next < order.size(); ++next) {
      if (events_.spans[order[next]].kind == SpanKind::annotation) open_span(events_.spans[order[next]]);
    }
  }

  HostContext host_context(const std::vector<Open>& stack, const std::vector<HostContext>& forwards) const {
    HostContext here;
    if (!stack.empty()) here.range = stack.back().range;
    for (const Open& open : stack) {
      const Span& span = *open.span;
      switch (span.kind) {
        case SpanKind::module:
          here.module += (here.module.empty() ? "" : ".") + events_.words[span.what];
          break;
        case SpanKind::function:
          here.line = span.what;
          break;
        case SpanKind::operation: {
          here.signature = span.what;
          here.operation = index_of(span);
          const auto forward = backward_at_.find({span.thread, span.start});
          if (forward == backward_at_.end() || forwards.empty()) break;
          here.backward = true;
          here.module = forwards[forward->second].module;
          here.line = forwards[forward->second].line;
          break;
        }
        case SpanKind::annotation:
          break;
      }
    }
    return here;
  }

  const Events& events_;
  ByteSource& source_;
  TraceBuilder& builder_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> backward_at_;  ///< by thread and time
};

}  // namespace

std::vector<HostContext> host_contexts(const Events& events, const Origins& origins, ByteSource& source,
                                       TraceBuilder& builder, ProcessTrace& trace) {
  return ContextFinder(events, source, builder).locate(origins, trace);
}

}  // namespace roofline::kineto
