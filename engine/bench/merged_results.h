// The results of several processes, merged into one document of Google Benchmark's JSON.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::bench {

class MergedResults {
public:
    /// Adds what the next process wrote. The error says why that is not a document of Google Benchmark's.
    [[nodiscard]] core::Result<void> add(std::string_view text);

    /// How many processes were added, how many benchmarks they have together, and how many of these have a time.
    [[nodiscard]] std::size_t processes() const { return processes_; }
    [[nodiscard]] std::size_t benchmarks() const { return names_.size(); }
    [[nodiscard]] std::size_t timed() const;

    /// The document: the context of the first process, and for each benchmark the repetitions of all processes with the
    /// counter "process", followed by mean, median, standard deviation and coefficient of variation. Benchmarks whose
    /// processes drift in one direction have the counter "unsettled".
    [[nodiscard]] std::string document() const;

    /// The table that `bench` prints, in which each process counts with the medians of its repetitions, and which says
    /// in how many processes a benchmark failed. `width`: how many characters fit a line; 0: any number.
    [[nodiscard]] std::string table(std::size_t width) const;

private:
    using Json = nlohmann::ordered_json;

    std::size_t processes_ = 0;
    Json context_ = Json::object();
    /// In the order in which they appeared.
    std::vector<std::string> names_;
    /// Repetitions, with the number of their process.
    std::map<std::string, std::vector<Json>> repetitions_;
};

}  // namespace dmlconform::bench
