#!/usr/bin/env python3
"""Finds functions and variables of the program that other sources could link with by accident.

usage: linkage.py PROGRAM ROOT [SOURCE…]

PROGRAM must not be stripped. What it has in a namespace of ours has to be declared in a header of ROOT, or in a SOURCE
that the build writes: a table of files (cmake/Registry.cmake) declares the functions that it calls, and embedded texts
(cmake/EmbedText.cmake) declare themselves. Everything else belongs into an anonymous namespace, and is printed. Ends
with exit code 1 if there is anything.
"""
import pathlib
import re
import subprocess
import sys

OURS = "dmlconform::"
# Symbols that only one object may define: functions, and variables of all kinds.
STRONG = set("TBDR")


def without_arguments(name):
    """"a::B<int>::f" of "a::B<int>::f(std::vector<int>&) const"; the same for "operator()"."""
    depth = 0
    position = 0
    while position < len(name):
        if name.startswith("operator", position):
            position += len("operator")
            while position < len(name) and name[position] in "()<>=!+-*/%&|^~[] ":
                if name[position] == "(" and not name.startswith("()", position):
                    break
                position += 2 if name.startswith("()", position) else 1
            continue
        if name[position] == "<":
            depth += 1
        elif name[position] == ">":
            depth -= 1
        elif name[position] == "(" and depth == 0 and not name.startswith("(anonymous", position):
            return name[:position]
        position += 1
    return name


def parts_of(name):
    """["a", "B", "f"] of "a::B<c::D>::f[abi:cxx11](…)"."""
    plain = without_arguments(name)
    while True:
        shorter = re.sub(r"<[^<>]*>|\[[^\]]*\]", "", plain)
        if shorter == plain:
            return plain.split("::")
        plain = shorter


def strong_symbols(listing):
    """The names of ours in what `nm --demangle` prints."""
    for line in listing.splitlines():
        kind, _, name = line[17:].partition(" ")
        ours = name.startswith(OURS) and "(anonymous namespace)" not in name
        if ours and kind in STRONG:
            yield name


def namespaces_of(text):
    return set(re.findall(r"^namespace ([\w:]+) \{", text, re.M))


def declarations_of(source):
    """Those lines of a source that the build writes which say a namespace or declare something, and no texts."""
    return "\n".join(re.findall(r"^(?:namespace [\w:]+ \{|extern [^;=]*;|\w+ \w+\(\);)$", source, re.M))


class Declarations:
    def __init__(self, texts):
        self.words = {}
        for text in texts:
            words = set(re.findall(r"\w+", re.sub(r"//.*", "", text)))
            for namespace in namespaces_of(text):
                self.words.setdefault(namespace, set()).update(words)

    def have(self, name):
        """Whether a header has all that follows the name of a namespace: a function, or a class and its member."""
        parts = [part.lstrip("~") for part in parts_of(name)]
        for end in range(len(parts) - 1, 0, -1):
            words = self.words.get("::".join(parts[:end]))
            if words is not None:
                return all(part in words or part.startswith("operator") for part in parts[end:])
        return False


def accidental(listing, texts):
    declarations = Declarations(texts)
    return sorted({name for name in strong_symbols(listing) if not declarations.have(name)})


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, root, *sources = sys.argv[1:]
    listing = subprocess.run(["nm", "--demangle", "--defined-only", "--extern-only", program], capture_output=True,
                             text=True, check=True).stdout
    headers = [path for folder in ("app", "engine") for path in pathlib.Path(root, folder).rglob("*.h")]
    texts = [path.read_text(encoding="utf-8") for path in headers]
    texts += [declarations_of(pathlib.Path(name).read_text(encoding="utf-8")) for name in sources]
    if not any(strong_symbols(listing)):
        sys.exit(f"{program} has no symbols of ours: is it stripped?")
    found = accidental(listing, texts)
    for name in found:
        print(f"{name}: no header declares this; it belongs into an anonymous namespace")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
