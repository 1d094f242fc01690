#!/usr/bin/env bash
# Writes caught_by.txt anew: for each planted bug the case that catches it, which is tried first the next time.
#
# usage: write_caught_by.sh PLANTED_BUGS     the program, as build/release/tests/planted_bugs/planted_bugs
set -euo pipefail

here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
for list in "$here"/*.json; do
    name=$(basename -- "$list" .json)
    if [[ $name == switch ]]; then continue; fi  # it tells the engine which bug is on, and has none
    "$1" "$name" | sed -nE "s#^caught +([^:]+): by (.+) on [^ ]+\$#$name/\1\t\2#p"
done >"$here/caught_by.new"
mv -- "$here/caught_by.new" "$here/caught_by.txt"
