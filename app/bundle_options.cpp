// --bundle and its limits.
#include "app/bundle_options.h"

#include <fmt/format.h>

#include "app/number_options.h"

namespace dmlconform::app {

void BundleOptions::add_to(CLI::App& command) {
    CLI::Option* bundle =
        command
            .add_option("--bundle", folder,
                        "Write a folder for each failure here, with all that it takes to see it again elsewhere")
            ->type_name("DIR")
            ->check([](const std::string& path) { return std::string(path.empty() ? "the path is empty" : ""); });
    command.add_option("--max-bundles", most, fmt::format("No more bundles than this. Default: {}", most))
        ->type_name("N")
        ->needs(bundle)
        ->transform(whole_number(1, 1'000'000));
    command
        .add_option("--max-bundle-size", largest,
                    "No bundle for a failure whose tensors take more bytes than this (256M, 2G, …). Default: 256M")
        ->type_name("SIZE")
        ->needs(bundle)
        ->transform(size_in_bytes());
}

report::BundleSettings BundleOptions::settings(std::vector<std::string> rerun_options) const {
    return {folder, most, largest, std::move(rerun_options)};
}

}  // namespace dmlconform::app
