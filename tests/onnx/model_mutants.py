"""Models with mistakes: small changes to the fields of models.py's models and of ONNX's node tests.

usage: model_mutants.py FOLDER COUNT SEED

A fuzzer of bytes rarely gets past the outer messages. Here each file is a well-formed message with one to five changes.
Exit code 77: there is no python3-onnx here.
"""

import copy
import os
import random
import sys

import node_tests

NUMBERS = [0, 1, -1, 2, 3, -2, 7, 255, 65536, 2**31 - 1, -2**31, 2**32, 2**40, 2**63 - 1, -2**63]
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e38, 1e-45, float('inf'), float('-inf'), float('nan')]
TEXTS = [b'', b'x', b'VALID', b'SAME_UPPER', b'linear', b'cubic', b'reflect', b'\xff\xfe']
# Of TensorProto and AttributeProto, with some that do not exist.
TYPES = range(28)


class Mutator:
    def __init__(self, models, seed):
        self.models = models
        self.random = random.Random(seed)
        self.kinds = sorted({node.op_type for model in models for node in model.graph.node})
        self.changes = 5 * [self.attribute] + 4 * [self.constant] + 4 * [self.edge] + 3 * [self.size] + 2 * [
            self.kind_of_value] + 2 * [self.operator] + [self.node, self.opset, self.joined]

    def pick(self, items):
        return self.random.choice(list(items))

    def number(self):
        return self.pick(NUMBERS) if self.random.random() < 0.7 else self.random.randint(-20, 20)

    def mutant(self):
        model = copy.deepcopy(self.pick(self.models))
        for _ in range(self.pick([1, 1, 1, 2, 2, 3, 5])):
            self.pick(self.changes)(model)
        return model.SerializeToString()

    def attribute(self, model):
        node = self.pick([node for node in model.graph.node if node.attribute])
        attribute = self.pick(node.attribute)
        change = self.random.randrange(8)
        if change == 0:
            node.attribute.remove(attribute)
        elif change == 1:
            attribute.type = self.pick(TYPES)
        elif attribute.HasField('g'):
            inner = copy.deepcopy(model)
            inner.graph.CopyFrom(attribute.g)
            self.pick([self.attribute, self.constant, self.edge, self.size, self.operator])(inner)
            attribute.g.CopyFrom(inner.graph)
        elif attribute.HasField('t'):
            self.tensor(attribute.t)
        elif attribute.ints:
            attribute.ints[self.random.randrange(len(attribute.ints))] = self.number()
            del attribute.ints[self.random.randint(1, len(attribute.ints)):]
        else:
            attribute.i, attribute.f, attribute.s = self.number(), self.pick(REALS), self.pick(TEXTS)

    def tensor(self, tensor):
        change = self.random.randrange(6)
        if change == 0:
            tensor.data_type = self.pick(TYPES)
        elif change == 1:
            tensor.dims.append(self.number())
        elif change == 2:
            tensor.raw_data = tensor.raw_data[:self.random.randint(0, len(tensor.raw_data))]
        elif change == 3:
            tensor.raw_data = self.random.randbytes(len(tensor.raw_data))
        elif change == 4:
            tensor.data_location = 1
        elif tensor.dims:
            tensor.dims[self.random.randrange(len(tensor.dims))] = self.number()

    def constant(self, model):
        sparse = [tensor for one in model.graph.sparse_initializer for tensor in (one.values, one.indices)]
        self.tensor(self.pick([*model.graph.initializer, *sparse]))

    def value(self, model):
        return self.pick([*model.graph.input, *model.graph.output, *model.graph.value_info])

    def size(self, model):
        dimensions = self.value(model).type.tensor_type.shape.dim
        change = self.random.randrange(4)
        if change == 0 or not dimensions:
            dimensions.add().dim_value = self.number()
        elif change == 1:
            del dimensions[0]
        elif change == 2:
            self.pick(dimensions).dim_param = self.pick(['N', ''])
        else:
            self.pick(dimensions).dim_value = self.number()

    def kind_of_value(self, model):
        self.value(model).type.tensor_type.elem_type = self.pick(TYPES)

    def edge(self, model):
        node, names = self.pick(model.graph.node), [''] + [name for node in model.graph.node
                                                          for name in [*node.input, *node.output]]
        change = self.random.randrange(4)
        if change == 0:
            node.input.append(self.pick(names))
        elif change == 1:
            node.output.append(self.pick(['extra', '', *names]))
        elif change == 2:
            del node.input[-1:]
        elif node.input:
            node.input[self.random.randrange(len(node.input))] = self.pick(names)

    def operator(self, model):
        node = self.pick(model.graph.node)
        node.op_type = self.pick(self.kinds)
        node.domain = self.pick(['', '', '', node.domain, 'com.microsoft'])

    def node(self, model):
        nodes = model.graph.node
        nodes.insert(self.random.randint(0, len(nodes)), copy.deepcopy(self.pick(self.pick(self.models).graph.node)))

    def opset(self, model):
        self.pick(model.opset_import).version = self.pick([*range(1, 25), *NUMBERS])

    def joined(self, model):
        """Adds another model, which may read and write the same names."""
        other = self.pick(self.models).graph
        for mine, others in ((model.graph.node, other.node), (model.graph.initializer, other.initializer),
                             (model.graph.output, other.output)):
            mine.extend(others)


def sources():
    import models
    found = [made.proto for made in models.all_models().values()]
    found += [case.model for case in node_tests.node_test_cases() if case.model and case.model.graph.node]
    return [model for model in found if model.ByteSize() < 200_000]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    if node_tests.node_test_cases() is None:
        sys.exit(77)
    folder, count = sys.argv[1], int(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    mutator, made = Mutator(sources(), int(sys.argv[3])), 0
    while made < count:
        try:
            data = mutator.mutant()
        except (IndexError, ValueError):
            continue  # there is nothing to change in that way
        with open(os.path.join(folder, f'mutant-{made}.onnx'), 'wb') as file:
            file.write(data)
        made += 1


if __name__ == '__main__':
    main()
