"""The Octave file, run by GNU Octave: values against the 50-digit probe set, refusals, and the names of settings."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import probe
import pytest
from octave_probe import needs_octave, probe_functions, run, settings
from truth import FIRST, LR, literal_of, load, number_of

from symmem.targets.registry import TARGETS

ORDER_TWO = ("heavyball", "nesterov", "adamw", "rmsprop", "signum", "lion-k")
CASES = [(name, 1) for name in FIRST] + [(name, 2) for name in ORDER_TWO]
TOLERANCE = {"double": 3e-13, "single": 2e-5}


def given(name: str, order: int, function: str) -> list[str]:
    opaque = [f.name for f in load(name).functions]
    if function == "memoryless":
        return ["grad", *opaque]
    higher = ["hvp", "d3"][:order]
    return [
        "grad",
        *higher,
        *(each + suffix for each in opaque for suffix in ("", "_jvp", "_jvp2")[: order + 1]),
    ]


def calls(name: str, order: int) -> list[str]:
    """Octave that prints every value of an optimizer, in the order in which ``test_values`` reads them."""
    lines = [f"made = symmem_{name.replace('-', '_')}_{order}();"]
    for kind in TOLERANCE:
        for n in probe.STEPS:
            step = "" if n is None else f", 'n', {n}"
            for function in probe.functions(order):
                rate = "" if function == "memoryless" else f", 'lr', {float(LR)!r}"
                arguments = ", ".join([f"{kind}(theta)", *given(name, order, function)])
                lines.append(
                    f"v = made.{function}({arguments}{step}{rate}{settings(probe.parameters(name))});"
                )
                lines.append(f"assert(strcmp(class(v), '{kind}')); printf('%.17g ', v); printf('\\n');")
    return lines


@needs_octave
def test_values(tmp_path: Path) -> None:
    """One process for all optimizers."""
    script = probe_functions()
    for name, order in CASES:
        text = TARGETS["octave"].source(probe.derivation(name, order))
        (tmp_path / f"symmem_{name.replace('-', '_')}_{order}.m").write_text(text)
        script += calls(name, order)
    rows = iter(run(script, tmp_path).splitlines())
    for name, order in CASES:
        for tolerance in TOLERANCE.values():
            for n in probe.STEPS:
                exact = probe.truth(name, order, n)
                for function in probe.functions(order):
                    found = np.array([float(entry) for entry in next(rows).split()])
                    assert exact[function].error(found) < tolerance, (name, order, function, n)


LOSSES = [("heavyball", 1), ("adamw", 1), ("lion", 1), ("heavyball", 2)]


@needs_octave
def test_modified_losses(tmp_path: Path) -> None:
    script, expected = probe_functions(), []
    for name, order in LOSSES:
        derived = probe.derivation(name, order)
        text = TARGETS["octave"].source(derived)
        (tmp_path / f"symmem_{name}_{order}.m").write_text(text)
        loss, literal = derived.modified_loss, literal_of(load(name))
        values, rate = settings(probe.parameters(name)), f", 'lr', {float(LR)!r}"
        higher = ", hvp, d3" if order == 2 else ""
        script.append(f"made = symmem_{name}_{order}();")
        script.append(f"printf('%.17g\\n', made.modified_loss(theta, loss, grad{higher}{rate}{values}));")
        script.append(f"printf('%.17g ', made.preconditioner(theta, grad{values})); printf('\\n');")
        expected += [number_of(loss.potential, literal)[:1], number_of(loss.preconditioner, literal)]
        if loss.decay != 0:
            script.append(f"printf('%.17g\\n', made.decay({(rate + values).removeprefix(', ')}));")
            expected.append(number_of(loss.decay, literal)[:1])
        script.append(f"assert(strcmp(made.MODIFIED_LOSS, '{loss.regime}'));")
    found = [[float(entry) for entry in line.split()] for line in run(script, tmp_path).splitlines()]
    for row, exact in zip(found, expected, strict=True):
        np.testing.assert_allclose(row, [float(entry) for entry in exact], rtol=1e-12)


REFUSED = [
    ("'n', -1", "n = -1"),
    ("'n', 1.5", "n = 1.5"),
    ("'n', [1 2]", "steps count from 0"),
    ("'n', 2^54", r"steps count from 0 to 2\^53"),
    ("'beta1', 1", r"beta1 = 1 is outside \[0, 1\)"),
    ("'eps', NaN", "eps = NaN is outside"),
    ("'weight_decay', Inf", r"weight_decay = Inf is outside \[0, inf\)"),
    ("'beta3', 1", "settings are beta1, beta2, eps, lr, n, weight_decay"),
    ("'beta1'", "name-value pairs"),
]


@needs_octave
@pytest.mark.parametrize(
    ("call", "words"),
    [
        *((f"made.step(theta, grad, hvp, 'lr', 0.1, {more})", words) for more, words in REFUSED),
        ("made.step(theta, grad, hvp)", "learning rate"),
        ("made.step(theta, @(x) 1, hvp, 'lr', 0.1)", "returned"),
        ("made.step(theta * i, grad, hvp, 'lr', 0.1)", "real numbers"),
        ("higher.correction(theta, grad, hvp, hvp, hvp, 'lr', 0.1, 'n', 3)", "order 2.*n = \\[\\]"),
    ],
)
def test_what_is_refused(call: str, words: str, refusals: Path) -> None:
    script = ["made = symmem_adamw(); higher = symmem_heavyball();", *probe_functions()]
    script.append(f"try, {call}; printf('no error'); catch e, printf('%s', e.message); end")
    said = run(script, refusals)
    assert re.search(words, said), said


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("refusals")
    for name, order in (("adamw", 1), ("heavyball", 3)):
        text = TARGETS["octave"].source(probe.derivation(name, order))
        (folder / f"symmem_{name}.m").write_text(text)
    return folder


@needs_octave
def test_settings_in_a_struct_and_arrays_of_any_size(refusals: Path) -> None:
    script = [
        "made = symmem_adamw(); cube = @(x) x.^3; hvp = @(x, v) 3*x.^2.*v;",
        "x = reshape(linspace(-1, 1, 12), 3, 2, 2); s.lr = 0.1; s.n = 4; s.beta1 = 0.5;",
        "one = made.step(x, cube, hvp, s);",
        "two = made.step(x(:)', cube, hvp, 'beta1', 0.5, 'n', 4, 'lr', 0.1);",
        "assert(isequal(size(one), size(x)) && isequal(one(:), two(:)));",
        "assert(isequal(made.step(x, cube, hvp, 'lr', 1), made.step(x, cube, hvp, 'lr', 1, 'n', Inf)));",
        "assert(strcmp(class(made.step(int8(x), cube, hvp, 'lr', 1)), 'double'));",
    ]
    run(script, refusals)
