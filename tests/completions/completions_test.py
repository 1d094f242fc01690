#!/usr/bin/env python3
"""Completes command lines in a real shell, with the script that the program writes for it; and formats the manual page.

usage: completions_test.py PROGRAM bash|zsh|fish|manual

Ends with exit code 77 where the shell, or groff, is not installed.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
# A command line, required completions of its last word, and forbidden ones.
LINES = [
    ("dmlconform hi", ["history"], ["run", "help"]),
    ("dmlconform --ver", ["--version"], ["run"]),
    ("dmlconform run --eng", ["--engine"], ["--cold"]),
    ("dmlconform bench --co", ["--cold"], ["--engine"]),
    ("dmlconform run --engine ", ["cpu", "d3d12", "directml"], ["run", "here.json"]),
    ("dmlconform run --feature-level 5", ["5.0", "5.1", "5.2"], ["6.0"]),
    ("dmlconform describe SLICE", ["SLICE", "SLICE1", "SLICE_GRAD"], ["TOP_K"]),
    ("dmlconform fuzz SLICE1 TOP_", ["TOP_K", "TOP_K1"], ["SLICE1"]),
    ("dmlconform run here", ["here.json"], ["cpu"]),
    ("dmlconform run --strict here", ["here.json"], ["cpu"]),
    ("dmlconform run --json here", ["here.json"], ["cpu"]),
    ("dmlconform run --bundle fold", ["folder/"], ["folder.json"]),
    ("dmlconform history ", ["add", "show", "gate", "export"], ["run"]),
    ("dmlconform history export --form", ["--format"], ["--commit"]),
    ("dmlconform history export --format b", ["bmf"], ["csv"]),
    ("dmlconform import onnx-test --out", ["--output"], ["--filter"]),
    ("dmlconform completion ", ["bash", "fish", "zsh"], ["here.json"]),
    ("dmlconform schema --he", ["--help"], ["--json"]),
]
# Only bash splits words at "=".
LINES_OF_BASH = [("dmlconform run --engine=c", ["cpu"], ["d3d12"]), ("dmlconform run --engine=", ["cpu"], ["--json"])]


class Bash:
    def __init__(self, script):
        self.script = script

    def complete(self, line):
        # Simulates readline: splits the line at blanks and "=", and calls the registered function.
        words = [word for word in re.split(r"( |=)", line) if word not in ("", " ")]
        if line[-1] == " ":
            words.append("")
        quoted = " ".join("'" + word + "'" for word in words)
        code = (f"source {self.script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _dmlconform; "
                'for reply in "${COMPREPLY[@]}"; do [[ -d $reply ]] && reply+=/; printf "%s\\n" "$reply"; done; '
                "complete -p dmlconform >&2")
        done = subprocess.run(["bash", "--norc", "-c", code], capture_output=True, text=True, check=False)
        assert "-F _dmlconform dmlconform" in done.stderr and done.stderr.count("\n") == 1, done.stderr
        return done.stdout.split("\n")


class Fish:
    def __init__(self, script):
        self.script = script

    def complete(self, line):
        code = f"source {self.script}; complete -C '{line}'"
        done = subprocess.run(["fish", "--no-config", "-c", code], capture_output=True, text=True, check=False,
                              env={**os.environ, "HOME": os.getcwd(), "XDG_DATA_HOME": os.getcwd() + "/.fish"})
        assert not done.stderr, done.stderr
        return [row.split("\t")[0] for row in done.stdout.split("\n")]


class Zsh:
    """Types the line and a tab into an interactive shell, as zsh completes nowhere else."""

    SETUP = r"""
unsetopt zle_bracketed_paste
fpath=($PWD/functions $fpath)
autoload -U compinit && compinit -u -D
# What is offered goes into a file. Calls that only fill arrays (-O, -A, -D) are the completion system's own.
compadd() {
    local -a offered
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)* ]]; then
        builtin compadd -A offered "$@"
        print -rl -- $offered >>offered
    fi
    builtin compadd "$@"
}
complete-and-tell() {
    zle complete-word
    print END >>offered
}
zle -N complete-and-tell
bindkey '^I' complete-and-tell
"""

    def __init__(self, script):
        folder = pathlib.Path("functions")
        folder.mkdir()
        shutil.copy(script, folder / "_dmlconform")
        pathlib.Path("setup").write_text(self.SETUP)
        process, self.terminal = pty.fork()
        if process == 0:
            os.environ["TERM"] = "dumb"
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.type("source ./setup; print 'END' >>offered\n")

    def type(self, text):
        """Types, and waits for what is offered. What the shell shows meanwhile is thrown away."""
        offered = pathlib.Path("offered")
        offered.unlink(missing_ok=True)
        os.write(self.terminal, text.encode())
        end = time.monotonic() + 60
        while not (offered.exists() and offered.read_text().endswith("END\n")):
            assert time.monotonic() < end, f"zsh offers nothing for {text!r}"
            if select.select([self.terminal], [], [], 0.05)[0]:
                os.read(self.terminal, 65536)
        return offered.read_text().split("\n")[:-2]

    def complete(self, line):
        found = self.type("\x15" + line + "\t")
        return [word + "/" if os.path.isdir(word) else word for word in found]


def check_shell(shell, lines):
    missing = 0
    for line, wanted, unwanted in lines:
        found = shell.complete(line)
        for word in wanted:
            if word not in found:
                print(f"{line!r}: {word} is missing in {found}")
                missing += 1
        for word in unwanted:
            if word in found:
                print(f"{line!r}: {word} does not belong to {found}")
                missing += 1
    return missing


def check_manual(page, program):
    """It is formatted without a warning, and has every command and option of the help."""
    done = subprocess.run(["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-rLL=100n", page], capture_output=True, text=True,
                          check=False)
    text = re.sub(r"\x1b\[[\d;]*m|.\x08", "", done.stdout)
    missing = []
    help_text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  ([\w-]+)", help_text[help_text.index("Subcommands:"):].split("\n\n")[0], re.MULTILINE)
    for command in commands:
        options = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
        if "--help-all" in options:
            options = subprocess.run([program, command, "--help-all"], capture_output=True, text=True,
                                     check=True).stdout
        for word in [command, *re.findall(r"^  (?:-\w,)?(--[\w-]+)", options, re.MULTILINE)]:
            if word not in text:
                missing.append(word)
    if done.stderr or missing or len(commands) < 15:
        print(done.stderr, "missing in the manual page:", missing)
        return 1
    return 0


def main():
    program, kind = os.path.abspath(sys.argv[1]), sys.argv[2]
    if not shutil.which("groff" if kind == "manual" else kind):
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("here.json").touch()
        pathlib.Path("folder").mkdir()
        pathlib.Path("folder.json").touch()
        script = os.path.abspath("script")
        words = ["manual"] if kind == "manual" else ["completion", kind]
        with open(script, "wb") as file:
            subprocess.run([program, *words], stdout=file, check=True)
        if kind == "manual":
            sys.exit(check_manual(script, program))
        shell = {"bash": Bash, "fish": Fish, "zsh": Zsh}[kind](script)
        missing = check_shell(shell, LINES + (LINES_OF_BASH if kind == "bash" else []))
        os.chdir("/")
        sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
