// Adds all subcommands that this build supports.
#include "app/commands.h"

namespace dmlconform::app {

void add_commands(Command app, const Invocation& invocation, int& exit_code) {
    add_run_command(app, invocation, exit_code);
    add_judge_command(app, invocation, exit_code);
#if DMLCONFORM_HAS_BENCH
    add_bench_command(app, invocation, exit_code);
#endif
    add_merge_command(app, exit_code);
    add_diff_command(app, exit_code);
    add_fuzz_command(app, invocation, exit_code);
    add_reduce_command(app, invocation, exit_code);
    add_import_command(app, exit_code);
    add_export_command(app, exit_code);
    add_compare_command(app, exit_code);
#if DMLCONFORM_HAS_HISTORY
    add_history_command(app, exit_code);
#endif
    add_report_command(app, exit_code);
    add_validate_command(app, exit_code);
    add_list_command(app, exit_code);
    add_adapters_command(app, exit_code);
    add_describe_command(app, exit_code);
    add_new_command(app, exit_code);
    add_coverage_command(app, exit_code);
    add_schema_command(app, exit_code);
    add_worker_command(app, exit_code);
    add_completion_command(app, exit_code);
    add_manual_command(app, exit_code);
}

}  // namespace dmlconform::app
