"""Four words of 64 bits as one value, for Numba's loops: tables and counters of 256 bits are
handled in one step.

Numba leaves it to LLVM to find such steps, and it does not find these (four neighbouring words at
an address that was looked up). Addresses are those of arrays that the calling function holds: an
array must not end while its address is in use.
"""

# ruff: noqa: ARG001 (Numba hands its generators of code more than they need)
from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic, models, register_model

WORDS = 4
BITS = 64 * WORDS

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(_WORD, WORDS)


class _Four(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name="FourWords")


_four = _Four()
_Generator = Any  # what an intrinsic gives back: its signature, and what writes its code


@register_model(_Four)
class _FourModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


@intrinsic  # type: ignore[untyped-decorator]
def load(_: Any, address: Any, word: Any) -> _Generator:
    """Four words from this one on, counted from an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = builder.load(_pointer(builder, *arguments))
        value.align = 8
        return value

    return _four(types.uint64, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def store(_: Any, address: Any, word: Any, value: Any) -> _Generator:
    """Put four words there."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _pointer(builder, *arguments[:2])).align = 8
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64, _four), generate


def _pointer(builder: Any, address: Any, word: Any) -> Any:
    start = builder.inttoptr(address, _WORD.as_pointer())
    return builder.bitcast(builder.gep(start, [word]), _VECTOR.as_pointer())


def _bitwise(instruction: str) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def operation(_: Any, one: Any, other: Any) -> _Generator:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments)

        return _four(_four, _four), generate

    return operation


both, either, differ = _bitwise("and_"), _bitwise("or_"), _bitwise("xor")


@njit(nogil=True)  # type: ignore[untyped-decorator]
def add(one: Any, two: Any, three: Any) -> Any:
    """Three bits at every place as a sum of two bits: the lower one and the carry."""
    unequal = differ(one, two)
    return differ(unequal, three), either(both(one, two), both(unequal, three))
