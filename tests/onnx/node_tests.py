"""ONNX's backend node tests, as python3-onnx makes them: nothing of them is in this repository.

usage: node_tests.py FOLDER

Writes FOLDER/OPERATOR/BATCH/TEST/model.onnx with its test_data_set_*; OPERATOR is "several" for models of several nodes. A batch has
no more tests than `dmlconform import` lists reasons. Exit code 77: there is no python3-onnx here.
"""

import os
import sys
import warnings

# NumPy 1.24 removed these aliases, but python3-onnx 1.12 uses them.
REMOVED_ALIASES = {'bool': bool, 'complex': complex, 'float': float, 'int': int, 'long': int, 'object': object, 'str': str}


LARGEST_BATCH = 100


def node_test_cases():
    """The test cases, or nothing where the packages are missing."""
    try:
        import numpy
        for alias, kind in REMOVED_ALIASES.items():
            if alias not in numpy.__dict__:
                setattr(numpy, alias, kind)
        import onnx.backend.test.case.node as node_tests
    except ImportError as error:
        print(f'python3-onnx or NumPy is missing: {error}')
        return None
    return node_tests.collect_testcases(None)


def encoded(data, value):
    """A value of a graph's input or output as a message of ONNX."""
    from onnx import TensorProto, numpy_helper
    if isinstance(data, TensorProto):
        return data.SerializeToString()
    makers = {'map_type': numpy_helper.from_dict, 'sequence_type': numpy_helper.from_list,
              'optional_type': numpy_helper.from_optional}
    return makers.get(value.type.WhichOneof('value'), numpy_helper.from_array)(data, value.name).SerializeToString()


def files_of(case):
    """Paths below the test's folder, with what is in them."""
    files = {'model.onnx': case.model.SerializeToString()}
    for i, data_set in enumerate(case.data_sets):
        values = (case.model.graph.input, case.model.graph.output)
        for kind, data, names in zip(('input', 'output'), data_set, values):
            for j, tensor in enumerate(data):
                files[f'test_data_set_{i}/{kind}_{j}.pb'] = encoded(tensor, names[j])
    return files


def write_all(folder):
    """Operator/batch -> names of its tests, and what cannot be written with the reason."""
    batches, sizes, unwritten = {}, {}, {}
    for case in node_test_cases():
        nodes = case.model.graph.node
        try:
            files = files_of(case)
        except (AttributeError, TypeError, ValueError) as error:
            unwritten[case.name] = str(error)
            continue
        operator = nodes[0].op_type if len(nodes) == 1 else 'several'
        batch = os.path.join(operator, str(sizes.get(operator, 0) // LARGEST_BATCH))
        sizes[operator] = sizes.get(operator, 0) + 1
        for path, content in files.items():
            path = os.path.join(folder, batch, case.name, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(content)
        batches.setdefault(batch, set()).add(case.name)
    return batches, unwritten


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    warnings.simplefilter('ignore')
    if node_test_cases() is None:
        sys.exit(77)
    batches, unwritten = write_all(sys.argv[1])
    for name, reason in unwritten.items():
        print(f'not written: {name}: {reason}')
    print(f'{sum(map(len, batches.values()))} tests')


if __name__ == '__main__':
    main()
