"""Vectors of eight numbers for numba kernels, and the operations that the kernels need.

Numba leaves vectorisation to LLVM, which fails on loops with several accumulators. Here a value of type
`Lanes` is one LLVM vector, so the author of a kernel decides what is in registers. Works for float32, float64
and int32 on every architecture that LLVM supports.
"""

import math
import operator

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

from ftor.ops.precompiled import cache_of, kernels

WIDTH = 8
_FUSED = ("contract",)  # lets LLVM fuse a product and a sum


class Lanes(types.Type):
    """Eight values of one scalar type."""

    def __init__(self, dtype) -> None:
        self.dtype = dtype
        super().__init__(name=f"Lanes({dtype})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, lanes: Lanes) -> None:
        element = manager.lookup(lanes.dtype).get_value_type()
        super().__init__(manager, lanes, ir.VectorType(element, WIDTH))


def _pointer(context, builder, array_type, array, index, pointee):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), ir.PointerType(pointee))


def _splat(builder, vector_type, value):
    index = ir.IntType(32)
    empty = ir.Constant(vector_type, ir.Undefined)
    first = builder.insert_element(empty, value, ir.Constant(index, 0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(index, WIDTH), [0] * WIDTH))


def _constant(vector, value: float):
    return ir.Constant(vector.type, [value] * WIDTH)


@intrinsic
def load(typing, array, index):
    """Read eight neighbours of a contiguous one-dimensional array; no bounds are checked."""
    lanes = Lanes(array.dtype)

    def generate(context, builder, signature, args):
        vector = context.get_value_type(lanes)
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1], vector)
        return builder.load(pointer, align=array.dtype.bitwidth // 8)

    return lanes(array, types.intp), generate


@intrinsic
def store(typing, array, index, lanes):
    """Write eight neighbours of a contiguous one-dimensional array; no bounds are checked."""

    def generate(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1], args[2].type)
        builder.store(args[2], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic
def spread(typing, array, index):
    """Read one number of a contiguous array into all lanes; no bounds are checked."""
    lanes = Lanes(array.dtype)

    def generate(context, builder, signature, args):
        element = context.get_value_type(array.dtype)
        pointer = _pointer(context, builder, signature.args[0], args[0], args[1], element)
        return _splat(builder, context.get_value_type(lanes), builder.load(pointer))

    return lanes(array, types.intp), generate


@intrinsic
def fill(typing, value):
    """Put one number into all lanes."""
    lanes = Lanes(value)

    def generate(context, builder, signature, args):
        return _splat(builder, context.get_value_type(lanes), args[0])

    return lanes(value), generate


@intrinsic
def like(typing, x, value):
    """Put one number into all lanes, converted to the type of x."""

    def generate(context, builder, signature, args):
        number = context.cast(builder, args[1], signature.args[1], x.dtype)
        return _splat(builder, args[0].type, number)

    return x(x, value), generate


def _fma(builder, a, b, c):
    bits = {ir.FloatType(): 32, ir.DoubleType(): 64}[a.type.element]
    function = ir.FunctionType(a.type, [a.type] * 3)
    name = f"llvm.fma.v{WIDTH}f{bits}"
    return builder.call(cgutils.get_or_insert_function(builder.module, function, name), [a, b, c])


@intrinsic
def fma(typing, a, b, c):
    """a·b + c with one rounding."""

    def generate(context, builder, signature, args):
        return _fma(builder, *args)

    return a(a, b, c), generate


# By bits: those of the mantissa, the largest power of 2, the terms of the series that are above rounding, and
# log 2 in two parts.
_EXPONENTIAL = {
    32: (23, 127, 7, (0.693147182464599609375, -1.904654323148236e-9)),
    64: (52, 1023, 13, (math.log(2), 2.3190468138462996e-17)),
}


@intrinsic
def expm1(typing, x):
    """exp(x) − 1 within two roundings, also near 0; NaN where x is NaN.

    With k the integer nearest to x / log 2 and r = x − k·log 2, it is 2^k·(exp(r) − 1) + (2^k − 1), where
    exp(r) − 1 is a short series. Beyond the range of floats it is −1 or a very large number, never infinite.
    """
    bits = x.dtype.bitwidth
    mantissa, largest, terms, log2 = _EXPONENTIAL[bits]

    def generate(context, builder, signature, args):
        def constant(value):
            return _constant(args[0], value)

        def fused(a, b, c):
            return _fma(builder, a, b, c)

        (x,) = args
        high, low = (largest - 1) * math.log(2), (1 - largest) * math.log(2)
        x = builder.select(builder.fcmp_ordered(">", x, constant(high)), constant(high), x)
        x = builder.select(builder.fcmp_ordered("<", x, constant(low)), constant(low), x)
        # Adding 1.5·2^mantissa rounds to an integer and leaves it in the lowest bits.
        rounder = constant(1.5 * 2.0**mantissa)
        shifted = fused(x, constant(1 / math.log(2)), rounder)
        minus_k = builder.fsub(rounder, shifted)
        upper, lower = log2
        r = fused(minus_k, constant(lower), fused(minus_k, constant(upper), x))
        series = constant(1 / math.factorial(terms))
        for k in range(terms - 1, 1, -1):
            series = fused(series, r, constant(1 / math.factorial(k)))
        series = fused(builder.fmul(series, r), r, r)
        integers = ir.VectorType(ir.IntType(bits), WIDTH)
        k = builder.shl(builder.bitcast(shifted, integers), ir.Constant(integers, [mantissa] * WIDTH))
        power = builder.bitcast(builder.add(k, builder.bitcast(constant(1.0), integers)), x.type)
        return fused(power, series, builder.fsub(power, constant(1.0)))

    return x(x), generate


@intrinsic
def relu(typing, x):
    """max(x, 0), and NaN where x is NaN."""

    def generate(context, builder, signature, args):
        zero = _constant(args[0], 0.0)
        return builder.select(builder.fcmp_ordered("<", args[0], zero), zero, args[0])

    return x(x), generate


@intrinsic
def step(typing, x):
    """1 where x > 0, else 0: the derivative of `relu`."""

    def generate(context, builder, signature, args):
        zero = _constant(args[0], 0.0)
        return builder.select(builder.fcmp_ordered(">", args[0], zero), _constant(args[0], 1.0), zero)

    return x(x), generate


@intrinsic
def keep(typing, x, noise, threshold):
    """`x` where `noise` > `threshold`, else 0."""

    def generate(context, builder, signature, args):
        x, noise, threshold = args
        return builder.select(builder.icmp_signed(">", noise, threshold), x, _constant(x, 0.0))

    return x(x, noise, threshold), generate


@intrinsic
def total(typing, x):
    """Sum of the lanes, added in pairs."""

    def generate(context, builder, signature, args):
        parts = [builder.extract_element(args[0], ir.Constant(ir.IntType(32), i)) for i in range(WIDTH)]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [builder.fadd(a, b) for a, b in zip(parts[:half], parts[half:], strict=True)]
        return parts[0]

    return x.dtype(x), generate


@intrinsic
def totals(typing, a, b, c, d, e, f, g, h):
    """The sums of the lanes of eight vectors, in one vector: faster than eight times `total`."""

    def generate(context, builder, signature, args):
        def add_neighbours(x, y, even, odd):
            mask = ir.VectorType(ir.IntType(32), WIDTH)
            pick = [builder.shuffle_vector(x, y, ir.Constant(mask, lanes)) for lanes in (even, odd)]
            return builder.fadd(*pick)

        # The first two rounds stay within 128 bits, which is fast on x86; the last one adds the halves.
        within = [0, 2, 8, 10, 4, 6, 12, 14], [1, 3, 9, 11, 5, 7, 13, 15]
        halves = [0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]
        for masks in (within, within, halves):
            args = [add_neighbours(x, y, *masks) for x, y in zip(args[::2], args[1::2], strict=True)]
        return args[0]

    return a(a, b, c, d, e, f, g, h), generate


def _lanewise(scalar_operator, float_name: str, int_name: str) -> None:
    """Make a Python operator work on two `Lanes` of the same type."""

    @intrinsic
    def apply(typing, a, b):
        def generate(context, builder, signature, args):
            if isinstance(a.dtype, types.Float):
                return getattr(builder, float_name)(*args, flags=_FUSED)
            return getattr(builder, int_name)(*args)

        return a(a, b), generate

    @overload(scalar_operator)
    def choose(a, b):
        if isinstance(a, Lanes) and a == b:
            return lambda a, b: apply(a, b)
        return None


_lanewise(operator.add, "fadd", "add")
_lanewise(operator.sub, "fsub", "sub")
_lanewise(operator.mul, "fmul", "mul")
_lanewise(operator.truediv, "fdiv", "")  # of floats only


# numpy's division has no test for 0, which would keep loops from becoming vector instructions
_OPTIONS = {"nogil": True, "error_model": "numpy"}


def kernel(function):
    """Compile a kernel on first use, keep it on disk, and let it run without the interpreter's lock.

    A wheel may bring it compiled: see `precompiled`. Where nothing can be written, it is not kept.

    Numba compiles again when the kernel's own file changes, but not when a file changes that it imports. Run
    `make clean` after a change of this module, of `splits`, of `dropout` or of `cyk.cpu`.

    Whoever uses a model for the first time waits for the compilation. Loops over numbers compile fast.
    Sorting, and assigning an array to a slice or to a row, take a second each.
    """
    compiled = numba.njit(no_cfunc_wrapper=True, **_OPTIONS)(function)
    compiled._cache = cache_of(function)
    kernels.append(compiled)
    return compiled


def shared_part(function):
    """Compile a long function that only kernels call, and several of them, once for all of them."""
    return numba.njit(no_cfunc_wrapper=True, no_cpython_wrapper=True, **_OPTIONS)(function)


def part(function):
    """Let kernels compile a function as a part of themselves, which takes less time than by itself."""
    return numba.njit(inline="always", **_OPTIONS)(function)


@part
def sigmoid(x):
    """1 / (1 + exp(−x))."""
    return like(x, 1.0) / (like(x, 2.0) + expm1(like(x, 0.0) - x))


@part
def tanh(x):
    """Hyperbolic tangent, accurate also near 0."""
    e = expm1(x + x)
    return e / (e + like(x, 2.0))
