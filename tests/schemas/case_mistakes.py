#!/usr/bin/env python3
"""Makes one mistake at a time in case files, and checks what the schema makes of it: one error, at the mistake's path.

usage: case_mistakes.py SCHEMA
"""
import copy
import json
import re
import sys
import unittest

import jsonschema

TENSOR = {"DataType": "FLOAT32", "Sizes": [4]}
SLICE = {"InputTensor": TENSOR, "OutputTensor": {"DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": [2]},
         "InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2]}
CLIP = {"InputTensor": TENSOR, "OutputTensor": TENSOR, "Min": "0x3f800000", "Max": "inf"}
GEMM = {"ATensor": TENSOR, "BTensor": TENSOR, "OutputTensor": TENSOR, "TransA": "NONE", "TransB": 0, "Alpha": 1,
        "Beta": 0, "FusedActivation": {"Type": "ACTIVATION_ELU", "Alpha": 1}}
INPUTS = {"InputTensor": {"start": 1, "step": 1}}
DATA = {"name": "a", "operator": "SLICE1", "desc": SLICE, "inputs": INPUTS,
        "expected": {"OutputTensor": [[1], ["nan"]]}}


def case(operator="SLICE1", desc=None, **more):
    return {"name": "a", "operator": operator, "desc": copy.deepcopy(SLICE if desc is None else desc), **more}


def file_of(*cases, **defaults):
    return {"defaults": defaults, "cases": list(cases)} if defaults else {"cases": list(cases)}


def without(values, key):
    return {name: value for name, value in values.items() if name != key}


RIGHT = [
    file_of(DATA),
    file_of(case("DML_OPERATOR_SLICE1")),
    file_of(case("ELEMENT_WISE_CLIP", CLIP), case("GEMM", GEMM)),
    # Counts and optional fields may be omitted, and null stands for a null pointer.
    file_of(case(desc={**SLICE, "DimensionCount": 1})),
    file_of(case(desc={**SLICE, "InputTensor": None}, expectError="E_INVALIDARG")),
    file_of(case(desc={**SLICE, "InputTensor": {"Type": "BUFFER", "Desc": TENSOR}})),
    # Keys that the defaults contain may be omitted from a case.
    file_of(without(case(), "operator"), operator="SLICE1"),
    file_of(without(case(), "name"), name="a"),
    file_of(case(desc=without(SLICE, "InputWindowSizes")), desc={"InputWindowSizes": [4]}),
    file_of(case(desc={**SLICE, "InputTensor": {"Sizes": [4]}}), desc={"InputTensor": {"DataType": "INT8"}}),
    file_of({"name": "a"}, **without(case(), "name")),
    # A placeholder may be used anywhere.
    file_of(case(desc={**SLICE, "InputTensor": {"DataType": "${type}", "Sizes": ["${size}"]},
                       "InputWindowSizes": "${w}"},
                 sweep={"type": ["INT8"], "size": [1], "w": [[1]]})),
    file_of(case("${operator}", desc="${desc}", sweep={"operator": ["SLICE1"], "desc": [SLICE]})),
]

# A name for the mistake, the file, the location of its only error, and part of the message.
WRONG = [
    ("a type", file_of(case(desc={**SLICE, "InputWindowSizes": 4})), "cases/0/desc/InputWindowSizes", "not of type"),
    ("an entry", file_of(case(desc={**SLICE, "InputWindowSizes": [4, "x"]})), "cases/0/desc/InputWindowSizes/1", "'x'"),
    ("a bound", file_of(case(desc={**SLICE, "InputWindowOffsets": [-1]})), "cases/0/desc/InputWindowOffsets/0",
     "minimum"),
    ("a number", file_of(case("ELEMENT_WISE_CLIP", {**CLIP, "Max": "large"})), "cases/0/desc/Max", "large"),
    ("a missing field", file_of(case(desc=without(SLICE, "InputWindowSizes"))), "cases/0/desc",
     "'InputWindowSizes' is a required property"),
    ("a missing tensor", file_of(case(desc=without(SLICE, "OutputTensor"))), "cases/0/desc",
     "'OutputTensor' is a required property"),
    ("an unknown field", file_of(case(desc={**SLICE, "InputWindow": [4]})), "cases/0/desc",
     "'InputWindow' was unexpected"),
    ("another operator's field", file_of(case(desc={**SLICE, "Axis": 1})), "cases/0/desc", "'Axis' was unexpected"),
    ("a data type", file_of(case(desc={**SLICE, "InputTensor": {**TENSOR, "DataType": "FLOAT"}})),
     "cases/0/desc/InputTensor/DataType", "FLOAT"),
    ("no sizes", file_of(case(desc={**SLICE, "InputTensor": without(TENSOR, "Sizes")})), "cases/0/desc/InputTensor",
     "'Sizes' is a required property"),
    ("a size", file_of(case(desc={**SLICE, "InputTensor": {**TENSOR, "Sizes": [-4]}})),
     "cases/0/desc/InputTensor/Sizes/0", "minimum"),
    ("a key of a tensor", file_of(case(desc={**SLICE, "InputTensor": {**TENSOR, "Size": [4]}})),
     "cases/0/desc/InputTensor", "'Size' was unexpected"),
    ("a size in the long form",
     file_of(case(desc={**SLICE, "InputTensor": {"Type": "BUFFER", "Desc": {**TENSOR, "Sizes": ["x"]}}})),
     "cases/0/desc/InputTensor/Desc/Sizes/0", "'x'"),
    ("an enumerator", file_of(case("GEMM", {**GEMM, "TransA": "TRANSPOSED"})), "cases/0/desc/TransA", "TRANSPOSED"),
    ("an activation", file_of(case("GEMM", {**GEMM, "FusedActivation": {"Type": "ACTIVATION_RELUS"}})),
     "cases/0/desc/FusedActivation/Type", "ACTIVATION_RELUS"),
    ("an activation's field",
     file_of(case("GEMM", {**GEMM, "FusedActivation": {"Type": "ACTIVATION_ELU", "Alpha": []}})),
     "cases/0/desc/FusedActivation/Alpha", "not of type"),
    ("an activation's missing field", file_of(case("GEMM", {**GEMM, "FusedActivation": {"Type": "ACTIVATION_ELU"}})),
     "cases/0/desc/FusedActivation", "'Alpha' is a required property"),
    ("an operator", file_of(case("SLICES")), "cases/0/operator", "SLICES"),
    ("no operator", file_of(without(case(), "operator")), "cases/0", "'operator' is a required property"),
    ("no desc", file_of(without(case(), "desc")), "cases/0", "'desc' is a required property"),
    ("no name", file_of(without(case(), "name")), "cases/0", "'name' is a required property"),
    ("no cases", {"defaults": {}}, "", "'cases' is a required property"),
    ("a type, by the operator of the defaults",
     file_of({"name": "a", "desc": {**SLICE, "InputWindowSizes": 4}}, operator="DML_OPERATOR_SLICE1"),
     "cases/0/desc/InputWindowSizes", "not of type"),
    ("a missing field, by the operator of the defaults",
     file_of({"name": "a", "desc": without(SLICE, "InputWindowSizes")}, operator="SLICE1"), "cases/0/desc",
     "'InputWindowSizes' is a required property"),
    ("a type beside a part in the defaults", file_of(case(desc={"InputWindowSizes": 4}), desc=SLICE),
     "cases/0/desc/InputWindowSizes", "not of type"),
    ("a type in the defaults", file_of(case(desc={}), desc={**SLICE, "InputWindowSizes": 4}),
     "defaults/desc/InputWindowSizes", "not of type"),
    ("a field of no operator in the defaults", file_of(case(desc={}), desc={**SLICE, "InputWindow": 4}),
     "defaults/desc", "'InputWindow' was unexpected"),
    ("data", file_of({**DATA, "inputs": {"InputTensor": 7}}), "cases/0/inputs/InputTensor", "not of type"),
    ("an element", file_of({**DATA, "expected": {"OutputTensor": [[1], ["NaN"]]}}),
     "cases/0/expected/OutputTensor/1/0", "NaN"),
    ("random data", file_of({**DATA, "inputs": {"InputTensor": {"random": "gauss"}}}),
     "cases/0/inputs/InputTensor/random", "gauss"),
    ("a tolerance", file_of({**DATA, "tolerance": {"*": {"ulp": -1}}}), "cases/0/tolerance/*/ulp", "minimum"),
    ("a key of a case", file_of({**DATA, "tag": ["x"]}), "cases/0", "'tag' was unexpected"),
]


class CaseMistakes(unittest.TestCase):
    schema = {}

    def errors(self, document):
        found = jsonschema.Draft202012Validator(self.schema).iter_errors(document)
        return [("/".join(map(str, error.absolute_path)), error.message) for error in found]

    def test_right_files(self):
        for document in RIGHT:
            with self.subTest(document=json.dumps(document)):
                self.assertEqual(self.errors(document), [])

    def test_mistakes(self):
        for what, document, path, message in WRONG:
            with self.subTest(what=what):
                errors = self.errors(document)
                self.assertEqual([at for at, _ in errors], [path], errors)
                self.assertIn(message, errors[0][1])

    def test_descriptions(self):
        """Editors show a description for each key of a case, and for each field of each operator."""
        definitions = self.schema["$defs"]
        by_name = {**definitions["fields"]["patternProperties"], **definitions["attributes"]["patternProperties"]}

        def described(schema):
            return "description" in schema or ("$ref" in schema and described(definitions[schema["$ref"][8:]]))

        structs = {name: definition["properties"]["desc"]["properties"] for name, definition in definitions.items()
                   if re.fullmatch(r"d\d+", name)}
        self.assertGreater(len(structs), 50)
        for name, fields in {**structs, "case": definitions["case"]["properties"]}.items():
            for field, schema in fields.items():
                if schema is True:
                    schema, = [common for pattern, common in by_name.items() if re.match(pattern, field)]
                with self.subTest(definition=name, field=field):
                    self.assertTrue(described(schema))

    def test_each_operator_is_there_once(self):
        text = json.dumps(self.schema["$defs"])
        for name in ("SLICE1", "ELEMENT_WISE_ABS", "RNN"):
            with self.subTest(operator=name):
                self.assertEqual(text.count(f'"DML_OPERATOR_{name}"'), 1)
                self.assertEqual(text.count(f'"{name}"'), 1)


if __name__ == "__main__":
    with open(sys.argv.pop(), encoding="utf-8") as file:
        CaseMistakes.schema = json.load(file)
    unittest.main()
