"""ONNX's node tests become cases, and all of them pass on both engines. Of those whose node is element-wise, an activation or
a cast, what is left out is left out for a reason that is known here.

usage: node_tests_test.py PROGRAM FOLDER DOCUMENT [--write]

Tests, cases and results go into FOLDER. With python3-onnx 1.12, DOCUMENT must be the table of the tests that are left out; --write
writes it. Exit code 77: there is no python3-onnx here.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import warnings

import node_tests

# ONNX operators that compute each element from the elements at the same index, and have a counterpart in DirectML.
ELEMENT_WISE = frozenset('''
    Abs Acos Acosh Adam Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip
    Cos Cosh DequantizeLinear Div Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu
    Less LessOrEqual Log Max Mean Min Mod Mul Neg Not Or Pow PRelu QuantizeLinear Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin
    Sinh Softplus Softsign Sqrt Sub Sum Swish Tan Tanh ThresholdedRelu Where Xor
'''.split())

# Measured with python3-onnx 1.12: at least this many tests become cases, and at least this many pass on an engine.
# Newer versions have more.
LEAST_ELEMENT_WISE = 233
LEAST_PASSED = 867

# Tests with wrong expected values. The operator's documentation says that results saturate, but NumPy's conversion to
# INT8 wraps. The inverse transforms of ONNX 1.17 expect rounding errors of 2e-7 where the result is 0. Adam of several
# tensors was computed with an epsilon of 1e-2, but the node has none, so that it is 1e-6.
WRONG = frozenset('''
    test_qlinearmatmul_2D_int8_float32 test_qlinearmatmul_3D_int8_float32 test_dft_inverse
    test_dft_inverse_opset19 test_adam_multiple
'''.split())

# Acceptable reasons for leaving out a test of an element-wise operator.
REASONS = (
    r'ONNX data type (BFLOAT16|STRING|FLOAT[48]E\w+|U?INT[24]) has no counterpart',
    r'the descriptor is illegal: \w+ has data type \w+; feature level [\d.]+ allows',
    r'a tensor has size 0 in a dimension',
    r'Gelu by an approximation has no counterpart',
    r'scales and zero points are not those of an axis',
)


def filled(text, indent):
    return textwrap.wrap(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


class Test:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.failures = 0
        self.reasons = {}  # of all data sets that are left out, by name

    def check(self, condition, what):
        print(('ok      ' if condition else 'FAILED  ') + what)
        self.failures += not condition

    def at(self, *names):
        return os.path.join(self.folder, *names)

    def dmlconform(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, check=False)

    def engines(self):
        """Of the two, those that can run here."""
        listed = self.dmlconform('adapters').stdout
        return [name for name in ('cpu', 'd3d12') if re.search(rf'^{name} +(?!not usable)', listed, re.MULTILINE)]

    def import_batch(self, batch, names):
        """Names of the tests that became cases, all of their data sets, and those left out with the reason."""
        file = self.at('cases', batch.replace(os.sep, '-') + '.json')
        done = self.dmlconform('import', 'onnx-test', self.at('tests', batch), '-o', file)
        imported = set()
        if os.path.exists(file):
            with open(file, encoding='utf-8') as stream:
                imported = {case['name'].split('/')[0] for case in json.load(stream)['cases']}
        lines = [line.removeprefix('left out: ') for line in done.stderr.splitlines() if line.startswith('left out: ')]
        left_out = dict(line.split(': ', 1) for line in lines)
        known = imported | {name.split('/')[0] for name in left_out}
        if done.returncode != (0 if imported else 2) or known != names:
            self.check(False, f'{batch}: exit code {done.returncode}, without a word: {sorted(names - known)}')
            print(done.stderr)
        return imported - {name.split('/')[0] for name in left_out}, left_out

    def import_all(self, batches):
        imported = total = 0
        for batch, names in sorted(batches.items()):
            operator = batch.split(os.sep)[0]
            tests, left_out = self.import_batch(batch, names)
            self.reasons.update(left_out)
            if operator in ELEMENT_WISE:
                imported += len(tests)
                total += len(names)
                for name, reason in left_out.items():
                    self.check(any(re.search(known, reason) for known in REASONS), f'left out: {name}: {reason}')
            elif left_out:
                reasons = collections.Counter(left_out.values()).most_common()
                print(f'{operator}: {len(tests)} imported; left out:', *[f'{count} × {reason}' for reason, count in reasons], sep='\n    ')
        self.check(imported >= LEAST_ELEMENT_WISE, f'{imported} of {total} element-wise tests became cases, at least {LEAST_ELEMENT_WISE}')

    def table(self, total):
        """The document: an item for each reason, with the tests that have it."""
        tests = collections.defaultdict(list)
        for name, reason in sorted(self.reasons.items()):
            # Where a reason begins with a file or a node of a test, or ends with a rule, is of no interest here.
            short = re.sub(r'^(\w+\.pb|node \d+ \(\w+\)): | \[[\w.]+\]$', '', reason)
            tests[re.sub(r'^"\w+"', 'A value', short)].append(name.removeprefix('test_'))
        left_out = sum(map(len, tests.values()))
        lines = ['# Which of ONNX\'s node tests are left out', '',
                 '<!-- Written by `tests/onnx/node_tests_test.py --write`, which this file must equal. Do not edit. -->', '',
                 *filled(f'Of the {total} node tests of ONNX 1.12, {total - left_out} become cases ([models.md](models.md#onnx-node-tests)). The '
                         f'other {left_out} do not, for these reasons:', ''), '']
        for reason, names in sorted(tests.items()):
            lines += filled(f'- {reason} ({len(names)}): {", ".join(f"`{name}`" for name in names)}.', '  ')
        return '\n'.join(lines) + '\n'

    def check_document(self, path, total, writes):
        import onnx
        if not onnx.__version__.startswith('1.12.'):
            print(f'{path} is about ONNX 1.12, this is {onnx.__version__}')
            return
        if writes:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(self.table(total))
        with open(path, encoding='utf-8') as file:
            self.check(file.read() == self.table(total), f'{path} is what was left out (--write writes it)')

    @staticmethod
    def outcome(result):
        """Whether a case passed. What comes between nodes is the reference's own, which the other engines must agree with."""
        by_itself = result['engine'] == 'cpu' and result['status'] == 'reference'
        return 'between' if by_itself else result['status']

    def run_all(self, engines):
        words = [word for engine in engines for word in ('--engine', engine)]
        for name in sorted(WRONG):
            words += ['--exclude', f'*/{name}', '--exclude', f'*/{name}/*']
        done = self.dmlconform('run', self.at('cases'), *words, '--quiet', '--json', self.at('result.json'))
        with open(self.at('result.json'), encoding='utf-8') as file:
            results = json.load(file)['results']
        for engine in engines:
            tests = collections.defaultdict(set)
            for result in results:
                if result['engine'] == engine:
                    tests[result['id'].split('/')[1]].add(self.outcome(result))
            ended = collections.Counter('+'.join(sorted(outcomes)) for outcomes in tests.values())
            passed = ended.pop('pass', 0) + ended.pop('between+pass', 0)
            self.check(not ended, f'{engine}: {passed} tests pass, others: {dict(ended)}')
            self.check(passed >= LEAST_PASSED, f'{engine}: at least {LEAST_PASSED} passed')
        self.check(done.returncode == 0, f'exit code {done.returncode} of the run')
        if done.returncode != 0:
            print(done.stdout, done.stderr)
        element_wise = [result for result in results if result['id'].split('-')[0] in ELEMENT_WISE]
        self.check({self.outcome(result) for result in element_wise} <= {'pass', 'between'},
                   f'{len(element_wise)} results of element-wise operators: all pass, none is skipped')


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[4:] not in ([], ['--write']):
        sys.exit(__doc__)
    warnings.simplefilter('ignore')
    program, folder, document = sys.argv[1:4]
    if node_tests.node_test_cases() is None:
        print('skipped: scripts/setup installs it')
        sys.exit(77)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, 'cases'))
    batches, unwritten = node_tests.write_all(os.path.join(folder, 'tests'))
    for name, reason in unwritten.items():
        print(f'cannot be written: {name}: {reason}')
    test = Test(program, folder)
    test.import_all(batches)
    test.check_document(document, sum(map(len, batches.values())), len(sys.argv) == 5)
    engines = test.engines()
    if engines != ['cpu', 'd3d12']:
        print(f'only {engines} can be used here')
    test.run_all(engines)
    sys.exit(1 if test.failures else 0)


if __name__ == '__main__':
    main()
