"""An update that has not the shape of the parameters: on square matrices alone, and refused elsewhere."""

from __future__ import annotations

import mpmath
import pytest
from sympy import Rational

from symmem.checks.same import Verdict, same
from symmem.checks.verify import layout_of, literal_of, verify
from symmem.checks.verify_text import verification_text
from symmem.declaration.optimizer import Optimizer
from symmem.documents.columns import Style
from symmem.verification.evaluation import evaluate
from symmem.verification.literal import fits
from symmem.verification.vectors import VerificationError, relative_error, vector


def on_memory(phi: str) -> Optimizer:
    return Optimizer("own", phi, [{"g": "grad", "beta": "0.5", "b": "1"}])


TURNED, POLAR, SQUARE = map(on_memory, ("polar(transpose(m1))", "polar(m1)", "matmul(m1, transpose(m1))"))


def test_polar_of_a_transpose_is_the_transpose_of_polar() -> None:
    """[[1, 2], [0, 1]] has the polar factor [[1, 1], [-1, 1]]/sqrt(2)."""
    root = 1 / mpmath.sqrt(2)
    layouts = {"theta": ((2, 2),), "m1": ((2, 2),)}
    point = {"m1": vector([1, 2, 0, 1])}
    turned, straight = (evaluate(each.phi, {}, point, layouts=layouts, digits=30) for each in (TURNED, POLAR))
    assert relative_error(straight, (root, root, -root, root)) < 1e-14
    assert relative_error(turned, (root, -root, root, root)) < 1e-14


def test_a_transposed_update_is_different() -> None:
    found = same(TURNED, POLAR)
    assert found.verdict is Verdict.DIFFERENT
    assert found.difference.witness.step == 1
    assert found.difference.F.size > 0.1


def test_a_product_with_its_transpose_is_compared_on_squares() -> None:
    assert same(SQUARE, POLAR).verdict is Verdict.DIFFERENT
    assert same(SQUARE, SQUARE).verdict is Verdict.IDENTICAL


@pytest.mark.parametrize("optimizer", [TURNED, SQUARE])
def test_another_shape_is_refused(optimizer: Optimizer) -> None:
    """Also 2x3 against 3x2, where the numbers of entries agree."""
    assert fits(optimizer, layout_of(optimizer))
    assert not fits(optimizer, ((2, 3),))
    literal = literal_of(optimizer, {}, ((2, 3),))
    with pytest.raises(VerificationError, match="its update has the shapes"):
        literal.run([Rational(k, 7) for k in (1, 2, -3, 5, -4, 6)], Rational(1, 100), 1)
    assert not fits(on_memory("m1 + transpose(m1)"), ((2, 3),))
    assert not fits(on_memory("matmul(m1, m1)"), ((2, 3),))


def test_claims_for_squares_say_so() -> None:
    found = verify(TURNED, orders=False, points=1, steps=(0, 1))
    text = verification_text(found, Style())
    assert found.holds
    assert "For square matrices alone: others get an update of another shape." in " ".join(text.split())
    assert "All" not in text


def test_no_line_of_the_orders_is_too_wide() -> None:
    text = verification_text(verify(on_memory("m1"), points=1, steps=(0,)), Style())
    assert "a fixed time is" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
