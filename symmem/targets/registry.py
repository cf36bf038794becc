"""The targets: one registration each.  Nothing is imported before it is asked for: help needs no SymPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from symmem.errors import SymmemError

if TYPE_CHECKING:
    from symmem.derivation.derivation import Derivation


@dataclass(frozen=True)
class Options:
    """What ``symmem emit`` takes beside the target; a target lists those that it knows."""

    standalone: bool = False
    pdf: bool = False
    runtime: bool = False
    part: str = "whole"
    width: str = "article"
    coq: bool = False
    minibatch: bool = False


@dataclass(frozen=True)
class Target:
    """A target by name: the function ``emit(derivation, output, options)`` in the module ``home``.

    It writes to ``output``, a file or a folder, and returns what goes to standard output.  Where ``text`` names a
    function, the target is one text, ``text(derivation)``, and can stand on standard output or in a file.
    """

    name: str
    about: str
    home: str
    text: str | None = None
    options: tuple[str, ...] = ()
    needs_output: str = ""
    """What to say where no output is given; empty where standard output will do."""
    takes_several: bool = False
    """Whether ``emit`` of its module takes several derivations, for one text about all of them."""
    calls_back: bool = True
    """Whether its code can call a function of the user's, so that an opaque function can be given to it."""

    def source(self, derivation: Derivation, options: Options | None = None) -> str:
        """The text of a target that is one text."""
        assert self.text is not None, f"{self.name} is several files"
        given = {"minibatch": True} if options is not None and options.minibatch else {}
        made: str = self._function(self.text)(derivation, **given)
        return made

    def emit_all(self, derivations: Sequence[Derivation], output: str | None, options: Options) -> str:
        """The same for several derivations, where the target takes them; else there is but one."""
        if self.takes_several:
            said: str = self._function("emit")(derivations, output, options)
            return said
        (derivation,) = derivations
        return self.emit(derivation, output, options)

    def emit(self, derivation: Derivation, output: str | None, options: Options) -> str:
        """Writes what goes to files; returns what goes to standard output: the text, or the names of several files."""
        if self.takes_several:
            return self.emit_all((derivation,), output, options)
        if self.text is None or options.runtime:
            said: str = self._function("emit")(derivation, output, options)
            return said
        text = self.source(derivation, options)
        if output is None:
            return text
        import_module("symmem.output.files").write_whole(output, text)
        return ""

    def _function(self, name: str) -> Callable[..., str]:
        return getattr(import_module(self.home), name)


_ALL = (
    Target(
        "latex",
        "a paper about one optimizer or several",
        "symmem.targets.latex",
        options=("standalone", "pdf", "part", "width", "coq", "minibatch"),
        takes_several=True,
    ),
    Target("numpy", "functions of arrays", "symmem.targets.numpy.module", "numpy_module", ("minibatch",)),
    Target(
        "torch",
        "functions of tensors and an optimizer",
        "symmem.targets.torch.target",
        "torch_module",
        ("runtime", "minibatch"),
    ),
    Target(
        "jax", "functions of pytrees and an optax transformation", "symmem.targets.jax.module", "jax_module"
    ),
    Target("octave", "functions of arrays, for MATLAB too", "symmem.targets.octave.module", "octave_file"),
    Target(
        "c",
        "a header and a source file",
        "symmem.targets.c.target",
        needs_output="--target c writes a header and a source file; add -o DIR",
        calls_back=False,
    ),
    Target(
        "triton",
        "fused kernels over tensors on a GPU",
        "symmem.targets.triton.module",
        "triton_module",
        calls_back=False,
    ),
    Target("coq", "theorems with their proofs, for coqc", "symmem.targets.coq.module", "coq_file"),
    Target("json", "every formula as data", "symmem.targets.json", "json_text", ("minibatch",)),
)
TARGETS: Mapping[str, Target] = {target.name: target for target in _ALL}
MINIBATCH = ", ".join(target.name for target in _ALL if "minibatch" in target.options)
"""Those that know of mini-batches."""


def emit(
    derivation: Derivation | Sequence[Derivation],
    target: str,
    output: str | None = None,
    *,
    standalone: bool = False,
    pdf: bool = False,
    runtime: bool = False,
    part: str = "whole",
    width: str = "article",
    coq: bool = False,
    minibatch: bool = False,
) -> str:
    """Writes what goes to files; returns what goes to standard output: the text, or the names of several files."""
    if target not in TARGETS:
        raise SymmemError(f"{target!r} is no target; there are {', '.join(TARGETS)}")
    chosen = TARGETS[target]
    if chosen.needs_output and output is None:
        raise SymmemError(f"{target} is several files; give output, a folder")
    several = list(derivation) if isinstance(derivation, Sequence) else [derivation]
    if isinstance(derivation, str) or not all(hasattr(each, "method") for each in several):
        raise SymmemError("emit takes a derivation, such as symmem.derive('adamw'), or several of them")
    if len(several) != 1 and not chosen.takes_several:
        raise SymmemError(f"{target} takes one derivation, not {len(several)}")
    if minibatch and "minibatch" not in chosen.options:
        raise SymmemError(f"{target} has no functions of the noise of mini-batches; take {MINIBATCH}")
    return chosen.emit_all(several, output, Options(standalone, pdf, runtime, part, width, coq, minibatch))
