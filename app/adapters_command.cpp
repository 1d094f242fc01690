// `dmlconform adapters`: lists usable engines with their devices, and why others are not usable.

#include "app/command.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/run/engine_list.h"

namespace dmlconform::app {

void add_adapters_command(Command app, int& exit_code) {
    const Command command = app.add_subcommand(
        "adapters", "Show engines, the adapters that they can run on, and why others are not usable");
    command.callback([&exit_code] {
        for (const run::AdapterLine& line : run::list_adapters()) {
            if (!line.problem.empty()) {
                say("{:<8} not usable: {}\n", line.engine, line.problem);
            } else {
                say("{:<8} {}{}\n", line.engine, device_text(line.adapter, line.driver),
                    line.is_default ? " (default)" : "");
            }
        }
        exit_code = exit_ok;
    });
}

}  // namespace dmlconform::app
