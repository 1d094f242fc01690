#!/usr/bin/env python3
"""Finds headers that Visual Studio does not have in what the Windows program is compiled from.

usage: portable_headers.py ROOT

Follows the includes of each source below app and engine as a preprocessor does that defines _WIN32, _WIN64 and _MSC_VER
and none of what other systems and compilers define. Where a condition asks for something else, both branches count.
Prints the chain of includes to each header that is not there, and ends with exit code 1 if there is any. Sources for
other systems alone, *_posix.cpp say, are passed over.
"""
import pathlib
import re
import sys

DEFINED = {"_WIN32", "_WIN64", "_MSC_VER", "_M_X64", "__cplusplus"}
# All other names that begin with an underscore belong to other systems, compilers and processors.
OTHERS = re.compile(r"_\w*|unix|linux")
# Headers of C, of Microsoft's C library and of Windows. Those of C++ have no extension.
OF_WINDOWS = {
    "assert.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h", "limits.h", "locale.h", "math.h", "setjmp.h",
    "signal.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h", "wchar.h",
    "conio.h", "crtdbg.h", "direct.h", "fcntl.h", "immintrin.h", "intrin.h", "io.h", "malloc.h", "process.h",
    "sys/stat.h", "sys/timeb.h", "sys/types.h", "sys/utime.h",
    "d3d12.h", "d3d12sdklayers.h", "d3dcompiler.h", "d3dcommon.h", "DirectML.h", "dbghelp.h", "dxgi.h", "dxgi1_4.h",
    "dxgi1_6.h", "guiddef.h", "initguid.h", "psapi.h", "shellapi.h", "tlhelp32.h", "unknwn.h", "windows.h", "winver.h",
    "wrl/client.h",
}
# Headers of the libraries in vcpkg.json.
OF_LIBRARIES = re.compile(r"(benchmark|fmt|nlohmann|protozero|tl|vulkan|xtensor|xtl)/|(sqlite3|zlib|png|turbojpeg)\.h$|"
                          r"CLI/|directx/|dxguids/")
FOR_OTHER_SYSTEMS = re.compile(r"_(posix|linux|vkd3d)\.cpp$|/directml/wine/|/glibc_compat\.cpp$")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def truth(condition):
    """True or False of what a condition is on Windows; None if that cannot be told."""
    def known(name):
        if name in DEFINED:
            return "True"
        return "False" if OTHERS.fullmatch(name) else "None"

    text = re.sub(r"defined\s*\(\s*(\w+)\s*\)|defined\s+(\w+)", lambda m: known(m.group(1) or m.group(2)), condition)
    text = re.sub(r"\b(?!True\b|False\b|None\b)[A-Za-z_]\w*", lambda m: known(m.group()), text)
    tokens = re.findall(r"True|False|None|&&|\|\||!|\(|\)|\S+", text)
    if any(token not in {"True", "False", "None", "&&", "||", "!", "(", ")"} for token in tokens):
        return None
    python = " ".join({"&&": "and", "||": "or", "!": "not"}.get(token, token) for token in tokens)
    # Only constants and operators remain. Unknown conditions may be true or false, so both are tried.
    try:
        outcomes = {bool(eval(re.sub("None", value, python))) for value in ("True", "False")}
    except SyntaxError:
        return None
    return outcomes.pop() if len(outcomes) == 1 else None


def includes(text):
    """What is included on Windows: pairs of "<" or a quote, and the name."""
    # For each open condition: whether this branch counts, and whether a later branch may.
    branches = []
    for line in without_comments(text).replace("\\\n", " ").splitlines():
        match = re.match(r"\s*#\s*(\w+)\s*(.*)", line)
        if not match:
            continue
        word, rest = match.groups()
        if word in ("if", "ifdef", "ifndef"):
            value = truth(rest if word == "if" else f"defined({rest.strip()})")
            if word == "ifndef" and value is not None:
                value = not value
            branches.append((value is not False, value is not True))
        elif word in ("elif", "else") and branches:
            _, open_still = branches.pop()
            value = truth(rest) if word == "elif" else True
            branches.append((open_still and value is not False, open_still and value is not True))
        elif word == "endif" and branches:
            branches.pop()
        elif word == "include" and all(counts for counts, _ in branches):
            name = re.match(r'([<"])([^>"]+)[>"]', rest)
            if name:
                yield name.groups()


def is_there(name):
    return not name.endswith((".h", ".hpp")) or name in OF_WINDOWS or OF_LIBRARIES.match(name)


def missing(root, source, seen):
    """Chains of includes from a source to headers that are not there."""
    path = pathlib.Path(root, source)
    if source in seen or not path.exists():
        return
    seen.add(source)
    for kind, name in includes(path.read_text(encoding="utf-8")):
        if kind == "<":
            if not is_there(name):
                yield [source, f"<{name}>"]
        else:
            yield from ([source, *chain] for chain in missing(root, name, seen))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    files = [path for folder in ("app", "engine") for path in (root / folder).rglob("*.cpp")]
    sources = sorted(str(path.relative_to(root)) for path in files)
    if not sources:
        sys.exit(f"{root} has no sources in app and engine")
    found = False
    for source in sources:
        if FOR_OTHER_SYSTEMS.search("/" + source):
            continue
        for chain in missing(root, source, set()):
            found = True
            print(" includes ".join(chain) + ", which Visual Studio does not have")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
