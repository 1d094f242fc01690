// Runs cases in parallel. Threads take cases by number, and results are reported in order, by one thread at a time,
// which reports what all of them have finished.
#include "engine/run/runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/engine_lost.h"
#include "engine/run/graph_verdicts.h"
#include "engine/run/shuffle.h"

namespace dmlconform::run {
namespace {

using Clock = std::chrono::steady_clock;

/// Limit, for each set of engines, of results that wait for a slower preceding case.
constexpr std::size_t most_waiting = 64;

/// Where there are several threads, each one reports after so many cases, since what threads share moves between
/// processors each time. After twice as many, it waits until it may.
constexpr std::size_t most_kept = 16;

/// What threads change all the time lies that far apart, so that no two processors change the same cache line.
constexpr std::size_t bytes_apart = 64;

/// After so long, it reports fewer.
constexpr std::chrono::milliseconds longest_kept{20};

/// A case that needs less than this part of a thread's share of the memory is not counted.
constexpr std::uint64_t counted_parts = 64;

class Run {
public:
    Run(const CaseSource& source, std::span<const EngineSet> sets, Observer& observer, const RunSettings& settings)
        : source_(source),
          sets_(sets),
          observer_(observer),
          settings_(settings),
          case_settings_(settings.cases),
          count_(source.positions * settings.repeat),
          window_(most_waiting * sets.size()),
          threads_(sets.size()),
          waiting_(window_) {
        std::vector<EngineInfo> engines;
        for (const auto& engine : sets.front()) {
            engines.push_back(engine->info());
        }
        if (settings.expected != nullptr) {
            settings.expected->set_engines(engines);
        }
        case_settings_.expected = settings.expected;
        engines_ = engines;
        totals_ = RunTotals(std::move(engines));
    }

    RunTotals run() {
        const auto start = Clock::now();
        std::vector<std::thread> threads;
        threads.reserve(sets_.size());
        try {
            for (std::size_t i = 1; i < sets_.size(); ++i) {
                threads.emplace_back([this, i] { work(i); });
            }
        } catch (const std::exception&) {
            // The system cannot create more threads. The sets of engines that have one do all the work.
        }
        work(0);
        for (std::thread& thread : threads) {
            thread.join();
        }
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        totals_.duration = Clock::now() - start;
        return std::move(totals_);
    }

private:
    using Results = std::vector<CaseResult>;

    /// The memory of a case that runs. Waits until the cases that run at the same time leave enough of the limit, of
    /// which a quarter is for values that nodes share. A case that runs alone may take all.
    class MemoryShare {
    public:
        MemoryShare(Run& run, const cases::Case& subject) : run_(run) {
            if (run.sets_.size() == 1 || subject.expect_error || !subject.problem.empty()) {
                return;
            }
            const std::uint64_t limit = run.case_settings_.max_memory;
            for (const EngineInfo& engine : run.engines_) {
                bytes_ = std::max(bytes_, std::min(limit, memory_of(subject, engine, run.case_settings_)));
            }
            if (bytes_ < limit / run.sets_.size() / counted_parts) {
                bytes_ = 0;
                return;
            }
            std::unique_lock lock(run.mutex_);
            run.room_.wait(lock, [&] {
                return run.in_use_ == 0 || bytes_ <= limit - limit / 4 - std::min(run.in_use_, limit - limit / 4);
            });
            run.in_use_ += bytes_;
        }
        MemoryShare(const MemoryShare&) = delete;
        MemoryShare& operator=(const MemoryShare&) = delete;
        ~MemoryShare() {
            if (bytes_ == 0) {
                return;
            }
            const std::lock_guard lock(run_.mutex_);
            run_.in_use_ -= bytes_;
            run_.room_.notify_all();
        }

    private:
        Run& run_;
        std::uint64_t bytes_ = 0;
    };

    /// What a thread has done. The thread that allocated the results' memory frees it, which is faster.
    struct alignas(bytes_apart) Thread {
        /// When it last reported, and the cases that it began and finished since then.
        Clock::time_point reported_at{};
        std::size_t begun = 0;
        std::size_t finished = 0;
        /// Protects `fresh`.
        std::mutex mutex;
        /// By number of the case, not reported yet.
        std::vector<std::pair<std::size_t, Results>> fresh;
        /// Protected by the run's mutex.
        std::vector<Results> reported;
    };
    struct Waiting {
        Results results;
        /// Null: the case is not finished.
        Thread* from = nullptr;
    };

    void work(std::size_t number_of_set) {
        const EngineSet& engines = sets_[number_of_set];
        try {
            const CaseSource::Reader read = source_.reader(
                [&](const cases::Case& subject) { return may_compare(subject, engines, case_settings_); });
            Thread& thread = threads_[number_of_set];
            while (const auto number = take()) {
                Results results = results_of(*number, read, engines, thread);
                ++thread.finished;
                const std::lock_guard lock(thread.mutex);
                thread.fresh.emplace_back(*number, std::move(results));
            }
            const std::lock_guard lock(mutex_);
            report_finished();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
            stopped_ = true;
            room_.notify_all();
        }
    }

    /// The number of the next case; empty if there are no more. Waits while too many results wait for a slower case.
    std::optional<std::size_t> take() {
        if (stopped_) {
            return std::nullopt;
        }
        const std::size_t number = taken_++;
        if (number >= count_) {
            return std::nullopt;
        }
        if (number - reported_ >= window_) {
            ++threads_that_wait_;
            std::unique_lock lock(mutex_);
            report_finished();
            room_.wait(lock, [&] { return stopped_ || number - reported_ < window_; });
            --threads_that_wait_;
            if (number - reported_ >= window_) {
                return std::nullopt;  // stopped
            }
        }
        return number;
    }

    /// The lock for a thread that is to report now. Of several threads, one that has finished few cases, or finds
    /// another one reporting, goes on without, unless a thread waits for results.
    std::unique_lock<std::mutex> lock_if_due(const Thread& thread) {
        if (sets_.size() == 1 || threads_that_wait_ != 0 || thread.finished >= 2 * most_kept) {
            return std::unique_lock(mutex_);
        }
        if (thread.finished < most_kept && Clock::now() - thread.reported_at < longest_kept) {
            return {};
        }
        return {mutex_, std::try_to_lock};
    }

    /// Reports what is finished and announces a case, if that is due. False if the run has to end.
    bool begin(const cases::Case& subject, Thread& thread) {
        std::vector<Results> reported;  // freed without the mutex
        ++thread.begun;
        if (const auto lock = lock_if_due(thread)) {
            thread.reported_at = Clock::now();
            thread.finished = 0;
            report_finished();
            reported.swap(thread.reported);
            begun_ += std::exchange(thread.begun, 0);
            stopped_ = stopped_ || observer_.stop_requested();
            if (!stopped_) {
                observer_.on_case(subject, begun_ - 1);
            }
        }
        return !stopped_;
    }

    Results results_of(std::size_t number, const CaseSource::Reader& read, const EngineSet& engines, Thread& thread) {
        const std::size_t repetition = number / source_.positions;
        std::size_t position = number % source_.positions;
        if (settings_.shuffle) {
            position = static_cast<std::size_t>(Shuffle(source_.positions, *settings_.shuffle + repetition)(position));
        }
        const auto subject = read(position);
        if (subject == nullptr || !begin(*subject, thread)) {
            return {};
        }
        Results results;
        const MemoryShare share(*this, *subject);
        try {
            results = run_case(subject, engines, case_settings_);
        } catch (const EngineLost&) {
            // Interrupted: this case was not run.
            stopped_ = true;
            return {};
        }
        const bool gated = settings_.include_unspecified || !subject->has_tag(unspecified_tag);
        for (CaseResult& result : results) {
            result.gated = gated;
            result.repetition = repetition;
            result.order = number;
        }
        return results;
    }

    /// Reports all threads' results that wait for none before them. The caller holds the mutex.
    void report_finished() {
        for (Thread& thread : threads_) {
            const std::lock_guard lock(thread.mutex);
            for (auto& [number, results] : thread.fresh) {
                waiting_[number % window_] = {std::move(results), &thread};
            }
            thread.fresh.clear();
        }
        for (Waiting* next = &waiting_[reported_ % window_]; next->from != nullptr && !failed_fast_;
             next = &waiting_[++reported_ % window_]) {
            report(next->results);
            next->from->reported.push_back(std::move(next->results));
            next->from = nullptr;
        }
        room_.notify_all();
    }

    void report(Results& results) {
        for (CaseResult& result : results) {
            if (settings_.expected != nullptr) {
                settings_.expected->apply(result);
            }
            graphs_.hear(result);
            totals_.add(result);
            observer_.on_result(result);
            // Results of later cases from other threads are dropped: they would depend on the threads' speed.
            failures_ += result.gated && is_failure(result.status) ? 1 : 0;
            failed_fast_ = failed_fast_ || (settings_.fail_fast && failures_ != 0) ||
                           (settings_.max_failures != 0 && failures_ >= settings_.max_failures);
        }
        totals_.add_case(results);
        stopped_ = stopped_ || failed_fast_;
    }

    const CaseSource& source_;
    std::span<const EngineSet> sets_;
    Observer& observer_;
    const RunSettings& settings_;
    CaseSettings case_settings_;
    const std::size_t count_;
    const std::size_t window_;
    std::vector<EngineInfo> engines_;
    std::vector<Thread> threads_;

    std::atomic<std::size_t> taken_ = 0;
    std::atomic<std::size_t> reported_ = 0;
    std::atomic<std::size_t> threads_that_wait_ = 0;
    std::atomic<bool> stopped_ = false;

    /// Protects everything below. What the condition waits for only changes under it.
    std::mutex mutex_;
    std::condition_variable room_;
    /// The memory of the cases that run.
    std::uint64_t in_use_ = 0;
    std::size_t begun_ = 0;
    bool failed_fast_ = false;
    /// Failures on the gate.
    std::size_t failures_ = 0;
    std::exception_ptr failure_;
    /// The results of case n at n % window_.
    std::vector<Waiting> waiting_;
    GraphVerdicts graphs_;
    RunTotals totals_;
};

}  // namespace

RunTotals run_cases(const CaseSource& source, std::span<const EngineSet> sets, Observer& observer,
                    const RunSettings& settings) {
    return Run(source, sets, observer, settings).run();
}

}  // namespace dmlconform::run
