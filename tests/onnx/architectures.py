"""The architectures of ONNX's light models, small, with random weights: their own weights are constants, so that their
outputs say little. NumPy computes what is expected, in FLOAT64, operator by operator.

Each function below that is called architecture_… returns a network.
"""

import numpy

from models import FLOAT, Model, helper, numpy_helper

OPSET = 13


class Network:
    """Nodes, weights and values, as they are added. A value is the name of a tensor; its array is in `values`."""

    def __init__(self, name, *shape):
        self.random = numpy.random.default_rng(sum(name.encode()))
        self.nodes, self.weights, self.values = [], {}, {}
        self.values['data'] = self.random.standard_normal(shape).astype(numpy.float32).astype(numpy.float64)

    def weight(self, *shape, scale=1.0, mean=0.0):
        name = f'w{len(self.weights)}'
        array = (mean + scale * self.random.standard_normal(shape)).astype(numpy.float32)
        self.weights[name] = array
        return name, array.astype(numpy.float64)

    def add(self, kind, inputs, array, **attributes):
        name = f'{kind.lower()}{len(self.nodes)}'
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        self.values[name] = array
        return name

    def conv(self, x, channels, kernel, stride=1, pad=0, group=1, bias=True):
        a = self.values[x]
        taps = a.shape[1] // group * kernel * kernel
        w, filters = self.weight(channels, a.shape[1] // group, kernel, kernel, scale=taps ** -0.5)
        inputs, offsets = [x, w], numpy.zeros(channels)
        if bias:
            b, offsets = self.weight(channels, scale=0.1)
            inputs.append(b)
        windows = self.windows(a, kernel, stride, pad, 0)
        n, c, height, width = windows.shape[:4]
        windows = windows.reshape(n, group, c // group, height, width, kernel * kernel)
        filters = filters.reshape(group, channels // group, c // group, kernel * kernel)
        y = numpy.einsum('ngchwk,gock->ngohw', windows, filters).reshape(n, channels, height, width)
        return self.add('Conv', inputs, y + offsets[:, None, None], kernel_shape=[kernel] * 2, strides=[stride] * 2,
                        pads=[pad] * 4, group=group)

    @staticmethod
    def windows(a, kernel, stride, pad, value):
        padded = numpy.pad(a, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=value)
        view = numpy.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel), (2, 3))
        return view[:, :, ::stride, ::stride]

    def relu(self, x):
        return self.add('Relu', [x], numpy.maximum(self.values[x], 0))

    def relu6(self, x):
        for name, bound in (('zero', 0), ('six', 6)):
            self.weights[name] = numpy.array(bound, numpy.float32)
        return self.add('Clip', [x, 'zero', 'six'], numpy.clip(self.values[x], 0, 6))

    def max_pool(self, x, kernel, stride, pad=0):
        windows = self.windows(self.values[x], kernel, stride, pad, -numpy.inf)
        return self.add('MaxPool', [x], windows.max((-2, -1)), kernel_shape=[kernel] * 2, strides=[stride] * 2,
                        pads=[pad] * 4)

    def average_pool(self, x, kernel, stride=1):
        windows = self.windows(self.values[x], kernel, stride, 0, 0)
        return self.add('AveragePool', [x], windows.mean((-2, -1)), kernel_shape=[kernel] * 2, strides=[stride] * 2)

    def global_average_pool(self, x):
        return self.add('GlobalAveragePool', [x], self.values[x].mean((2, 3), keepdims=True))

    def normalise(self, x):
        a = self.values[x]
        (s, scale), (b, bias) = self.weight(a.shape[1], scale=0.2, mean=1), self.weight(a.shape[1], scale=0.2)
        m, mean = self.weight(a.shape[1], scale=0.2)
        v = f'w{len(self.weights)}'
        self.weights[v] = self.random.uniform(0.5, 2, a.shape[1]).astype(numpy.float32)
        variance = self.weights[v].astype(numpy.float64)
        each = (slice(None), None, None)
        y = (a - mean[each]) / numpy.sqrt(variance[each] + 1e-5) * scale[each] + bias[each]
        return self.add('BatchNormalization', [x, s, b, m, v], y, epsilon=1e-5)

    def lrn(self, x, size=5, alpha=1e-2, beta=0.75):
        a = self.values[x]
        channels = a.shape[1]
        squares = numpy.stack([(a[:, max(0, c - (size - 1) // 2):c + size // 2 + 1] ** 2).sum(1)
                               for c in range(channels)], 1)
        return self.add('LRN', [x], a / (1 + alpha / size * squares) ** beta, size=size, alpha=alpha, beta=beta)

    def plus(self, x, y):
        return self.add('Add', [x, y], self.values[x] + self.values[y])

    def concat(self, *parts):
        return self.add('Concat', list(parts), numpy.concatenate([self.values[part] for part in parts], 1), axis=1)

    def shuffle(self, x, groups):
        """Channels of all groups mixed: a reshape, a transposition and a reshape back."""
        a = self.values[x]
        n, c, height, width = a.shape
        for name, sizes in (('apart', (n, groups, c // groups, height, width)), ('together', a.shape)):
            self.weights[f'{x}.{name}'] = numpy.array(sizes, numpy.int64)
        split = a.reshape(n, groups, c // groups, height, width)
        apart = self.add('Reshape', [x, f'{x}.apart'], split)
        mixed = self.add('Transpose', [apart], split.transpose(0, 2, 1, 3, 4), perm=[0, 2, 1, 3, 4])
        return self.add('Reshape', [mixed, f'{x}.together'], self.values[mixed].reshape(a.shape))

    def dense(self, x, outputs):
        a = self.values[x]
        if a.ndim > 2:
            x = self.add('Flatten', [x], a.reshape(a.shape[0], -1))
            a = self.values[x]
        w, weights = self.weight(outputs, a.shape[1], scale=a.shape[1] ** -0.5)
        b, bias = self.weight(outputs, scale=0.1)
        return self.add('Gemm', [x, w, b], a @ weights.T + bias, transB=1)

    def finish(self, x):
        """Probabilities of the classes."""
        a = self.values[x].reshape(self.values[x].shape[0], -1)
        if self.values[x].ndim > 2:
            x = self.add('Flatten', [x], a)
        e = numpy.exp(a - a.max(-1, keepdims=True))
        y = self.add('Softmax', [x], e / e.sum(-1, keepdims=True), axis=-1)
        data, result = (self.values[name].astype(numpy.float32) for name in ('data', y))
        graph = helper.make_graph(
            self.nodes, 'main', [helper.make_tensor_value_info('data', FLOAT, data.shape)],
            [helper.make_tensor_value_info(y, FLOAT, result.shape)],
            [numpy_helper.from_array(array, name) for name, array in self.weights.items()])
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid('', OPSET)])
        proto.ir_version = 8
        return Model(proto, {'data': data}, {y: result})


def architecture_alexnet():
    net = Network('alexnet', 1, 3, 35, 35)
    x = net.max_pool(net.lrn(net.relu(net.conv('data', 12, 5, 2, 1))), 3, 2)
    x = net.max_pool(net.lrn(net.relu(net.conv(x, 16, 5, 1, 2, group=2))), 3, 2)
    x = net.relu(net.conv(net.relu(net.conv(x, 24, 3, 1, 1)), 16, 3, 1, 1, group=2))
    return net.finish(net.dense(net.relu(net.dense(x, 32)), 10))


def architecture_densenet():
    net = Network('densenet', 1, 3, 24, 24)
    x = net.max_pool(net.relu(net.normalise(net.conv('data', 8, 7, 2, 3, bias=False))), 3, 2, 1)
    for block in range(2):
        for _ in range(3):
            new = net.conv(net.relu(net.normalise(x)), 16, 1, bias=False)
            x = net.concat(x, net.conv(net.relu(net.normalise(new)), 4, 3, 1, 1, bias=False))
        if block == 0:
            x = net.average_pool(net.conv(net.relu(net.normalise(x)), 10, 1, bias=False), 2, 2)
    return net.finish(net.conv(net.global_average_pool(net.relu(net.normalise(x))), 10, 1))


def inception(net, x, normalise):
    """Four branches side by side."""
    def unit(value, *sizes):
        value = net.conv(value, *sizes, bias=not normalise)
        return net.relu(net.normalise(value) if normalise else value)
    return net.concat(unit(x, 8, 1), unit(unit(x, 6, 1), 8, 3, 1, 1), unit(unit(x, 4, 1), 6, 5, 1, 2),
                      unit(net.max_pool(x, 3, 1, 1), 6, 1))


def architecture_inception_v1():
    net = Network('inception_v1', 1, 3, 28, 28)
    x = net.lrn(net.max_pool(net.relu(net.conv('data', 12, 7, 2, 3)), 3, 2))
    x = inception(net, inception(net, x, False), False)
    return net.finish(net.dense(net.global_average_pool(x), 10))


def architecture_inception_v2():
    net = Network('inception_v2', 1, 3, 28, 28)
    x = net.max_pool(net.relu(net.normalise(net.conv('data', 12, 7, 2, 3, bias=False))), 3, 2)
    x = inception(net, inception(net, x, True), True)
    return net.finish(net.dense(net.average_pool(x, 3), 10))


def architecture_mobilenet():
    net = Network('mobilenet', 1, 3, 24, 24)
    x = net.relu6(net.conv('data', 8, 3, 2, 1))
    for stride in (1, 2, 1):
        wide = net.relu6(net.conv(x, 24, 1))
        deep = net.relu6(net.conv(wide, 24, 3, stride, 1, group=24))
        narrow = net.conv(deep, 8, 1)
        x = net.plus(x, narrow) if stride == 1 else narrow
    return net.finish(net.dense(net.global_average_pool(x), 10))


def architecture_resnet():
    net = Network('resnet', 1, 3, 24, 24)
    x = net.max_pool(net.relu(net.normalise(net.conv('data', 16, 7, 2, 3, bias=False))), 3, 2, 1)
    for stride, channels in ((1, 16), (2, 24), (1, 24)):
        y = net.relu(net.normalise(net.conv(x, channels // 2, 1, bias=False)))
        y = net.relu(net.normalise(net.conv(y, channels // 2, 3, stride, 1, bias=False)))
        y = net.normalise(net.conv(y, channels, 1, bias=False))
        same = net.values[x].shape == net.values[y].shape
        x = net.relu(net.plus(y, x if same else net.normalise(net.conv(x, channels, 1, stride, bias=False))))
    return net.finish(net.dense(net.global_average_pool(x), 10))


def architecture_shufflenet():
    net = Network('shufflenet', 1, 3, 24, 24)
    x = net.max_pool(net.relu(net.normalise(net.conv('data', 12, 3, 2, 1, bias=False))), 3, 2, 1)
    for _ in range(2):
        y = net.relu(net.normalise(net.conv(x, 12, 1, group=3, bias=False)))
        y = net.normalise(net.conv(net.shuffle(y, 3), 12, 3, 1, 1, group=12, bias=False))
        x = net.relu(net.plus(x, net.normalise(net.conv(y, 12, 1, group=3, bias=False))))
    return net.finish(net.dense(net.global_average_pool(x), 10))


def architecture_squeezenet():
    net = Network('squeezenet', 1, 3, 28, 28)
    x = net.max_pool(net.relu(net.conv('data', 12, 3, 2)), 3, 2)
    for channels in (4, 6):
        small = net.relu(net.conv(x, channels, 1))
        x = net.concat(net.relu(net.conv(small, 2 * channels, 1)), net.relu(net.conv(small, 2 * channels, 3, 1, 1)))
    return net.finish(net.global_average_pool(net.relu(net.conv(x, 10, 1))))


def architecture_vgg():
    net = Network('vgg', 1, 3, 16, 16)
    x = 'data'
    for channels, count in ((8, 2), (12, 2), (16, 3)):
        for _ in range(count):
            x = net.relu(net.conv(x, channels, 3, 1, 1))
        x = net.max_pool(x, 2, 2)
    return net.finish(net.dense(net.relu(net.dense(x, 32)), 10))


def architecture_zfnet():
    net = Network('zfnet', 1, 3, 37, 37)
    x = net.lrn(net.max_pool(net.relu(net.conv('data', 12, 7, 2, 1)), 3, 2, 1))
    x = net.lrn(net.max_pool(net.relu(net.conv(x, 16, 5, 2)), 3, 2, 1))
    x = net.relu(net.conv(net.relu(net.conv(x, 24, 3, 1, 1)), 16, 3, 1, 1))
    return net.finish(net.dense(x, 10))


def all_architectures():
    return {name.removeprefix('architecture_'): make() for name, make in globals().items()
            if name.startswith('architecture_')}
