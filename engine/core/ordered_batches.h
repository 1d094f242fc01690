// Work in batches that threads do, and whose results the caller takes in order.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace dmlconform::core {

/// Threads that each make the results of every n-th batch, and wait while two of their results have not been taken.
template <class Result>
class OrderedBatches {
public:
    /// Makes the result of a batch. Called by several threads at the same time.
    using Make = std::function<void(std::size_t batch, Result& result)>;

    /// Starts at most this number of threads: none if the system cannot create all of them.
    OrderedBatches(std::size_t threads, std::size_t batches, Make make)
        : make_(std::move(make)), batches_(batches), slots_(threads) {
        try {
            for (std::size_t i = 0; i < threads; ++i) {
                threads_.emplace_back([this, i] { work(i); });
            }
        } catch (const std::system_error&) {
            end();
            slots_.clear();
        }
    }
    OrderedBatches(const OrderedBatches&) = delete;
    OrderedBatches& operator=(const OrderedBatches&) = delete;
    ~OrderedBatches() { end(); }

    /// Calls take(result) for the batches in order, until it returns false. Rethrows what a thread has thrown.
    template <class Take>
    void take_in_order(const Take& take) {
        for (std::size_t batch = 0; batch < batches_; ++batch) {
            if (slots_.empty()) {
                Result result;
                make_(batch, result);
                if (!take(result)) {
                    return;
                }
                continue;
            }
            Slot& slot = slots_[batch % slots_.size()][batch / slots_.size() % 2];
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return failure_ || slot.is_made; });
            if (failure_) {
                std::rethrow_exception(failure_);
            }
            lock.unlock();
            if (!take(slot.result)) {
                return;
            }
            lock.lock();
            slot.is_made = false;
            changed_.notify_all();
        }
    }

private:
    struct Slot {
        Result result{};
        bool is_made = false;
    };

    void work(std::size_t thread) {
        try {
            std::size_t turn = 0;
            for (std::size_t batch = thread; batch < batches_; batch += slots_.size(), ++turn) {
                Slot& slot = slots_[thread][turn % 2];
                {
                    std::unique_lock lock(mutex_);
                    changed_.wait(lock, [&] { return has_ended_ || !slot.is_made; });
                    if (has_ended_) {
                        return;
                    }
                }
                slot.result = {};  // freed by the thread that allocated it, which is faster
                make_(batch, slot.result);
                const std::lock_guard lock(mutex_);
                slot.is_made = true;
                changed_.notify_all();
            }
        } catch (...) {
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
            changed_.notify_all();
        }
    }

    void end() {
        {
            const std::lock_guard lock(mutex_);
            has_ended_ = true;
            changed_.notify_all();
        }
        for (std::thread& thread : threads_) {
            thread.join();
        }
        threads_.clear();
    }

    const Make make_;
    const std::size_t batches_;
    std::vector<std::array<Slot, 2>> slots_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool has_ended_ = false;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

}  // namespace dmlconform::core
