"""Cases become models that ONNX's checker accepts, whose nodes take the types that they are given at their opset, and
whose data sets fit them.

usage: export_test.py PROGRAM FOLDER

A plain case of every operator is exported at every opset that python3-onnx knows. Exit code 77: there is no
python3-onnx here.
"""

import glob
import os
import re
import shutil
import subprocess
import sys

OPSETS = (13, 14, 15, 16, 17, 18, 19, 20, 21)

# At opset 17, the default, at least this many of the plain cases can be exported.
LEAST_EXPORTED = 140


class Test:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.failures = 0

    def check(self, condition, what):
        print(('ok      ' if condition else 'FAILED  ') + what)
        self.failures += not condition

    def dmlconform(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, check=False)


def make_cases(test):
    """One case file for each operator, which the program writes itself."""
    listed = test.dmlconform('describe', '--table').stdout
    names = re.findall(r'^\| ([A-Z0-9_]+) \|', listed, re.MULTILINE)
    folder = os.path.join(test.folder, 'cases')
    os.makedirs(folder)
    for name in names:
        done = test.dmlconform('new', name, '-o', os.path.join(folder, name.lower() + '.json'))
        if done.returncode != 0:
            test.check(False, f'a case of {name}: {done.stderr}')
    return folder, len(names)


def node_problems(model, onnx):
    """Nodes with inputs of types that their operator does not take."""
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    graph = inferred.graph
    types = {value.name: value.type.tensor_type.elem_type
             for value in [*graph.input, *graph.output, *graph.value_info]}
    types.update({tensor.name: tensor.data_type for tensor in graph.initializer})
    problems = []
    for node in graph.node:
        schema = onnx.defs.get_schema(node.op_type, model.opset_import[0].version, node.domain)
        unknown = {one.name for one in node.attribute} - set(schema.attributes)
        if unknown:
            problems.append(f'{node.op_type} has no attribute {sorted(unknown)}')
        for number, name in enumerate(node.input):
            formal = schema.inputs[min(number, len(schema.inputs) - 1)]
            if name and name in types:
                text = f'tensor({onnx.TensorProto.DataType.Name(types[name]).lower()})'
                if text not in formal.types:
                    problems.append(f'{node.op_type} takes no {text} as {formal.name}')
    return problems


def data_problems(folder, model, onnx):
    """Files of the data set that are not what the model's inputs and outputs declare."""
    problems = []
    for values, what in ((model.graph.input, 'input'), (model.graph.output, 'output')):
        paths = glob.glob(os.path.join(folder, 'test_data_set_0', what + '_*.pb'))
        if len(paths) != len(values):
            problems.append(f'{len(paths)} files for {len(values)} {what}s')
            continue
        for number, value in enumerate(values):
            tensor = onnx.TensorProto()
            with open(os.path.join(folder, 'test_data_set_0', f'{what}_{number}.pb'), 'rb') as file:
                tensor.ParseFromString(file.read())
            declared = value.type.tensor_type
            sizes = [dimension.dim_value for dimension in declared.shape.dim]
            if (tensor.name, tensor.data_type, list(tensor.dims)) != (value.name, declared.elem_type, sizes):
                problems.append(f'{what} {number} is not what the model declares')
            if onnx.numpy_helper.to_array(tensor).shape != tuple(sizes):
                problems.append(f'{what} {number} has other data')
    return problems


def check_opset(test, cases, opset, onnx):
    folder = os.path.join(test.folder, f'opset{opset}')
    done = test.dmlconform('export', 'onnx', cases, '-o', folder, '--opset', str(opset))
    test.check(done.returncode == 0, f'opset {opset}: exit code {done.returncode} {done.stderr[-500:]}')
    problems = {}
    models = sorted(glob.glob(os.path.join(folder, '*', 'model.onnx')))
    for path in models:
        model = onnx.load(path)
        try:
            onnx.checker.check_model(model, full_check=True)
            found = node_problems(model, onnx)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, RuntimeError) as error:
            found = [str(error).strip()[-300:]]
        found += data_problems(os.path.dirname(path), model, onnx)
        if found:
            problems[os.path.basename(os.path.dirname(path))] = found
    for name, found in problems.items():
        print(f'    {name}: {found}')
    test.check(not problems, f'opset {opset}: {len(models)} models, {len(problems)} of which are wrong')
    return len(models)


def main(program, folder):
    try:
        import onnx
        import onnx.checker
        import onnx.numpy_helper
        import onnx.shape_inference
    except ImportError as error:
        print(f'python3-onnx is missing: {error}')
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    test = Test(program, folder)
    cases, count = make_cases(test)
    counts = {opset: check_opset(test, cases, opset, onnx) for opset in OPSETS
              if opset <= onnx.defs.onnx_opset_version()}
    print(f'models of {count} operators: {counts}')
    test.check(counts[17] >= LEAST_EXPORTED, f'{counts[17]} operators at opset 17')
    return min(test.failures, 1)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
