// Prints the tables of docs/precision-proof.md: how often correct FP32 is mistaken for lower precision, and how often
// lower precision is detected.
// usage: precision_table honest TENSORS [OPERATOR]
//        precision_table reduced TENSORS [OPERATOR]
//        precision_table truncating TENSORS [OPERATOR]
// TENSORS is the number of tensors for each operator, order and number format; long sums have fewer. OPERATOR is a name
// of the first column. The exit code is 1 if there was a false alarm, if less than 99 % were detected where detection
// is possible, or if honest rounding towards zero was beyond its limit.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "tests/precision/judging.h"
#include "tests/precision/proof.h"

namespace {

using namespace dmlconform::precision;

std::string text_of(const Way& way) {
    return std::string(name_of(way.format)) + ", " + way.order.name();
}

double mean_q(const Tally& tally) {
    return tally.tensors == 0 ? 0 : tally.sum_of_q / static_cast<double>(tally.tensors);
}

bool print_honest(const Subject& subject, std::size_t tensors) {
    const std::vector<HonestRow> rows = honest_rows(subject, tensors);
    std::size_t alarms = 0;
    std::size_t truncating = 0;
    for (const HonestRow& row : rows) {
        alarms += row.tally.alarms;
        truncating += row.tally.told - row.tally.alarms;
    }
    const auto worst = std::ranges::max_element(rows, {}, [](const HonestRow& row) { return row.tally.greatest_q; });
    std::printf("| %s | %zu | %zu | %zu | %zu | %.2f | %.2f (%s) |\n", std::string(subject.name).c_str(), tensors,
                rows.front().tally.tensors, alarms, truncating, mean_q(rows.front().tally), worst->tally.greatest_q,
                text_of(worst->way).c_str());
    std::fflush(stdout);
    return alarms == 0 && rows.front().tally.tensors > 0;
}

/// Formats as "100 % (2.3)": the share of detected tensors, and the smallest Q.
std::string text_of(const ReducedRow& row) {
    char text[64];
    std::snprintf(text, sizeof text, "%.0f %% (%.1f)%s",
                  100.0 * static_cast<double>(row.found()) / static_cast<double>(row.tally.tensors), row.tally.least_q,
                  row.is_found() ? "" : " **no**");
    return row.tally.tensors == 0 ? "cannot tell" : text;
}

bool print_reduced(const Subject& subject, std::size_t tensors) {
    bool is_right = true;
    std::map<std::string, std::map<std::size_t, std::string>> lines;
    for (const ReducedRow& row : reduced_rows(subject, tensors)) {
        const std::string layer = row.way.layer < 0 ? "" : ", layer " + std::to_string(row.way.layer) + " only";
        const std::string order = row.way.order.kind == Order::Kind::sequential ? "" : ", " + row.way.order.name();
        const std::string line =
            std::string(name_of(row.way.format)) + order + layer + " | " + (row.half ? "FLOAT16" : "FLOAT32");
        lines[line][row.terms] = text_of(row);
        is_right = is_right && (row.is_found() || !row.can_be_told);
    }
    for (auto& [line, by_terms] : lines) {
        std::printf("| %s | %s |", std::string(subject.name).c_str(), line.c_str());
        for (const std::size_t terms : {16u, 256u, 4096u, 65536u}) {
            std::printf(" %s |", by_terms.contains(terms) ? by_terms[terms].c_str() : "");
        }
        std::puts("");
    }
    std::fflush(stdout);
    return is_right;
}

/// Formats as "48.6 (41 %)": the largest Q, and the largest share of the limit.
bool print_truncating(const Subject& subject, std::size_t tensors) {
    bool is_right = true;
    std::printf("| %s |", std::string(subject.name).c_str());
    for (std::size_t terms = 16; terms <= 65536; terms *= 16) {
        if (terms > subject.most_terms) {
            std::printf(" |");
            continue;
        }
        double q = 0;
        double share = 0;
        const std::size_t fewer = terms > 4096 ? 64 : terms > 256 ? 8 : 1;
        for (const TruncatingRow& row : truncating_rows(subject, std::max<std::size_t>(1, tensors / fewer), terms)) {
            q = std::max(q, row.greatest_q);
            share = std::max(share, row.greatest_share);
        }
        is_right = is_right && share < 1;
        std::printf(" %.1f (%.0f %%) |", q, 100 * share);
        std::fflush(stdout);
    }
    std::puts("");
    return is_right;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view mode = argc > 2 ? argv[1] : "";
    if (mode != "honest" && mode != "reduced" && mode != "truncating") {
        std::fputs("usage: precision_table honest|reduced|truncating TENSORS [OPERATOR]\n", stderr);
        return 2;
    }
    const auto tensors = static_cast<std::size_t>(std::strtoull(argv[2], nullptr, 10));
    const std::string_view name = argc > 3 ? argv[3] : "";
    std::puts(mode == "honest" ? "| Operator | Trials | Tensors that tell | False alarms | Taken for truncating | "
                                 "Mean Q, sequential | Greatest Q |\n| --- | --- | --- | --- | --- | --- | --- |"
              : mode == "truncating" ? "| Operator | K = 16 | 256 | 4,096 | 65,536 |\n| --- | --- | --- | --- | --- |"
                                     : "| Operator | Arithmetic | Type | K = 16 | 256 | 4,096 | 65,536 |\n"
                                       "| --- | --- | --- | --- | --- | --- | --- |");
    bool is_right = true;
    for (const Subject& subject : subjects()) {
        if (name.empty() || subject.name == name) {
            is_right = (mode == "honest"    ? print_honest
                        : mode == "reduced" ? print_reduced
                                            : print_truncating)(subject, tensors) &&
                       is_right;
        }
    }
    return is_right ? 0 : 1;
}
