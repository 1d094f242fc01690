// A history: results in an SQLite file, by commit, machine, adapter and driver.
//
// Several processes can use a file at once: writers wait for each other, and unfinished changes of a killed writer are
// rolled back when the file is opened next. docs/history.md describes the tables.
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

/// A record to add, and its origin.
struct Submission {
    Record record;
    /// Empty if it is unknown.
    std::string commit;
    /// The file that it was read from, for people.
    std::string source;
};

struct Added {
    std::int64_t entry = 0;
    /// True if it was already present; then nothing was added.
    bool known = false;
    /// The commit of the entry.
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

/// A benchmark's times in one entry.
struct Point {
    std::int64_t entry = 0;
    std::int64_t measured = 0;
    std::string commit;
    std::string driver;
    /// Median and quartiles in seconds.
    double median = 0;
    double low = 0;
    double high = 0;
    /// The number of processes, or of the repetitions of a single one, of which these are quartiles.
    std::size_t repetitions = 0;
    std::optional<double> percent_of_roofline;

    /// The fastest process, or repetition, if the processor's clock timed it: disturbances only lengthen such times.
    struct Fastest {
        double seconds = 0;
        /// The standard error of its logarithm.
        double error = 0;
    };
    std::optional<Fastest> fastest{};

    /// What is compared with other results: the fastest one, or otherwise the median.
    [[nodiscard]] double level() const { return fastest ? fastest->seconds : median; }
    /// The standard error of the level's logarithm: of a median, as far as the quartiles tell it.
    [[nodiscard]] double error() const;
};

/// A benchmark on one machine and adapter, in chronological order. Points with another label are in another series.
struct Series {
    std::string benchmark;
    std::string machine;
    std::string engine;
    std::string adapter;
    std::vector<Point> points;
    /// Times::label, as far as a point has one.
    std::string label{};
    /// True if the benchmark has series with other labels on the same machine and adapter.
    bool one_of_several = false;
    /// True if the newest result of the benchmark has another label.
    bool replaced = false;

    /// The benchmark, with the label if there are several.
    [[nodiscard]] std::string title() const;
};

/// An operator's outcomes on one engine in one entry.
struct OutcomePoint {
    std::int64_t entry = 0;
    std::int64_t measured = 0;
    std::string commit;
    std::string driver;
    Outcome outcome;
};

/// Only results on the gate.
struct OutcomeSeries {
    std::string operator_name;
    std::string machine;
    std::string engine;
    std::string adapter;
    std::vector<OutcomePoint> points;
};

/// Why a history could not be opened.
struct OpenError : core::Error {
    OpenError(core::Error error, bool disk = false) : core::Error(std::move(error)), of_the_disk(disk) {}

    /// True if the disk is full or broken; false if the file is at fault.
    bool of_the_disk;
};

class Store {
public:
    enum class Access : std::uint8_t { read, write };

    /// Opens a history. For writing, it is created if necessary. Fails if the file does not exist, is not a history,
    /// has a newer version, or is damaged.
    [[nodiscard]] static tl::expected<std::unique_ptr<Store>, OpenError> open(const std::string& path, Access access);

    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    ~Store();

    /// Adds all records, or none after a failure.
    [[nodiscard]] core::Result<std::vector<Added>> add(std::span<const Submission> submissions);

    /// In chronological order.
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
    /// An SQL expression, because histories of earlier versions have no such column.
    [[nodiscard]] const char* label_column() const;

    std::string path_;
    std::unique_ptr<Database> database_;
    bool has_labels_ = true;
};

}  // namespace dmlconform::history
