// The history: results in an SQLite file, by commit, machine, adapter and driver.
//
// Several processes may use one file at once: writers wait for each other, and what a killed one had begun is undone by
// whoever opens the file next. The tables are described in docs/history.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/history/record.h"

namespace dmlconform::history {

class Database;

/// A record to be added, and what it does not know of itself.
struct Submission {
    Record record;
    /// Empty where nobody knows.
    std::string commit;
    /// The file it came from, for people.
    std::string source;
};

struct Added {
    std::int64_t entry = 0;
    /// It was there already: nothing was added.
    bool known = false;
    /// The commit that the entry has.
    std::string commit;
};

/// An entry without its times and outcomes.
struct Entry {
    std::int64_t id = 0;
    Kind kind = Kind::bench;
    std::int64_t measured = 0;
    std::string commit;
    std::string machine;
    std::string source;
};

/// One entry's times of a benchmark.
struct Point {
    std::int64_t entry = 0;
    std::int64_t measured = 0;
    std::string commit;
    std::string driver;
    /// In seconds, with the quartiles.
    double median = 0;
    double low = 0;
    double high = 0;
    std::size_t repetitions = 0;
    std::optional<double> percent_of_roofline;
};

/// A benchmark on one machine and adapter, in order of time.
struct Series {
    std::string benchmark;
    std::string machine;
    std::string engine;
    std::string adapter;
    std::vector<Point> points;
};

/// One entry's outcomes of an operator on one engine.
struct OutcomePoint {
    std::int64_t entry = 0;
    std::int64_t measured = 0;
    std::string commit;
    std::string driver;
    Outcome outcome;
};

/// On the gate only.
struct OutcomeSeries {
    std::string operator_name;
    std::string machine;
    std::string engine;
    std::string adapter;
    std::vector<OutcomePoint> points;
};

/// Why there is no history to work with.
struct OpenError : core::Error {
    OpenError(core::Error error, bool disk = false) : core::Error(std::move(error)), of_the_disk(disk) {}

    /// Whether it is the disk, which is full or broken, rather than the file.
    bool of_the_disk;
};

class Store {
public:
    enum class Access : std::uint8_t { read, write };

    /// Opens a history; for writing, it is made if there is none. Errors: no such file, none of ours, of a newer
    /// version, damaged.
    [[nodiscard]] static tl::expected<std::unique_ptr<Store>, OpenError> open(const std::string& path, Access access);

    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    ~Store();

    /// Adds all or, when that fails, nothing.
    [[nodiscard]] core::Result<std::vector<Added>> add(std::span<const Submission> submissions);

    /// In order of time.
    [[nodiscard]] core::Result<std::vector<Entry>> entries();
    [[nodiscard]] core::Result<Record> record(std::int64_t entry);
    [[nodiscard]] core::Result<std::vector<Series>> series();
    [[nodiscard]] core::Result<std::vector<OutcomeSeries>> outcomes();

private:
    explicit Store(std::string path);

    template <class Work>
    auto guarded(const Work& work) -> core::Result<decltype(work())>;
    Added add_one(const Submission& submission, std::int64_t moment);
    void add_parts(const Record& record, std::int64_t id);

    std::string path_;
    std::unique_ptr<Database> database_;
};

}  // namespace dmlconform::history
