"""The compiled kernels of one optimizer, by ctypes: the library, its functions and its parameters.

A copy of this file stands beside the Python modules of a built library; it imports nothing of symmem.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from functools import cached_property
from typing import Any

SUFFIXES = {"float64": "f64", "float32": "f32", "bfloat16": "bf16", "float16": "f16"}
VECTOR, COUNT, STEP, REAL = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64, ctypes.c_double
ROLES = {
    "memoryless": (VECTOR,) * 3 + (COUNT, STEP),
    "direction": (VECTOR,) * 3 + (COUNT, STEP),
    "correction": (VECTOR,) * 4 + (COUNT, STEP, REAL),
    "step": (VECTOR,) * 3 + (COUNT, STEP, REAL),
    "straight": (VECTOR,) * 4 + (COUNT, STEP, REAL),
    "update": (VECTOR,) * 3 + (COUNT, STEP, REAL),
    "corrected_update": (VECTOR,) * 4 + (COUNT, STEP, REAL, REAL),
    "straight_update": (VECTOR,) * 4 + (COUNT, STEP, REAL, REAL),
}
"""The functions on a step, and what they take before the parameters."""
ENDING = ".dylib" if sys.platform == "darwin" else ".so"
STEPS = 2**63  # the library counts steps in 64 bits with a sign
REBUILT = "build it again, and start Python again where it was loaded before"
MOST_SETTINGS = 256  # of which the packed parameters are kept


def step_number(n: Any) -> int:
    """The step as the library takes it; the limit is -1."""
    if n is None:
        return -1
    try:
        step = int(n)
    except (TypeError, ValueError, OverflowError):
        step = -1
    if step != n or not 0 <= step < STEPS:
        raise ValueError(f"n = {n!r}: steps count from 0, below 2**63; n=None is the limit")
    return step


class Kernels:
    """A library's functions of one optimizer; ``place`` is the file of the module that asks for them.

    ``parameters`` are the names of the optimizer's parameters, in the order in which a call gives their values;
    ``declaration`` is the digest of the declared formulas, ``checked`` makes a call of theta and the settings.
    """

    def __init__(
        self,
        name: str,
        prefix: str,
        library: str,
        parameters: Sequence[str],
        place: str,
        *,
        declaration: str,
        checked: Any,
    ) -> None:
        self.name, self.prefix, self._checked, self.start_of = name, prefix, checked, checked.start_of
        self._declaration = declaration
        self._library, self._place, self._names = library, place, tuple(parameters)
        fields = [(parameter, ctypes.c_double) for parameter in parameters or ["unused"]]
        self.params: Any = type("Params", (ctypes.Structure,), {"_fields_": fields})
        self.known_functions: dict[Any, dict[str, Any]] = {}
        self.known_settings: dict[Any, tuple[int, Any, int]] = {}

    @cached_property
    def library(self) -> ctypes.CDLL:
        """The library, found from the module's own place, with the types of its functions."""
        above = os.path.dirname(os.path.dirname(os.path.abspath(self._place)))
        inside = os.path.join(above, self._library, "lib")  # of an installed wheel
        folder = inside if os.path.isdir(inside) else os.path.join(above, "lib")
        first, alone = (os.path.join(folder, f"lib{self._library}{more}{ENDING}") for more in ("", "_alone"))
        try:
            library = ctypes.CDLL(first)
        except OSError:  # no OpenMP on this machine: a wheel has a library without threads beside it
            library = ctypes.CDLL(alone if os.path.exists(alone) else first)
        params = ctypes.POINTER(self.params)
        results: dict[str, tuple[tuple[Any, ...], Any]] = {}
        for suffix in SUFFIXES.values():
            results |= {f"{role}_{suffix}": ((*types, params), ctypes.c_int) for role, types in ROLES.items()}
        results |= {
            "params_size": ((), COUNT),
            "directions": ((STEP,), COUNT),
            "memories": ((), COUNT),
            "message": ((ctypes.c_int,), ctypes.c_char_p),
        }
        results |= dict.fromkeys(("name", "version", "declaration"), ((), ctypes.c_char_p))
        for name, (given, result) in results.items():
            function = getattr(library, f"{self.prefix}_{name}")
            function.argtypes, function.restype = given, result
        if getattr(library, f"{self.prefix}_params_size")() != ctypes.sizeof(self.params):
            raise ImportError(
                f"{self.name}: the library {library._name} has other parameters; build it again"
            )
        if getattr(library, f"{self.prefix}_declaration")().decode() != self._declaration:
            raise ImportError(
                f"{self.name}: the library {library._name} is of another declaration; {REBUILT}"
            )
        return library

    def symbol(self, name: str) -> Any:
        """A function of the library, by its name without the prefix."""
        return getattr(self.library, f"{self.prefix}_{name}")

    def version(self) -> str:
        """The version of symmem that wrote the library."""
        return str(self.symbol("version")().decode())

    def functions(self, dtype: Any) -> dict[str, Any]:
        """The functions of the library on vectors of a type, by their roles; they are looked up once."""
        found = self.known_functions.get(dtype)
        if found is None:
            suffix = SUFFIXES.get(str(dtype).rpartition(".")[2])
            if suffix is None:
                *others, last = SUFFIXES
                raise TypeError(f"theta has the type {dtype}, not {', '.join(others)} or {last}")
            found = self.known_functions[dtype] = {role: self.symbol(f"{role}_{suffix}") for role in ROLES}
        return found

    @cached_property
    def products(self) -> tuple[int, int]:
        """How many products with the Hessian a step asks for: at a finite n, and in the limit."""
        directions = self.symbol("directions")
        return int(directions(0)), int(directions(-1))

    @cached_property
    def memories(self) -> int:
        """How many vectors the optimizer keeps as its memory."""
        return int(self.symbol("memories")())

    def packed(self, parameters: Sequence[float]) -> Any:
        """The values of all parameters, as the library takes them."""
        if len(parameters) != len(self._names):
            names = ", ".join(self._names) or "none"
            raise ValueError(f"{self.name}: {len(parameters)} parameters, not {len(self._names)} ({names})")
        return self.params(*parameters)

    def settings(self, n: Any, parameters: tuple[float, ...]) -> tuple[int, Any, int]:
        """The step, the parameters as an argument, and how many products are asked for; kept, as calls come again."""
        key = (n, parameters)
        try:
            found = self.known_settings.get(key)
        except TypeError:  # something that has no hash, such as a tensor of PyTorch that stands for a number
            found, key = None, None  # type: ignore[assignment]
        if found is None:
            step = step_number(n)
            found = step, ctypes.byref(self.packed(parameters)), self.products[step < 0]
            if key is not None:
                if len(self.known_settings) >= MOST_SETTINGS:
                    self.known_settings = {}  # a new one: another thread may be reading the old
                self.known_settings[key] = found
        return found

    def call(self, theta: Any, n: int | None, *parameters: float) -> Any:
        """A call at theta and step n; the limit is None."""
        return self._checked(self, theta, n, parameters)
