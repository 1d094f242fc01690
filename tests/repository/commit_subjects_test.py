#!/usr/bin/env python3
"""The checker of commit subjects finds each mistake that it is for."""
import commit_subjects

GOOD = ["Split tensors above 512 MiB into chunks on vkd3d", "Add a case of 4 GiB", "Embed shaders", "A" * 72]
BAD = {
    "Single places: what the sizes say already is not asked again, and output padding is none": "characters",
    "Add a case.": "full stop",
    "add a case": "capital",
    "Added a case": "imperative",
    "Adding a case": "imperative",
    "": "empty",
}
for subject in GOOD:
    assert not list(commit_subjects.problems_of(subject)), subject
for subject, problem in BAD.items():
    found = list(commit_subjects.problems_of(subject))
    assert any(problem in text for text in found), (subject, found)
