#!/usr/bin/env python3
"""Lists what a program built on Debian consists of, as SPDX 2.3 in JSON.

usage: sbom.py BUILD PROGRAM VERSION [PACKAGE…]

BUILD is the folder that ninja built PROGRAM in. Each PACKAGE is a file that the program is shipped in. What is linked,
included and embedded comes from PROGRAM and from what ninja recorded; its versions come from dpkg, or from the
changelogs of packages that were only unpacked. The document goes to the standard output. It depends on nothing else but
SOURCE_DATE_EPOCH, which has to be set.
"""
import datetime
import gzip
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse
import uuid


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class DebianPackages:
    """Which package a file is of, and what dpkg knows about the package."""

    def __init__(self):
        self.of_path = {}
        for listing in pathlib.Path("/var/lib/dpkg/info").glob("*.list"):
            for path in listing.read_text(encoding="utf-8").splitlines():
                self.of_path.setdefault(path, listing.name.removesuffix(".list"))
        self.known = {}

    def of_file(self, path):
        """The packages that a file came with. More than one where unpacked ones cannot be told apart."""
        real = os.path.realpath(path)
        # Debian 12 has files in /lib that are in /usr/lib for the kernel.
        for name in (str(path), real, real.removeprefix("/usr")):
            if name in self.of_path:
                return [self.installed(self.of_path[name])]
        return self.unpacked(real)

    def installed(self, package):
        if package not in self.known:
            fields = ("Package", "Version", "Architecture", "source:Package", "source:Version")
            text = output_of("dpkg-query", "-W", "-f", "\t".join(f"${{{field}}}" for field in fields), package)
            values = dict(zip(("name", "version", "architecture", "source", "source_version"), text.split("\t")))
            values["licence"] = licence(pathlib.Path("/usr/share/doc", values["name"], "copyright"))
            self.known[package] = values
        return self.known[package]

    @staticmethod
    def unpacked(path):
        """Packages below a folder that is not the system's, as scripts/setup unpacks those of a newer Debian."""
        prefix, usr, _ = path.partition("/usr/")
        found = []
        architecture = output_of("dpkg", "--print-architecture").strip()
        if prefix and usr:
            for changelog in sorted(pathlib.Path(prefix, "usr/share/doc").glob("*/changelog.Debian.gz")):
                with gzip.open(changelog, "rt", encoding="utf-8") as text:
                    source, version = re.match(r"(\S+) \((\S+)\)", text.readline()).groups()
                found.append({"name": changelog.parent.name, "version": version, "source": source,
                              "source_version": version, "architecture": architecture,
                              "licence": licence(changelog.parent / "copyright")})
        return found


def licence(copyright_file):
    """What a machine-readable copyright file says of most of its files; empty if it does not say."""
    try:
        text = copyright_file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    match = re.search(r"^Files:\s*\*\s*\n(?:.+\n)*?License:[ \t]*(\S.*)$", text, re.M)
    return match.group(1).strip() if match else ""


def needed_libraries(program):
    """The shared libraries that the program itself names, as files."""
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "--dynamic", "--wide", program))
    files = dict(re.findall(r"(\S+) => (/\S+)", output_of("ldd", program)))
    return [files[name] for name in names if name in files]


def linked_archives(build, target):
    """The static libraries from elsewhere that ninja links the program with."""
    inputs = re.findall(r"^\s+(?:\| )?(/\S.*\.a)$", output_of("ninja", "-C", build, "-t", "query", target), re.M)
    return [path for path in inputs if not path.startswith(str(build) + "/")]


def included_headers(build, folders, root):
    """The headers from elsewhere that the objects of these folders were compiled with."""
    headers = set()
    wanted = False
    for line in output_of("ninja", "-C", build, "-t", "deps").splitlines():
        if not line.startswith(" "):
            wanted = line.startswith(folders)
        elif wanted:
            path = os.path.normpath(os.path.join(build, line.strip()))
            # Packages that scripts/setup has unpacked lie in the checkout, too.
            if not path.startswith(f"{root}/") or "/usr/include/" in path:
                headers.add(path)
    return sorted(headers)


def cached(build, name):
    cache = pathlib.Path(build, "CMakeCache.txt").read_text(encoding="utf-8")
    match = re.search(rf"^{name}:\w+=(.*)$", cache, re.M)
    return match.group(1) if match else ""


class Document:
    def __init__(self, program, version):
        self.packages = {}
        self.relations = set()
        self.version = version
        self.digest = sha256(program)
        self.add({"SPDXID": "SPDXRef-program", "name": "dmlconform", "versionInfo": version,
                  "licenseDeclared": "MIT", "comment": f"The program as it was built, with SHA256 {self.digest}"})

    def add(self, members):
        self.packages[members["SPDXID"]] = {"downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                                            "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
                                            "copyrightText": "NOASSERTION"} | members
        return members["SPDXID"]

    def add_debian(self, package):
        where = f"{urllib.parse.quote(package['name'])}@{urllib.parse.quote(package['version'])}"
        members = {
            "SPDXID": "SPDXRef-deb-" + re.sub(r"[^A-Za-z0-9.-]", "-", package["name"]),
            "name": package["name"], "versionInfo": package["version"], "supplier": "Organization: Debian",
            "sourceInfo": f"built from the source package {package['source']} {package['source_version']}",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{where}?arch={package['architecture']}"}],
        }
        if package["licence"]:
            members["licenseComments"] = f"Debian's copyright file says: {package['licence']}"
        return self.add(members)

    def add_shipped(self, path):
        shipped = self.add({"SPDXID": "SPDXRef-file-" + re.sub(r"[^A-Za-z0-9.-]", "-", path.name), "name": "dmlconform",
                            "versionInfo": self.version, "packageFileName": path.name, "licenseDeclared": "MIT",
                            "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(path)}]})
        self.relations.add(("SPDXRef-DOCUMENT", "DESCRIBES", shipped))
        self.relations.add((shipped, "CONTAINS", "SPDXRef-program"))

    def relate(self, files, kind, packages):
        for package in [package for path in files for package in packages.of_file(path)]:
            first, second = "SPDXRef-program", self.add_debian(package)
            if kind.endswith("_OF"):
                first, second = second, first
            self.relations.add((first, kind, second))

    def text(self):
        created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
        content = json.dumps([self.packages, sorted(self.relations)], sort_keys=True)
        unique = hashlib.sha256(content.encode()).hexdigest()
        return json.dumps({
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"dmlconform {self.version}",
            "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, unique)}",
            "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: scripts/package"]},
            "packages": [self.packages[key] for key in sorted(self.packages)],
            "relationships": [{"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}
                              for first, kind, second in sorted(self.relations)],
        }, indent=2) + "\n"


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    build, program = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    root = cached(build, "CMAKE_HOME_DIRECTORY")
    packages = DebianPackages()
    document = Document(program, sys.argv[3])
    document.relations.add(("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-program"))
    for path in sys.argv[4:]:
        document.add_shipped(pathlib.Path(path))
    document.relate(needed_libraries(program), "DYNAMIC_LINK", packages)
    document.relate(linked_archives(build, "app/dmlconform"), "STATIC_LINK", packages)
    document.relate(included_headers(build, ("app/", "engine/"), root), "BUILD_DEPENDENCY_OF", packages)
    embedded = cached(build, "DMLCONFORM_CHART_JS")
    if os.path.exists(embedded):
        document.relate([embedded], "CONTAINS", packages)
    document.relate([cached(build, "CMAKE_CXX_COMPILER")], "BUILD_TOOL_OF", packages)
    sys.stdout.write(document.text())


if __name__ == "__main__":
    main()
