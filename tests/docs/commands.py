#!/usr/bin/env python3
"""Checks that commands, options and cases in the documents are what the program has.

usage: commands.py PROGRAM ROOT

Every `dmlconform COMMAND … --option` in the Markdown files is held against the help of the command, and every case file
that README.md or docs/case-files.md shows in full against `validate`. Ends with exit code 1 if something is wrong.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import markdown

# The help of `bench` does not list all of Google Benchmark's options.
FOREIGN = re.compile(r"--benchmark_\w+$")
# Options of scripts/dmlconform itself, and options before any command.
BEFORE = {"--version", "--help", "--offline"}


def help_of(program, words):
    """With --help-all for commands with many options."""
    short = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False)
    if "--help-all" not in short.stdout:
        return short
    return subprocess.run([program, *words, "--help-all"], capture_output=True, text=True, check=False)


class Commands:
    """What the program has, asked for once."""

    def __init__(self, program):
        self.program = program
        self.options = {}
        text = help_of(program, []).stdout
        below = text[text.index("Subcommands:"):].split("\n\n")[0]
        # `help COMMAND` is no command of its own.
        self.names = set(re.findall(r"^  ([\w-]+)", below, re.MULTILINE)) | {"help"}

    def options_of(self, words):
        words = tuple(words)
        if words not in self.options:
            self.options[words] = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", help_of(self.program, words).stdout))
        return self.options[words]


def command_lines(text):
    """Number and words of each command line in code."""
    for number, line, kind in markdown.lines_of(text):
        code = [line] if kind == "code" else re.findall(r"`([^`]*)`", line)
        for piece in code:
            for found in re.finditer(r"(?<![\w./-])(?:\S*/)?dmlconform(?:\.exe)? ([^#|>;&`()]*)", piece):
                # A quoted text is one word and may be the command line of another program.
                yield number, re.sub(r"'[^']*'|\"[^\"]*\"", "quoted", found.group(1)).split()


def problems_of_commands(commands, text):
    for number, words in command_lines(text):
        words = [word for word in words if word != "…"]
        while words and words[0] in BEFORE:
            words = words[1:]
        if not words or not re.fullmatch(r"[a-z][a-z-]*", words[0]):
            continue  # a sentence, a single option, or a placeholder
        if words[0] not in commands.names:
            yield number, f"there is no command {words[0]}"
            continue
        known = commands.options_of(words[:1]) | (commands.options_of(words[:2]) if words[1:2] else set())
        for word in words[1:]:
            option = re.match(r"(--[a-zA-Z][\w-]*|-[a-zA-Z]$)", word.strip("'\",[]"))
            if option and option.group(1) not in known and not FOREIGN.match(option.group(1)):
                yield number, f"{words[0]} has no option {option.group(1)}"


def case_files(text):
    """Line and text of each case file that a document shows in full."""
    for block in re.finditer(r"^```json\n(\{\n.*?^\})\n```$", text, re.MULTILINE | re.DOTALL):
        if '"cases": [\n' in block.group(1) and '"operator"' in block.group(1):
            yield text.count("\n", 0, block.start()) + 1, block.group(1)


def problems_of_cases(program, text):
    for number, case in case_files(text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "shown.json"
            path.write_text(case, encoding="utf-8")
            done = subprocess.run([program, "validate", path], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                yield number, "this is not a case file that can be run:\n" + done.stdout + done.stderr


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, root = sys.argv[1], pathlib.Path(sys.argv[2])
    commands = Commands(program)
    found = []
    shown = 0
    for path in markdown.files_below(root):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(root)
        found += [(name, *problem) for problem in problems_of_commands(commands, text)]
        if str(name) in ("README.md", "docs/case-files.md"):
            shown += len(list(case_files(text)))
            found += [(name, *problem) for problem in problems_of_cases(program, text)]
    if shown < 2:
        found.append(("README.md", 1, "no case file is shown here, or in docs/case-files.md"))
    for name, number, problem in found:
        print(f"{name}:{number}: {problem}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
