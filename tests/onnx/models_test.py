"""Models as exporters write them run as they are: every output is what NumPy computes, on each engine that is usable.

usage: models_test.py PROGRAM FOLDER

The models are those of models.py. If DMLCONFORM_LIGHT_MODELS names the folder onnx/backend/test/data/light of ONNX's
sources, its models are run, too. Exit code 77: there is no python3-onnx here.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time
import warnings

import node_tests

# The maximum time in seconds for importing a small model, on a machine that is busy with other work.
LONGEST_IMPORT = 5


class Test:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.failures = 0
        self.engines = self.usable_engines()

    def check(self, condition, what):
        print(('ok      ' if condition else 'FAILED  ') + what)
        self.failures += not condition

    def dmlconform(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, check=False)

    def usable_engines(self):
        listed = self.dmlconform('adapters').stdout
        return [name for name in ('cpu', 'd3d12') if re.search(rf'^{name} +(?!not usable)', listed, re.MULTILINE)]

    def run_model(self, path, cuts=frozenset(), words=()):
        """Every engine passes, and exactly these types of nodes are left out."""
        name = os.path.splitext(os.path.basename(path))[0]
        report = os.path.join(self.folder, name + '.json')
        engines = [word for engine in self.engines for word in ('--engine', engine)]
        done = self.dmlconform('run', path, *engines, *words, '--json', report)
        left_out = set(re.findall(r'^    .* \((\S+)\): ', done.stderr, re.MULTILINE))
        results = []
        if os.path.exists(report):
            with open(report, encoding='utf-8') as file:
                results = json.load(file)['results']
        whole = {result['engine']: result['status'] for result in results if result['id'] == name + '/model'}
        graphs = [result['graph'] for result in results if result['id'] == name + '/model']
        reported = [{re.sub(r'.* \((\S+)\): .*', r'\1', cut) for cut in graph.get('cuts', [])} for graph in graphs]
        nodes = [result for result in results if result['id'].startswith(name + '/model/')]
        # Single nodes have no expected values, so the CPU engine reports "reference" for them instead of "pass".
        wrong = [result['id'] for result in nodes
                 if result['status'] != ('reference' if result['engine'] == 'cpu' else 'pass')]
        good = (done.returncode == 0 and whole == dict.fromkeys(self.engines, 'pass') and left_out == cuts and
                all(types == cuts for types in reported) and not any(graph.get('wrongNodes') for graph in graphs) and
                not wrong and (self.engines == ['cpu'] or nodes != []))
        self.check(good, f'{name}: {whole}, {len(nodes)} results of nodes, wrong: {wrong}, '
                         f'left out: {sorted(left_out)}')
        if not good:
            print(done.stdout[-3000:], done.stderr[-3000:])


def computed_by_onnx_runtime(path, made):
    """What ONNX Runtime computes for the model's one output, or why it cannot be asked."""
    import numpy
    (data,), (name,) = made.inputs.values(), made.outputs
    node = shutil.which('node')
    if node is None:
        return None, 'there is no Node.js'
    raw = os.path.splitext(path)[0]
    data.tofile(raw + '.in')
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'onnx_runtime.js')
    done = subprocess.run([node, script, path, ','.join(map(str, data.shape)), raw + '.in', raw + '.out'],
                          capture_output=True, text=True, check=False)
    if done.returncode == 77:
        return None, done.stderr.strip()
    if done.returncode != 0:
        sys.exit(f'{path}: {done.stderr}')
    return numpy.fromfile(raw + '.out', numpy.float32).reshape(made.outputs[name].shape), ''


def run_architectures(test):
    """The light models' architectures with random weights, as NumPy and perhaps ONNX Runtime compute them."""
    import architectures
    import models
    import numpy
    why_not = ''
    for name, made in architectures.all_architectures().items():
        path = models.write(test.folder, name, made)
        test.run_model(path)
        computed, why_not = computed_by_onnx_runtime(path, made) if not why_not else (None, why_not)
        if computed is None:
            continue
        (output, expected), = made.outputs.items()
        test.check(numpy.allclose(computed, expected, rtol=1e-4), f'{name}: NumPy and ONNX Runtime agree')
        made.outputs[output] = computed
        test.run_model(models.write(os.path.join(test.folder, 'onnx_runtime'), name, made))
    if why_not:
        print(f'skipped: comparing with ONNX Runtime: {why_not}')


def check_messages(test):
    """What is wrong with options or files is said, with exit code 2."""
    import models
    import numpy
    from onnx import helper
    x = models.random(60, 2, 3)
    made = models.model([helper.make_node('Relu', ['x'], ['y'], name='relu')], {'x': x}, {'y': numpy.maximum(x, 0)},
                        dims={'x': ['batch', 3]})
    folder = os.path.join(test.folder, 'messages')
    os.makedirs(folder)
    path = os.path.join(folder, 'net.onnx')
    whole = made.proto.SerializeToString()
    for name, content in (('net.onnx', whole), ('empty.onnx', b''), ('half.onnx', whole[:len(whole) // 2])):
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(content)
    data = os.path.join(folder, 'x.npy')
    numpy.save(data, x)
    wide = os.path.join(folder, 'wide.npy')
    numpy.save(wide, models.random(61, 2, 4))
    for words, message in (
            ([path, '--dim', 'bacth=2'], 'the model has no dimension "bacth"\n    hint: its dimensions are: batch'),
            ([path, '--dim', 'batch=3', '--input', 'x=' + data], 'has the size 2 where the dimension batch is 3'),
            ([path, '--input', 'x=' + wide], 'the data of "x" have the sizes [2,4], the model says [batch,3]'),
            ([path, '--dim', 'batch'], '--dim batch does not give a size'),
            ([path, '--input', 'y=' + data], 'the model has no input "y"\n    hint: its inputs are: x'),
            ([path, '--input', 'x=' + path], 'it is of no known kind'),
            ([path.replace('net', 'empty')], 'the file is empty'),
            ([path.replace('net', 'half')], 'it is not an ONNX model, or cut off'),
            ([path.replace('net', 'ne')], 'did you mean `net.onnx`?'),
            ([folder], 'give models by their own paths: '),
            ([path, path.replace('net', 'sub/net')], 'no such file or folder')):
        done = test.dmlconform('run', '--engine', 'cpu', *words)
        test.check(done.returncode == 2 and message in done.stderr, f'{words[-1]}: {message}')
    done = test.dmlconform('run', path, '--input', 'x=' + data, *(w for e in test.engines for w in ('--engine', e)))
    test.check('size 1 was chosen' not in done.stderr, 'sizes follow from data')
    done = test.dmlconform('bench', path, '--engine', 'cpu', '--no-roofline', '--benchmark_min_time=0.001',
                           '--benchmark_repetitions=1')
    test.check(done.returncode == 0 and 'net/model' in done.stdout, f'a model is timed: {done.stderr}')


def check_import(test):
    """The distinct operators of a model are cases that run, with its activations; large weights lie beside the file."""
    import models
    import numpy
    from onnx import helper
    x = models.random(61, 1, 64, 64)
    wide = models.random(62, 64, 64) / numpy.float32(8)
    nodes, last = [], 'x'
    for i in range(3):
        nodes += [helper.make_node('MatMul', [last, 'wide'], [f'm{i}'], name=f'/layer.{i}/MatMul'),
                  helper.make_node('Relu', [f'm{i}'], [f'r{i}'], name=f'/layer.{i}/Relu')]
        last = f'r{i}'
    nodes.append(helper.make_node('Softmax', [last], ['y'], name='/Softmax'))
    made = models.model(nodes, {'x': x}, {'y': x}, {'wide': wide})
    folder = os.path.join(test.folder, 'imported')
    os.makedirs(folder)
    path = os.path.join(folder, 'net.onnx')
    with open(path, 'wb') as file:
        file.write(made.proto.SerializeToString())
    data = os.path.join(folder, 'x.npy')
    numpy.save(data, x)
    cases = os.path.join(folder, 'cases.json')
    done = test.dmlconform('import', 'onnx', path, '-o', cases, '--input', 'x=' + data)
    test.check(done.returncode == 0 and '3 cases for 7 nodes' in done.stderr, f'distinct operators: {done.stderr}')
    with open(cases, encoding='utf-8') as file:
        written = json.load(file)['cases']
    names = [case['name'] for case in written]
    test.check(names == ['layer.0/MatMul', 'layer.0/Relu', 'Softmax'], f'cases: {names}')
    test.check(os.path.getsize(cases) < 10_000, f'the file has {os.path.getsize(cases)} bytes')
    read = {case['name']: {tensor: numpy.load(os.path.join(folder, source['file']))
                           for tensor, source in case['inputs'].items()} for case in written}
    test.check(numpy.array_equal(read['layer.0/MatMul']['ATensor'].reshape(x.shape), x) and
               numpy.array_equal(read['layer.0/MatMul']['BTensor'].reshape(wide.shape), wide), 'data and weights')
    test.check(numpy.allclose(read['layer.0/Relu']['InputTensor'].reshape(x.shape), x @ wide, atol=1e-4),
               'activations are what the node before computes')
    run = test.dmlconform('run', cases, *(w for e in test.engines for w in ('--engine', e)))
    test.check(run.returncode == (1 if test.engines == ['cpu'] else 0), f'the cases run: {run.stdout[-500:]}')
    for words in ([path, '-o', '-'], [path, '-o', folder], [path + 'x', '-o', cases]):
        test.check(test.dmlconform('import', 'onnx', *words).returncode == 2, f'refused: {words}')


def run_light_models(test, source):
    """Their input is arange(n)/n, as ONNX's own runner makes it."""
    import numpy
    import onnx
    from onnx import numpy_helper
    for path in sorted(glob.glob(os.path.join(source, '*.onnx'))):
        name = os.path.splitext(os.path.basename(path))[0]
        folder = os.path.join(test.folder, name)
        os.makedirs(os.path.join(folder, 'test_data_set_0'))
        copy = shutil.copy(path, folder)
        shutil.copy(path.replace('.onnx', '_output_0.pb'), os.path.join(folder, 'test_data_set_0', 'output_0.pb'))
        graph = onnx.load(path).graph
        given = [value for value in graph.input if value.name not in {weight.name for weight in graph.initializer}]
        sizes = [dimension.dim_value for dimension in given[0].type.tensor_type.shape.dim]
        count = int(numpy.prod(sizes))
        data = (numpy.arange(count).astype(numpy.float32) / numpy.float32(count)).reshape(sizes)
        with open(os.path.join(folder, 'test_data_set_0', 'input_0.pb'), 'wb') as file:
            file.write(numpy_helper.from_array(data, given[0].name).SerializeToString())
        start = time.monotonic()
        done = test.dmlconform('validate', copy)
        took = time.monotonic() - start
        test.check(done.returncode == 0 and took < LONGEST_IMPORT, f'{name} is imported in {took:.2f} s: {done.stderr}')
        test.run_model(copy)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    warnings.simplefilter('ignore')
    program, folder = sys.argv[1:]
    if node_tests.node_test_cases() is None:
        print('skipped: scripts/setup installs it')
        sys.exit(77)
    import models
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    test = Test(program, folder)
    if test.engines != ['cpu', 'd3d12']:
        print(f'only {test.engines} can be used here')
    for name, made in models.all_models().items():
        test.run_model(models.write(folder, name, made), made.cuts, made.words)
    run_architectures(test)
    check_messages(test)
    check_import(test)
    source = os.environ.get('DMLCONFORM_LIGHT_MODELS')
    if source:
        run_light_models(test, source)
    sys.exit(1 if test.failures else 0)


if __name__ == '__main__':
    main()
