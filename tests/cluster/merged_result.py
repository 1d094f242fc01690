"""The result of shards put together, compared with that of one run."""
import json
import shutil
import sys

SKIPPED = 77


def skip_without(*programs):
    """Ends with exit code 77 if one of the programs is not installed."""
    for program in programs:
        if shutil.which(program, path=search_path()) is None:
            print(f"skipped: {program} is not installed; scripts/setup --cluster installs it")
            sys.exit(SKIPPED)


def search_path():
    """Where Debian has programs, those for root among them, which a user's PATH leaves out."""
    return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def timeless(path):
    """A result without what differs from run to run."""
    document = json.loads(path.read_text(encoding="utf-8"))
    for member in ("started", "durationNanoseconds", "command"):
        document.pop(member, None)
    for result in document["results"]:
        result.pop("timing", None)
    return document


def differences(merged, single):
    """The members, and the ids of results, in which two results differ."""
    first, second = timeless(merged), timeless(single)
    found = [member for member in sorted(first.keys() | second.keys())
             if member != "results" and first.get(member) != second.get(member)]
    if len(first["results"]) != len(second["results"]):
        found.append(f"{len(first['results'])} and {len(second['results'])} results")
    found += [one.get("id", "?") for one, other in zip(first["results"], second["results"]) if one != other]
    return found
