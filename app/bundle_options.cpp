// The options --bundle and its limits.
#include "app/bundle_options.h"

#include <fmt/format.h>

#include "app/number_options.h"

namespace dmlconform::app {

void BundleOptions::add_to(Command command) {
    const Option bundle =
        command
            .add_option("--bundle", folder,
                        "For each failure, write a folder into this one, with everything that you need to see it again "
                        "elsewhere")
            .path("DIR");
    command.add_option("--max-bundles", most, fmt::format("Write at most this many bundles. Default: {}", most))
        .type_name("N")
        .needs(bundle)
        .transform(whole_number(1, 1'000'000));
    command
        .add_option(
            "--max-bundle-size", largest,
            "Write no bundle for a failure whose tensors take more bytes than this (256M, 2G, …). Default: 256M")
        .type_name("SIZE")
        .needs(bundle)
        .transform(size_in_bytes());
}

report::BundleSettings BundleOptions::settings(std::vector<std::string> rerun_options) const {
    return {folder, most, largest, std::move(rerun_options)};
}

}  // namespace dmlconform::app
