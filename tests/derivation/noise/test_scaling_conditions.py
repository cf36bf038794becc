"""What the rules for a larger batch rest on: a rule is refused where it would keep something else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import symmem
from symmem.algebra.results import Missing
from symmem.cli.group import commands
from symmem.derivation.noise.batch_scaling import BatchScaling, batch_scaling

PARAMETERS = {"c": "{ default = 0.5 }", "beta": '{ default = 0.9, range = "[0, 1)" }'}


def declared(tmp_path: Path, phi: str, *memories: str) -> str:
    """A declaration of averages of these, with the parameters that stand in it."""
    text = " ".join([phi, "beta", *memories])
    lines = ['name = "mine"', f'phi = "{phi}"', "[parameters]"]
    lines += [f"{name} = {value}" for name, value in PARAMETERS.items() if name in text]
    for g in memories:
        lines += ["[[momentum]]", f'g = "{g}"', 'beta = "beta"', 'b = "1 - beta"']
    path = tmp_path / "mine.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def drift(phi: Callable[..., np.ndarray], gradient: float, noise: float) -> float:
    """The mean update of present gradients, over normal noise, by quadrature."""
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    return float(phi(gradient + noise * points) @ weights / weights.sum())


@pytest.mark.parametrize(
    ("phi", "memories", "even"),
    [
        ("m1 + c*m2", ("grad", "grad**2"), lambda x: x + x**2),
        ("m1 + c*m2", ("grad", "1"), lambda x: x + 1),
        ("abs(m1)", ("grad",), np.abs),
    ],
)
def test_a_mean_without_a_gradient_has_no_rule_of_noise(
    phi: str, memories: tuple[str, ...], even: Callable[[np.ndarray], np.ndarray], tmp_path: Path
) -> None:
    """Its drift is of the order of the update itself, whose square is the diffusion: no power keeps both."""
    assert abs(drift(even, 0.0, 1.0)) > 0.1
    found = batch_scaling(symmem.derive(declared(tmp_path, phi, *memories)).method)
    assert isinstance(found, BatchScaling)
    assert isinstance(found.plain, Missing)


@pytest.mark.parametrize(
    ("phi", "memories"),
    [("m1*m2", ("grad", "theta")), ("m1", ("grad*theta",)), ("m1", ("grad + c*grad*theta",))],
)
def test_noise_times_theta_has_no_rule(phi: str, memories: tuple[str, ...], tmp_path: Path) -> None:
    """theta does not fall with the noise: the powers of the scale of both would be of another method."""
    found = batch_scaling(symmem.derive(declared(tmp_path, phi, *memories)).method)
    assert isinstance(found, Missing)
    assert "theta multiplies" in str(found)


def scaling(*words: str) -> str:
    """What the command says, on one line."""
    done = CliRunner().invoke(commands, ["scaling", *words])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_letters_are_those_that_no_parameter_has(tmp_path: Path) -> None:
    told = scaling("accsgd", "--batch", "4", "--format", "latex")
    assert r"E (\zeta \zeta^{\top})" in told
    path = Path(declared(tmp_path, "K*m1/sqrt(m2)", "grad", "grad**2"))
    path.write_text(path.read_text().replace("beta =", "K = 2\nbeta =", 1), encoding="utf-8")
    assert "1/Q of the steps" in scaling(str(path), "--batch", "4")


@pytest.mark.parametrize(
    ("batch", "decay", "told"),
    [
        ("1", "0", "1 - beta times K"),
        ("2", "0", "at most 1"),
        ("10", "9/10", "below 10"),
        ("1", "-1/2", "below 0"),
    ],
)
def test_memories_that_cannot_be_shorter(batch: str, decay: str, told: str, tmp_path: Path) -> None:
    path = Path(declared(tmp_path, "m1", "grad"))
    path.write_text(path.read_text().replace(', range = "[0, 1)"', ""), encoding="utf-8")
    assert told in scaling(str(path), "--batch", batch, "--set", f"beta={decay}")
