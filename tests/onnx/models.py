"""Models as exporters, optimisers and quantisers write them, small, with data and what NumPy computes of these.

Each function below that is called model_… returns a Model. Nothing here is copied from an exporter but the structure.
"""

import dataclasses
import os

import numpy

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    onnx = None

FLOAT, INT64, FLOAT16, UINT4, INT4 = 1, 7, 10, 21, 22


@dataclasses.dataclass
class Model:
    proto: 'onnx.ModelProto'
    inputs: dict
    outputs: dict
    # Types of the nodes that cannot be judged.
    cuts: frozenset = frozenset()
    words: tuple = ()
    # Initialisers whose data are in a separate file.
    external: tuple = ()


def random(seed, *shape):
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


def value_info(name, array, dims=None):
    kind = numpy_helper.from_array(numpy.asarray(array)).data_type
    return helper.make_tensor_value_info(name, kind, dims or list(numpy.shape(array)))


def model(nodes, inputs, outputs, weights=None, opset=17, ir=8, dims=None, **rest):
    """The inputs' dimensions are those of their data, unless `dims` has others."""
    weights = weights or {}
    given = [value_info(name, array, (dims or {}).get(name)) for name, array in inputs.items()]
    if ir < 4:
        given += [value_info(name, array) for name, array in weights.items()]
    graph = helper.make_graph(nodes, 'main', given, [value_info(name, array) for name, array in outputs.items()],
                              [numpy_helper.from_array(numpy.asarray(array), name) for name, array in weights.items()])
    opsets = [helper.make_opsetid('', opset), helper.make_opsetid('com.microsoft', 1)] + rest.pop('opsets', [])
    proto = helper.make_model(graph, opset_imports=opsets, functions=rest.pop('functions', []))
    proto.ir_version = ir
    return Model(proto, inputs, outputs, **rest)


def constant(name, array):
    return helper.make_node('Constant', [], [name], value=numpy_helper.from_array(numpy.asarray(array), name))


def int64(*values):
    return numpy.array(values, dtype=numpy.int64)


def softmax(x):
    e = numpy.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(x, scale, bias, epsilon=1e-5):
    deviation = x - x.mean(-1, keepdims=True)
    variance = (deviation ** 2).mean(-1, keepdims=True)
    return (deviation / numpy.sqrt(variance + epsilon) * scale + bias).astype(numpy.float32)


def erf(x):
    from math import erf as one
    return numpy.vectorize(one)(x).astype(numpy.float32)


def gelu(x):
    return (x / 2 * (1 + erf(x / numpy.sqrt(2)))).astype(numpy.float32)


def conv(x, w, stride=1, pad=0):
    """Of NCHW with a filter of OIHW, by its definition."""
    x = numpy.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad))).astype(numpy.float64)
    rows, columns = [(x.shape[d] - w.shape[d]) // stride + 1 for d in (2, 3)]
    y = numpy.empty((x.shape[0], w.shape[0], rows, columns))
    for i in range(rows):
        for j in range(columns):
            part = x[:, :, i * stride:i * stride + w.shape[2], j * stride:j * stride + w.shape[3]]
            y[:, :, i, j] = numpy.einsum('nchw,ochw->no', part, w)
    return y.astype(numpy.float32)


# ---- PyTorch -----------------------------------------------------------------------------------------------------

def model_pytorch_flatten():
    """x.view(x.size(0), -1) before a linear layer: the sizes are computed."""
    x, w, b = random(1, 2, 3, 4), random(2, 5, 12), random(3, 5)
    nodes = [helper.make_node('Relu', ['x'], ['r']), helper.make_node('Shape', ['r'], ['shape']),
             constant('zero', int64(0)[0]),
             helper.make_node('Gather', ['shape', 'zero'], ['n'], axis=0),
             helper.make_node('Unsqueeze', ['n', 'axes'], ['n1']),
             constant('rest', int64(-1)), helper.make_node('Concat', ['n1', 'rest'], ['to'], axis=0),
             helper.make_node('Reshape', ['r', 'to'], ['flat']),
             helper.make_node('Gemm', ['flat', 'w', 'b'], ['y'], transB=1)]
    y = numpy.maximum(x, 0).reshape(2, 12) @ w.T + b
    return model(nodes, {'x': x}, {'y': y}, {'w': w, 'b': b, 'axes': int64(0)})


def model_pytorch_upsample():
    """F.interpolate(scale_factor=2): the size is computed by Shape, Gather, Cast, Mul, Cast, Floor."""
    x = random(4, 1, 2, 3, 3)
    nodes = [helper.make_node('Shape', ['x'], ['shape']), constant('start', int64(2)), constant('end', int64(4)),
             helper.make_node('Slice', ['shape', 'start', 'end'], ['hw']),
             helper.make_node('Cast', ['hw'], ['hwf'], to=FLOAT),
             constant('two', numpy.array([2.0, 2.0], numpy.float32)), helper.make_node('Mul', ['hwf', 'two'], ['big']),
             helper.make_node('Floor', ['big'], ['floor']), helper.make_node('Cast', ['floor'], ['size'], to=INT64),
             constant('zero', int64(0)), helper.make_node('Slice', ['shape', 'zero', 'start'], ['nc']),
             helper.make_node('Concat', ['nc', 'size'], ['sizes'], axis=0),
             helper.make_node('Resize', ['x', 'roi', 'scales', 'sizes'], ['y'], mode='nearest', nearest_mode='floor',
                              coordinate_transformation_mode='asymmetric')]
    empty = numpy.zeros([0], numpy.float32)
    return model(nodes, {'x': x}, {'y': x.repeat(2, 2).repeat(2, 3)}, {'roi': empty, 'scales': empty})


def model_pytorch_layer_norm():
    """LayerNorm and Gelu taken apart, as before opset 17 and 20."""
    x, scale, bias = random(5, 2, 4, 8), random(6, 8), random(7, 8)
    nodes = [helper.make_node('ReduceMean', ['x'], ['mean'], axes=[-1]), helper.make_node('Sub', ['x', 'mean'], ['d']),
             constant('p', numpy.float32(2)), helper.make_node('Pow', ['d', 'p'], ['d2']),
             helper.make_node('ReduceMean', ['d2'], ['var'], axes=[-1]), constant('eps', numpy.float32(1e-5)),
             helper.make_node('Add', ['var', 'eps'], ['ve']), helper.make_node('Sqrt', ['ve'], ['sd']),
             helper.make_node('Div', ['d', 'sd'], ['norm']), helper.make_node('Mul', ['norm', 'scale'], ['ns']),
             helper.make_node('Add', ['ns', 'bias'], ['ln']), constant('sqrt2', numpy.float32(2 ** 0.5)),
             helper.make_node('Div', ['ln', 'sqrt2'], ['l2']), helper.make_node('Erf', ['l2'], ['e']),
             constant('one', numpy.float32(1)), helper.make_node('Add', ['e', 'one'], ['e1']),
             helper.make_node('Mul', ['ln', 'e1'], ['le']), constant('half', numpy.float32(0.5)),
             helper.make_node('Mul', ['le', 'half'], ['y'])]
    return model(nodes, {'x': x}, {'y': gelu(layer_norm(x, scale, bias))}, {'scale': scale, 'bias': bias}, opset=13)


def model_pytorch_attention_mask():
    """masked_fill: a mask of INT64 becomes BOOL, is expanded, and chooses by Where."""
    x = random(8, 2, 2, 4, 4)
    mask = numpy.array([[1, 1, 1, 0], [1, 1, 0, 0]], numpy.int64)
    nodes = [helper.make_node('Unsqueeze', ['mask', 'axes'], ['m4']), helper.make_node('Shape', ['x'], ['shape']),
             helper.make_node('Expand', ['m4', 'shape'], ['wide']),
             helper.make_node('Cast', ['wide'], ['keep'], to=TensorProto.BOOL),
             helper.make_node('Not', ['keep'], ['drop']), constant('low', numpy.float32(-10000)),
             helper.make_node('Where', ['drop', 'low', 'x'], ['masked']),
             helper.make_node('Softmax', ['masked'], ['y'], axis=-1)]
    y = softmax(numpy.where(mask[:, None, None, :] == 0, numpy.float32(-10000), x)).astype(numpy.float32)
    return model(nodes, {'x': x, 'mask': mask}, {'y': y}, {'axes': int64(1, 2)})


def model_pytorch_squeeze():
    """torch.squeeze(dim): an If on whether the dimension has one element."""
    x = random(9, 2, 1, 3)
    then = helper.make_graph([helper.make_node('Squeeze', ['r', 'axes'], ['t'])], 'then', [],
                             [value_info('t', x[:, 0])])
    other = helper.make_graph([helper.make_node('Identity', ['r'], ['o'])], 'else', [], [value_info('o', x)])
    nodes = [helper.make_node('Relu', ['x'], ['r']), helper.make_node('Shape', ['r'], ['shape']),
             constant('axes', int64(1)),
             helper.make_node('Gather', ['shape', 'axes'], ['n']), constant('one', int64(1)),
             helper.make_node('Equal', ['n', 'one'], ['is_one']),
             helper.make_node('If', ['is_one'], ['s'], then_branch=then, else_branch=other),
             helper.make_node('Neg', ['s'], ['y'])]
    return model(nodes, {'x': x}, {'y': -numpy.maximum(x, 0)[:, 0]})


def model_pytorch_symbolic():
    """A dynamic batch, and Clip whose bounds are inputs of the node."""
    x, w = random(10, 3, 4), random(11, 4, 2)
    nodes = [helper.make_node('MatMul', ['x', 'w'], ['m']), constant('low', numpy.float32(0)),
             constant('high', numpy.float32(1)),
             helper.make_node('Clip', ['m', 'low', 'high'], ['y'])]
    return model(nodes, {'x': x}, {'y': (x @ w).clip(0, 1)}, {'w': w}, dims={'x': ['batch', 4]})


def model_pytorch_attention():
    """Self-attention by MatMul, with Split and heads by Reshape and Transpose."""
    x, w = random(12, 1, 4, 8), random(13, 8, 24)
    nodes = [helper.make_node('MatMul', ['x', 'w'], ['qkv']), helper.make_node('Split', ['qkv'], ['q', 'k', 'v'],
                                                                               axis=2)]
    for name in 'qkv':
        nodes += [helper.make_node('Reshape', [name, 'heads'], [name + 'r']),
                  helper.make_node('Transpose', [name + 'r'], [name + 't'],
                                   perm=[0, 2, 3, 1] if name == 'k' else [0, 2, 1, 3])]
    nodes += [helper.make_node('MatMul', ['qt', 'kt'], ['scores']), constant('scale', numpy.float32(0.5)),
              helper.make_node('Mul', ['scores', 'scale'], ['scaled']),
              helper.make_node('Softmax', ['scaled'], ['p'], axis=-1),
              helper.make_node('MatMul', ['p', 'vt'], ['o']), helper.make_node('Transpose', ['o'], ['ot'],
                                                                               perm=[0, 2, 1, 3]),
              helper.make_node('Reshape', ['ot', 'together'], ['y'])]
    q, k, v = [part.reshape(1, 4, 2, 4).transpose(0, 2, 1, 3) for part in numpy.split(x @ w, 3, 2)]
    y = (softmax(q @ k.transpose(0, 1, 3, 2) / 2) @ v).transpose(0, 2, 1, 3).reshape(1, 4, 8)
    return model(nodes, {'x': x}, {'y': y}, {'w': w, 'heads': int64(0, 0, 2, 4), 'together': int64(0, 0, -1)})


def model_einsum():
    a, b = random(14, 2, 3, 4), random(15, 2, 5, 4)
    return model([helper.make_node('Einsum', ['a', 'b'], ['y'], equation='bid,bjd->bij')], {'a': a, 'b': b},
                 {'y': numpy.einsum('bid,bjd->bij', a, b)})


# ---- Keras and tf2onnx -------------------------------------------------------------------------------------------

def model_keras():
    """NHWC: a transposition before and after each convolution, padding by SAME_UPPER, old opset and IR."""
    x, w, b = random(20, 1, 6, 6, 2), random(21, 3, 2, 3, 3), random(22, 3)
    nodes = [helper.make_node('Transpose', ['x'], ['nchw'], perm=[0, 3, 1, 2]),
             helper.make_node('Conv', ['nchw', 'w', 'b'], ['c'], auto_pad='SAME_UPPER', strides=[1, 1],
                              kernel_shape=[3, 3]),
             helper.make_node('Transpose', ['c'], ['nhwc'], perm=[0, 2, 3, 1]),
             helper.make_node('Relu', ['nhwc'], ['r']),
             helper.make_node('Transpose', ['r'], ['back'], perm=[0, 3, 1, 2]),
             helper.make_node('GlobalAveragePool', ['back'], ['g']),
             helper.make_node('Squeeze', ['g'], ['y'], axes=[2, 3])]
    c = conv(x.transpose(0, 3, 1, 2), w, pad=1) + b[:, None, None]
    return model(nodes, {'x': x}, {'y': numpy.maximum(c, 0).mean((2, 3))}, {'w': w, 'b': b}, opset=9, ir=3)


def model_opset_7():
    """Broadcasting, BatchNormalization and Dropout of opset 7, Upsample of scales in an attribute."""
    x = random(23, 1, 2, 2, 2)
    ones = numpy.ones(2, numpy.float32)
    nodes = [helper.make_node('BatchNormalization', ['x', 's', 'b', 'm', 'v'], ['n'], epsilon=0.0),
             helper.make_node('Dropout', ['n'], ['d'], ratio=0.5),
             helper.make_node('Upsample', ['d'], ['u'], scales=[1.0, 1.0, 2.0, 2.0]),
             helper.make_node('Add', ['u', 'w'], ['y'])]
    w = random(24, 4)
    y = (x * 2 + 1).repeat(2, 2).repeat(2, 3) + w
    return model(nodes, {'x': x}, {'y': y}, {'s': 2 * ones, 'b': ones, 'm': 0 * ones, 'v': ones, 'w': w}, opset=7, ir=3)


# ---- ONNX Runtime ------------------------------------------------------------------------------------------------

def microsoft(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, domain='com.microsoft', **attributes)


def model_ort_optimised():
    x, skip, scale, bias = random(30, 1, 4, 8), random(31, 1, 4, 8), random(32, 8), random(33, 8)
    w = random(34, 8, 8)
    nodes = [microsoft('SkipLayerNormalization', ['x', 'skip', 'scale', 'bias'], ['ln'], epsilon=1e-5),
             microsoft('FusedMatMul', ['ln', 'w'], ['m'], alpha=0.5, transB=1),
             microsoft('BiasGelu', ['m', 'bias'], ['g']),
             microsoft('FastGelu', ['g'], ['f']), microsoft('QuickGelu', ['f'], ['y'])]
    g = gelu(layer_norm(x + skip, scale, bias) @ w.T / 2 + bias)
    f = g / 2 * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (g + 0.044715 * g ** 3)))
    y = (f / (1 + numpy.exp(-1.702 * f))).astype(numpy.float32)
    return model(nodes, {'x': x, 'skip': skip}, {'y': y}, {'scale': scale, 'bias': bias, 'w': w})


def model_ort_fused_conv():
    x, w, b = random(35, 1, 2, 5, 5), random(36, 3, 2, 3, 3), random(37, 3)
    nodes = [microsoft('FusedConv', ['x', 'w', 'b'], ['y'], activation='LeakyRelu', activation_params=[0.25],
                       kernel_shape=[3, 3],
                       pads=[1, 1, 1, 1])]
    c = conv(x, w, pad=1) + b[:, None, None]
    return model(nodes, {'x': x}, {'y': numpy.where(c < 0, c / 4, c)}, {'w': w, 'b': b})


def model_ort_attention():
    x, w, b = random(38, 2, 3, 8), random(39, 8, 24), random(40, 24)
    nodes = [microsoft('Attention', ['x', 'w', 'b'], ['y'], num_heads=2)]
    q, k, v = [part.reshape(2, 3, 2, 4).transpose(0, 2, 1, 3) for part in numpy.split(x @ w + b, 3, 2)]
    y = (softmax(q @ k.transpose(0, 1, 3, 2) / 2) @ v).transpose(0, 2, 1, 3).reshape(2, 3, 8)
    return model(nodes, {'x': x}, {'y': y}, {'w': w, 'b': b})


def split_heads(x, heads):
    """[batches, positions, heads * numbers] as [batches, heads, positions, numbers]."""
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def attend(q, k, v, scale, bias=0, softcap=0):
    """Of [batches, heads, positions, numbers]; a query that sees no key has a result of 0."""
    times = q.shape[1] // k.shape[1]
    scores = q @ k.repeat(times, 1).transpose(0, 1, 3, 2) * scale
    scores = (numpy.tanh(scores / softcap) * softcap if softcap else scores) + bias
    sees = numpy.isfinite(scores).any(-1, keepdims=True)
    return numpy.where(sees, softmax(numpy.where(sees, scores, 0)), 0) @ v.repeat(times, 1)


def join_heads(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def hidden_where(condition):
    return numpy.where(condition, numpy.float32(-numpy.inf), numpy.float32(0))


def rotated(x, cosines, sines, interleaved=False):
    """Of [batches, heads, positions, numbers], by angles of [positions, half of the rotated numbers]."""
    size = 2 * cosines.shape[-1]
    pairs = (slice(0, size, 2), slice(1, size, 2)) if interleaved else (slice(0, size // 2), slice(size // 2, size))
    y = x.copy()
    a, b = x[..., pairs[0]], x[..., pairs[1]]
    y[..., pairs[0]], y[..., pairs[1]] = cosines * a - sines * b, sines * a + cosines * b
    return y


def model_ort_language_model():
    """A step of decoding: rotated heads that share keys and values, which are added to those of the past."""
    q, k, v = random(70, 2, 2, 64), random(71, 2, 2, 32), random(72, 2, 2, 32)
    past_k, past_v, angles = random(73, 2, 2, 3, 16), random(74, 2, 2, 3, 16), random(75, 8, 8)
    cosines, sines = numpy.cos(angles), numpy.sin(angles)
    nodes = [microsoft('GroupQueryAttention', ['q', 'k', 'v', 'past_k', 'past_v', 'last', 'count', 'cos', 'sin'],
                       ['a', 'keys', 'values'], num_heads=4, kv_num_heads=2, do_rotary=1, local_window_size=4,
                       softcap=2.0),
             microsoft('RotaryEmbedding', ['a', 'first', 'cos', 'sin'], ['y'], interleaved=1)]
    at = slice(3, 5)
    keys = numpy.concatenate([past_k, rotated(split_heads(k, 2), cosines[at], sines[at])], 2)
    values = numpy.concatenate([past_v, split_heads(v, 2)], 2)
    ahead = numpy.arange(5) - numpy.arange(3, 5)[:, None]
    a = attend(rotated(split_heads(q, 4), cosines[at], sines[at]), keys, values, 0.25,
               hidden_where((ahead > 0) | (ahead < -3)), softcap=2)
    y = rotated(a, cosines[1:3], sines[1:3], interleaved=True)
    return model(nodes, {'q': q, 'k': k, 'v': v, 'past_k': past_k, 'past_v': past_v},
                 {'keys': keys, 'values': values, 'y': join_heads(y)},
                 {'last': numpy.full(2, 4, numpy.int32), 'count': numpy.array([5], numpy.int32), 'first': int64(1),
                  'cos': cosines, 'sin': sines})


def model_ort_embeddings():
    """The beginning of BERT as ONNX Runtime's optimiser writes it, and a GPT's attention behind it."""
    words, segments = numpy.array([[3, 1, 4], [1, 5, 2]], numpy.int32), numpy.array([[0, 0, 1], [0, 1, 1]], numpy.int32)
    mask = numpy.array([[1, 1, 1], [1, 1, 0]], numpy.int32)
    rows, positions, kinds = random(76, 6, 8), random(77, 4, 8), random(78, 2, 8)
    gamma, beta, w, b, past = random(79, 8), random(80, 8), random(81, 8, 24), random(82, 24), random(83, 2, 2, 2, 2, 4)
    nodes = [microsoft('EmbedLayerNormalization',
                       ['words', 'segments', 'rows', 'positions', 'kinds', 'gamma', 'beta', 'mask'], ['x', 'count'],
                       epsilon=1e-5),
             microsoft('Attention', ['x', 'w', 'b', 'all'], ['m'], num_heads=2, mask_filter_value=-100.0),
             microsoft('Attention', ['m', 'w', 'b', '', 'past'], ['y', 'present'], num_heads=2, unidirectional=1)]
    x = layer_norm(rows[words] + positions[:3] + kinds[segments], gamma, beta)

    def heads(data):
        return [split_heads(part, 2) for part in numpy.split(data @ w + b, 3, 2)]
    m = join_heads(attend(*heads(x), 0.5, numpy.where(mask, 0, -100).astype(numpy.float32)[:, None, None]))
    q, k, v = heads(m)
    present = numpy.concatenate([past, numpy.stack([k, v])], 3)
    y = attend(q, *present, 0.5, hidden_where(numpy.arange(5) > numpy.arange(2, 5)[:, None]))
    return model(nodes, {'words': words, 'segments': segments, 'mask': mask, 'past': past},
                 {'count': mask.sum(1, dtype=numpy.int32), 'present': present, 'y': join_heads(y)},
                 {'rows': rows, 'positions': positions, 'kinds': kinds, 'gamma': gamma, 'beta': beta, 'w': w, 'b': b,
                  'all': mask})


def model_ort_diffusion():
    """What ONNX Runtime's optimiser makes of U-Nets: keys and values in one tensor, and fused additions."""
    x, bias, skip = random(84, 2, 4, 8), random(85, 8), random(86, 2, 4, 8)
    keys_values, wide = random(87, 2, 5, 2, 2, 4), random(88, 16)
    gamma, beta, w = random(89, 8), random(90, 8), random(91, 8, 16)
    nodes = [microsoft('BiasAdd', ['x', 'bias', 'skip'], ['s']),
             microsoft('MultiHeadAttention', ['s', 'keys_values'], ['a'], num_heads=2),
             microsoft('FusedMatMulActivation', ['a', 'w'], ['f'], activation='LeakyRelu', activation_alpha=0.5),
             microsoft('BiasSplitGelu', ['f', 'wide'], ['g']), helper.make_node('Reshape', ['g', 'image'], ['i']),
             microsoft('SkipGroupNorm', ['i', 'gamma', 'beta', 'kinds', 'bias'], ['y', 'sum'], groups=2, epsilon=1e-5)]
    kinds = random(92, 2, 8)
    k, v = [keys_values[:, :, :, i].transpose(0, 2, 1, 3) for i in range(2)]
    f = join_heads(attend(split_heads(x + bias + skip, 2), k, v, 0.5)) @ w
    left, right = numpy.split(numpy.where(f < 0, f / 2, f) + wide, 2, -1)
    total = (left * gelu(right)).reshape(2, 2, 2, 8) + kinds[:, None, None] + bias
    groups = total.reshape(2, 4, 2, 4)
    deviation = groups - groups.mean((1, 3), keepdims=True)
    normal = deviation / numpy.sqrt((deviation ** 2).mean((1, 3), keepdims=True) + 1e-5)
    return model(nodes, {'x': x, 'skip': skip, 'keys_values': keys_values},
                 {'sum': total, 'y': normal.reshape(2, 2, 2, 8) * gamma + beta},
                 {'bias': bias, 'wide': wide, 'gamma': gamma, 'beta': beta, 'w': w, 'kinds': kinds,
                  'image': int64(2, 2, 2, 8)})


def model_ort_quantised():
    """Operators of ONNX Runtime's quantiser that ONNX has not."""
    x = numpy.arange(2 * 3 * 8).reshape(2, 3, 8).astype(numpy.uint8) * 5
    w, b = (numpy.arange(8 * 24).reshape(8, 24) * 7 % 50 - 25).astype(numpy.int8), random(93, 24)
    v = (numpy.arange(8 * 4).reshape(8, 4) * 5 % 40 - 20).astype(numpy.int8)
    c = numpy.array([5, -900, 40, 7], numpy.int32)
    nodes = [microsoft('QAttention', ['x', 'w', 'b', 'scale', 'scale', '', 'zero', 'none'], ['a'], num_heads=2),
             microsoft('QuantizeLinear', ['a', 'scale', 'zero'], ['q']),
             helper.make_node('Reshape', ['q', 'flat'], ['r']),
             microsoft('QGemm', ['r', 'scale', 'zero', 'v', 'scale', 'none', 'c', 'coarse', 'zero'], ['g'], alpha=0.5),
             microsoft('QLinearWhere', ['choice', 'g', 'coarse', 'zero', 'other', 'scale', 'zero', 'coarse', 'zero'],
                       ['y'])]
    scale, zero, coarse = numpy.float32(1 / 32), numpy.uint8(128), numpy.float32(1 / 16)

    def quantised(real, step):
        return numpy.clip(numpy.rint(real / step) + 128, 0, 255).astype(numpy.uint8)
    q, k, value = [split_heads(part, 2) for part in numpy.split((x - 128.0) @ w / 1024 + b, 3, 2)]
    a = quantised(join_heads(attend(q, k, value, 0.5)), scale)
    g = quantised(((a.reshape(6, 8) - 128.0) @ v + c) / 2048, coarse)
    choice, other = numpy.arange(24).reshape(6, 4) % 3 > 0, (numpy.arange(24).reshape(6, 4) * 10).astype(numpy.uint8)
    y = numpy.where(choice, g, quantised((other - 128.0) * scale, coarse))
    return model(nodes, {'x': x, 'choice': choice, 'other': other}, {'y': y},
                 {'w': w, 'b': b, 'v': v, 'c': c, 'scale': scale, 'coarse': coarse, 'zero': zero, 'none': numpy.int8(0),
                  'flat': int64(6, 8)})


def model_attention():
    """ONNX's own operators for attention: a past, heads that share keys, and a query that sees no key."""
    x, k, v = random(94, 2, 3, 16), random(95, 2, 3, 8), random(96, 2, 3, 8)
    past_k, past_v, angles = random(97, 2, 2, 2, 4), random(98, 2, 2, 2, 4), random(99, 6, 2)
    cosines, sines = numpy.cos(angles), numpy.sin(angles)
    mask = numpy.array([[1, 0, 1, 1, 1], [0, 0, 0, 0, 1], [1, 1, 0, 1, 0]], bool)
    positions = numpy.array([[2, 3, 4], [0, 2, 5]], numpy.int64)
    nodes = [helper.make_node('RotaryEmbedding', ['x', 'cos', 'sin', 'positions'], ['q'], num_heads=4),
             helper.make_node('Attention', ['q', 'k', 'v', 'mask', 'past_k', 'past_v'], ['a', 'keys', 'values'],
                              q_num_heads=4, kv_num_heads=2, is_causal=1),
             helper.make_node('Attention', ['a', 'a', 'a', 'bias'], ['y'], q_num_heads=2, kv_num_heads=2, softcap=1.5,
                              scale=0.25)]
    q = rotated(split_heads(x, 4), cosines[positions][:, None], sines[positions][:, None])
    keys, values = [numpy.concatenate([past, split_heads(new, 2)], 2) for past, new in ((past_k, k), (past_v, v))]
    hidden = hidden_where(~mask | (numpy.arange(5) > numpy.arange(2, 5)[:, None]))
    a = join_heads(attend(q, keys, values, 0.5, hidden))
    bias, heads = random(100, 3, 3), split_heads(a, 2)
    return model(nodes, {'x': x, 'k': k, 'v': v, 'mask': mask, 'past_k': past_k, 'past_v': past_v},
                 {'keys': keys, 'values': values,
                  'y': join_heads(attend(heads, heads, heads, 0.25, bias, softcap=1.5))},
                 {'cos': cosines, 'sin': sines, 'positions': positions, 'bias': bias}, opset=23)


def model_ort_packed_weights():
    """Weights of four bits in bytes, with zero points and without, as ONNX Runtime's language models have them."""
    def packed(codes):
        return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(numpy.uint8)
    x, bias = random(61, 2, 3, 128), random(62, 96)
    codes, more = numpy.arange(96 * 128).reshape(96, 4, 32) * 7 % 16, numpy.arange(80 * 96).reshape(80, 3, 32) * 5 % 16
    scales, last = abs(random(63, 96, 4)) / 8, abs(random(64, 80, 3)) / 8
    zeros = numpy.arange(96 * 4).reshape(96, 4) * 3 % 16
    nodes = [microsoft('MatMulNBits', ['x', 'w', 'scales', 'zeros', '', 'bias'], ['h'], K=128, N=96, bits=4, block_size=32),
             microsoft('MatMulNBits', ['h', 'v', 'last'], ['y'], K=96, N=80, bits=4, block_size=32)]
    h = x @ ((codes - zeros[..., None]) * scales[..., None]).reshape(96, 128).T + bias
    y = h @ ((more - 8) * last[..., None]).reshape(80, 96).T
    return model(nodes, {'x': x}, {'y': y.astype(numpy.float32)},
                 {'w': packed(codes), 'scales': scales.reshape(-1), 'zeros': packed(zeros).reshape(-1), 'bias': bias,
                  'v': packed(more), 'last': last.reshape(-1)})


def model_qdq():
    """Quantise and dequantise around everything; weights of INT8 are dequantised constants."""
    x = numpy.linspace(-2, 2, 8, dtype=numpy.float32).reshape(2, 4)
    w = numpy.array([[10, -20], [30, 40], [-50, 60], [70, 80]], numpy.int8)
    scale, zero, w_scale, w_zero = numpy.float32(0.25), numpy.uint8(128), numpy.float32(0.5), numpy.int8(0)
    nodes = [helper.make_node('QuantizeLinear', ['x', 'scale', 'zero'], ['q']),
             helper.make_node('DequantizeLinear', ['q', 'scale', 'zero'], ['d']),
             helper.make_node('DequantizeLinear', ['w', 'w_scale', 'w_zero'], ['wd']),
             helper.make_node('MatMul', ['d', 'wd'], ['y'])]
    d = (numpy.clip(numpy.rint(x / scale) + 128, 0, 255) - 128) * scale
    return model(nodes, {'x': x}, {'y': (d @ (w * w_scale)).astype(numpy.float32)},
                 {'scale': scale, 'zero': zero, 'w': w, 'w_scale': w_scale, 'w_zero': w_zero})


def four_bits(name, kind, codes):
    """A tensor of INT4 or UINT4: two codes in a byte, the first one in the low half."""
    halves = numpy.append(codes.reshape(-1), [0] * (codes.size % 2)).astype(numpy.int64) & 15
    packed = (halves[0::2] | halves[1::2] << 4).astype(numpy.uint8)
    return onnx.TensorProto(name=name, data_type=kind, dims=codes.shape, raw_data=packed.tobytes())


def model_weights_of_four_bits():
    """As quantisers of language models write them: a scale for each block of a column, and one for each column."""
    x, blocks, columns = random(57, 2, 96), abs(random(58, 3, 64)), abs(random(59, 80))
    codes, zeros = numpy.arange(96 * 64).reshape(96, 64) * 7 % 16 - 8, numpy.arange(3 * 64).reshape(3, 64) * 3 % 16 - 8
    positive = numpy.arange(64 * 80).reshape(64, 80) * 5 % 16
    nodes = [helper.make_node('DequantizeLinear', ['w', 'blocks', 'zeros'], ['wd'], axis=0, block_size=32),
             helper.make_node('MatMul', ['x', 'wd'], ['h']),
             helper.make_node('DequantizeLinear', ['v', 'columns'], ['vd'], axis=1),
             helper.make_node('MatMul', ['h', 'vd'], ['y'])]
    w = (codes - zeros.repeat(32, 0)) * blocks.repeat(32, 0)
    made = model(nodes, {'x': x}, {'y': (x @ w @ (positive * columns)).astype(numpy.float32)},
                 {'blocks': blocks, 'columns': columns}, opset=21, ir=10)
    made.proto.graph.initializer.extend([four_bits('w', INT4, codes), four_bits('zeros', INT4, zeros),
                                         four_bits('v', UINT4, positive)])
    return made


def model_sparse_weights():
    """Of a pruned model: two weights of twelve are left, and the scale is a list in its node."""
    x = random(60, 2, 4)
    w = numpy.zeros((4, 3), numpy.float32)
    w[0, 1], w[2, 1] = 1.5, -2.5
    nodes = [helper.make_node('MatMul', ['x', 'w'], ['h']),
             helper.make_node('Constant', [], ['scale'], value_floats=[1.0, 2.0, 3.0]),
             helper.make_node('Mul', ['h', 'scale'], ['y'])]
    made = model(nodes, {'x': x}, {'y': x @ w * numpy.array([1, 2, 3], numpy.float32)})
    made.proto.graph.sparse_initializer.append(helper.make_sparse_tensor(
        numpy_helper.from_array(numpy.array([1.5, -2.5], numpy.float32), 'w'),
        numpy_helper.from_array(int64(1, 7), 'positions'), [4, 3]))
    return made


def model_dynamic_quantisation():
    """The range of x is 0 to 2.55, so that its scale is 0.01."""
    x = numpy.array([[0, 1, 2.55], [0.5, 0.25, 2]], numpy.float32)
    w = numpy.array([[1, -2], [3, 4], [-5, 6]], numpy.int8)
    w_scale = numpy.float32(0.5)
    nodes = [helper.make_node('DynamicQuantizeLinear', ['x'], ['q', 's', 'z']),
             helper.make_node('MatMulInteger', ['q', 'w', 'z'], ['i']),
             helper.make_node('Cast', ['i'], ['f'], to=FLOAT),
             helper.make_node('Mul', ['s', 'w_scale'], ['scale']), helper.make_node('Mul', ['f', 'scale'], ['y'])]
    q = numpy.rint(x.astype(numpy.float64) / (numpy.float32(2.55) / numpy.float32(255)))
    return model(nodes, {'x': x}, {'y': ((q @ w) * numpy.float32(2.55) / 255 / 2).astype(numpy.float32)},
                 {'w': w, 'w_scale': w_scale})


def model_qoperator():
    a, b = numpy.array([0, 100, 200, 255], numpy.uint8), numpy.array([10, 20, 30, 40], numpy.uint8)
    s = {name: numpy.float32(value) for name, value in (('as', 0.5), ('bs', 0.25), ('ys', 1))}
    z = {name: numpy.uint8(value) for name, value in (('az', 100), ('bz', 20), ('yz', 50))}
    y = numpy.clip(numpy.rint((a - 100.0) * 0.5 + (b - 20.0) * 0.25) + 50, 0, 255).astype(numpy.uint8)
    return model([microsoft('QLinearAdd', ['a', 'as', 'az', 'b', 'bs', 'bz', 'ys', 'yz'], ['y'])], {'a': a, 'b': b},
                 {'y': y},
                 {**s, **z})


def model_float16():
    """As a converter writes it: casts at both ends."""
    x = numpy.array([[1, 2], [3, 4]], numpy.float32)
    w = numpy.array([[0.5, -1], [2, 0.25]], numpy.float16)
    nodes = [helper.make_node('Cast', ['x'], ['h'], to=FLOAT16), helper.make_node('MatMul', ['h', 'w'], ['m']),
             helper.make_node('Relu', ['m'], ['r']), helper.make_node('Cast', ['r'], ['y'], to=FLOAT)]
    return model(nodes, {'x': x}, {'y': numpy.maximum(x @ w.astype(numpy.float32), 0)}, {'w': w})


# ---- forms of files ----------------------------------------------------------------------------------------------

def model_external_data():
    x, w = random(50, 2, 32), random(51, 32, 64)
    return model([helper.make_node('MatMul', ['x', 'w'], ['y'])], {'x': x}, {'y': x @ w}, {'w': w}, external=('w',))


def model_functions():
    """A local function with an attribute, called twice, inside another one."""
    inner = helper.make_function('own', 'Scaled', ['a'], ['b'], [helper.make_node('Elu', ['a'], ['b'])],
                                 [helper.make_opsetid('', 17)], ['alpha'])
    reference = inner.node[0].attribute.add()
    reference.name, reference.ref_attr_name, reference.type = 'alpha', 'alpha', onnx.AttributeProto.FLOAT
    outer = helper.make_function('own', 'Twice', ['a'], ['c'],
                                 [helper.make_node('Scaled', ['a'], ['b'], domain='own', alpha=0.5),
                                  helper.make_node('Scaled', ['b'], ['c'], domain='own', alpha=2.0)],
                                 [helper.make_opsetid('own', 1), helper.make_opsetid('', 17)])
    x = random(52, 3, 3)

    def elu(a, alpha):
        return numpy.where(a < 0, alpha * (numpy.exp(a) - 1), a).astype(numpy.float32)
    return model([helper.make_node('Twice', ['x'], ['y'], domain='own')], {'x': x}, {'y': elu(elu(x, 0.5), 2)},
                 functions=[inner, outer], opsets=[helper.make_opsetid('own', 1)])


def model_several_outputs():
    """Outputs in the middle and at the end, of one node and of several, and a dead branch."""
    x = numpy.array([[3, 1, 2], [4, 6, 5]], numpy.float32)
    nodes = [helper.make_node('TopK', ['x', 'k'], ['values', 'indices'], axis=1),
             helper.make_node('Neg', ['values'], ['y']),
             helper.make_node('Det', ['x'], ['dead'])]
    return model(nodes, {'x': x}, {'values': numpy.array([[3, 2], [6, 5]], numpy.float32),
                                   'indices': numpy.array([[0, 2], [1, 2]], numpy.int64),
                                   'y': numpy.array([[-3, -2], [-6, -5]], numpy.float32)}, {'k': int64(2)})


def model_detector():
    """NonMaxSuppression at the end: what comes before it is judged."""
    boxes, scores = random(53, 1, 4, 4), random(54, 1, 2, 4)
    nodes = [helper.make_node('Sigmoid', ['scores'], ['p']), helper.make_node('Relu', ['boxes'], ['b']),
             helper.make_node('NonMaxSuppression', ['b', 'p'], ['selected'])]
    made = model(nodes, {'boxes': boxes, 'scores': scores}, {'p': 1 / (1 + numpy.exp(-scores)), 'selected': int64()},
                 cuts=frozenset(['NonMaxSuppression']))
    del made.outputs['selected']
    return made


def model_operator_of_its_own():
    """What comes before an operator that nobody knows is judged."""
    x = random(55, 1, 3, 8)
    w = random(56, 8, 4)
    nodes = [helper.make_node('Relu', ['x'], ['a']), helper.make_node('MatMul', ['a', 'w'], ['b']),
             helper.make_node('Custom', ['b'], ['c'], domain='own'), helper.make_node('Neg', ['b'], ['y'])]
    return model(nodes, {'x': x}, {'y': -numpy.maximum(x, 0) @ w, 'c': x}, {'w': w},
                 opsets=[helper.make_opsetid('own', 1)], cuts=frozenset(['own.Custom']))


def all_models():
    return {name.removeprefix('model_'): make() for name, make in globals().items() if name.startswith('model_')}


def write(folder, name, made):
    """FOLDER/NAME/NAME.onnx, with its data in test_data_set_0 and external data beside it."""
    folder = os.path.join(folder, name)
    os.makedirs(os.path.join(folder, 'test_data_set_0'))
    for initializer in made.proto.graph.initializer:
        if initializer.name in made.external:
            with open(os.path.join(folder, initializer.name + '.bin'), 'wb') as file:
                file.write(initializer.raw_data)
            onnx.external_data_helper.set_external_data(initializer, initializer.name + '.bin', 0,
                                                        len(initializer.raw_data))
            initializer.ClearField('raw_data')
    path = os.path.join(folder, name + '.onnx')
    with open(path, 'wb') as file:
        file.write(made.proto.SerializeToString())
    for kind, arrays in (('input', made.inputs), ('output', made.outputs)):
        for i, (tensor, array) in enumerate(arrays.items()):
            with open(os.path.join(folder, 'test_data_set_0', f'{kind}_{i}.pb'), 'wb') as file:
                file.write(numpy_helper.from_array(numpy.ascontiguousarray(array), tensor).SerializeToString())
    return path
