// `dmlconform completion` and `dmlconform manual`: write files that a package installs beside the program, from the
// help texts.

#include <map>
#include <memory>
#include <string>

#include "app/command.h"
#include "app/completion_scripts.h"
#include "app/manual_page.h"
#include "app/standard_streams.h"

namespace dmlconform::app {

void add_completion_command(Command app, int& exit_code) {
    auto shell = std::make_shared<std::string>();
    static const std::map<std::string, std::string (*)(const CommandNode&)> shells{
        {"bash", bash_completion}, {"fish", fish_completion}, {"zsh", zsh_completion}};
    const Command command =
        app.add_subcommand("completion", "Print a script that lets your shell complete dmlconform's command line");
    command.add_option("shell", *shell, "Your shell").required().type_name("SHELL").one_of(keys_of(shells));
    command.footer(
        "For bash: dmlconform completion bash > ~/.local/share/bash-completion/completions/dmlconform\n"
        "For fish: dmlconform completion fish > ~/.config/fish/completions/dmlconform.fish\n"
        "For zsh, in a folder of $fpath: dmlconform completion zsh > _dmlconform");
    command.callback([shell, app, &exit_code] {
        print_document(shells.at(*shell)(command_tree(app)));
        exit_code = exit_ok;
    });
}

void add_manual_command(Command app, int& exit_code) {
    const Command command = app.add_subcommand("manual", "Print the manual page; `man -l FILE` shows it");
    command.callback([app, &exit_code] {
        print_document(manual_page(command_tree(app), versions().front().second));
        exit_code = exit_ok;
    });
}

}  // namespace dmlconform::app
