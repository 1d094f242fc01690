// Runs cases in parallel. Threads take cases by number, and results are reported in order, by one thread at a time.
#include "engine/run/runner.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "engine/engine_lost.h"
#include "engine/run/graph_verdicts.h"
#include "engine/run/shuffle.h"

namespace dmlconform::run {
namespace {

using Clock = std::chrono::steady_clock;

/// Limit, for each set of engines, of results that wait for a slower preceding case.
constexpr std::size_t most_waiting = 64;

/// Limit of a thread's results that it has not handed over, because other threads did.
constexpr std::size_t most_kept = 16;

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
          finished_(sets.size()) {
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

    /// The results of a thread. The thread that allocated their memory frees it, which is faster.
    struct Finished {
        /// By number of the case, not handed over yet.
        std::vector<std::pair<std::size_t, Results>> fresh;
        /// Protected by the mutex.
        std::vector<Results> reported;
    };
    struct Waiting {
        Results results;
        Finished* from;
    };

    void work(std::size_t thread) {
        const EngineSet& engines = sets_[thread];
        try {
            const CaseSource::Reader read = source_.reader(
                [&](const cases::Case& subject) { return may_compare(subject, engines, case_settings_); });
            Finished& finished = finished_[thread];
            while (const auto number = take(finished)) {
                Results results = results_of(*number, read, engines, finished);
                finished.fresh.emplace_back(*number, std::move(results));
            }
            const std::lock_guard lock(mutex_);
            hand_over(finished);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
            stopped_ = true;
            room_.notify_all();
        }
    }

    /// The number of the next case; empty if there are no more. Waits while too many results wait for a slower case.
    std::optional<std::size_t> take(Finished& finished) {
        if (stopped_) {
            return std::nullopt;
        }
        const std::size_t number = taken_++;
        if (number >= count_) {
            return std::nullopt;
        }
        if (number - reported_ >= window_) {
            std::unique_lock lock(mutex_);
            hand_over(finished);
            room_.wait(lock, [&] { return stopped_ || number - reported_ < window_; });
        }
        return number;
    }

    /// Hands over what is finished and announces a case. While another thread does that, this one goes on for a while
    /// without. False if the run has to end.
    bool begin(const cases::Case& subject, Finished& finished) {
        std::vector<Results> reported;  // freed without the mutex
        std::unique_lock lock(mutex_, std::defer_lock);
        if (finished.fresh.size() < most_kept && !lock.try_lock()) {
            ++begun_;
            return !stopped_;
        }
        if (!lock.owns_lock()) {
            lock.lock();
        }
        hand_over(finished);
        reported.swap(finished.reported);
        stopped_ = stopped_ || observer_.stop_requested();
        if (!stopped_) {
            observer_.on_case(subject, begun_++);
        }
        return !stopped_;
    }

    Results results_of(std::size_t number, const CaseSource::Reader& read, const EngineSet& engines,
                       Finished& finished) {
        const std::size_t repetition = number / source_.positions;
        std::size_t position = number % source_.positions;
        if (settings_.shuffle) {
            position = static_cast<std::size_t>(Shuffle(source_.positions, *settings_.shuffle + repetition)(position));
        }
        const auto subject = read(position);
        if (subject == nullptr || !begin(*subject, finished)) {
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

    /// Reports all results that wait for none before them. The caller holds the mutex.
    void hand_over(Finished& finished) {
        for (auto& [number, results] : finished.fresh) {
            waiting_.emplace(number, Waiting{std::move(results), &finished});
        }
        finished.fresh.clear();
        while (!waiting_.empty() && waiting_.begin()->first == reported_ && !failed_fast_) {
            Waiting& next = waiting_.begin()->second;
            report(next.results);
            next.from->reported.push_back(std::move(next.results));
            waiting_.erase(waiting_.begin());
            ++reported_;
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
    /// One for each thread.
    std::vector<Finished> finished_;

    std::atomic<std::size_t> taken_ = 0;
    std::atomic<std::size_t> reported_ = 0;
    std::atomic<std::size_t> begun_ = 0;
    std::atomic<bool> stopped_ = false;

    /// Protects everything below. What the condition waits for only changes under it.
    std::mutex mutex_;
    std::condition_variable room_;
    /// The memory of the cases that run.
    std::uint64_t in_use_ = 0;
    bool failed_fast_ = false;
    /// Failures on the gate.
    std::size_t failures_ = 0;
    std::exception_ptr failure_;
    std::map<std::size_t, Waiting> waiting_;
    GraphVerdicts graphs_;
    RunTotals totals_;
};

}  // namespace

RunTotals run_cases(const CaseSource& source, std::span<const EngineSet> sets, Observer& observer,
                    const RunSettings& settings) {
    return Run(source, sets, observer, settings).run();
}

}  // namespace dmlconform::run
