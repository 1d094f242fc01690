"""The models of models.py as seeds of a fuzzer.

usage: model_seeds.py FOLDER

Exit code 77: there is no python3-onnx here.
"""

import os
import sys

import node_tests


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if node_tests.node_test_cases() is None:
        sys.exit(77)
    import models
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, made in models.all_models().items():
        with open(os.path.join(sys.argv[1], name + '.onnx'), 'wb') as file:
            file.write(made.proto.SerializeToString())


if __name__ == '__main__':
    main()
