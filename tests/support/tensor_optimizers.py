"""Optimizers whose update is a function of whole tensors or of the model: the fixtures of their tests."""

from __future__ import annotations

from collections.abc import Mapping

from symmem import Optimizer

BETA = {"default": 0.9, "range": "[0, 1)"}
POSITIVE = {"default": 0.1, "range": "(0, inf)"}
LAYOUTS = (((2, 3),), ((2, 2), (1, 2)))
"""One matrix; two of them, so that what belongs to one tensor is told from what belongs to all."""
VALUES = {"beta": "1/2", "beta1": "1/2", "beta2": "3/4", "eps": "1/10", "c": "1/2", "weight_decay": "1/10"}


def _debiased(beta: str) -> str:
    return f"(1 - {beta})/(1 - {beta}**(n + 1))"


def made(
    name: str,
    phi: str,
    momentum: list[tuple[str, str, str]],
    parameters: tuple[str, ...],
    smooth: Mapping[str, str] | None = None,
) -> Optimizer:
    """An optimizer of these momentum variables, each g, beta and b, whose parameters have the usual ranges."""
    given = {each: BETA if each.startswith("beta") else POSITIVE for each in parameters}
    variables = [{"g": g, "beta": beta, "b": b} for g, beta, b in momentum]
    extra = {} if smooth is None else {"smooth": smooth}
    return Optimizer(name=name, phi=phi, momentum=variables, parameters=given, **extra)


_ADAM = [("grad", "beta1", _debiased("beta1")), ("grad**2", "beta2", _debiased("beta2"))]
_LAMB = "(m1/sqrt(m2 + eps) + weight_decay*m3)"
_EMA = [("grad", "beta", "1 - beta")]
_MATRICES = ("matmul(grad, transpose(grad))", "matmul(transpose(grad), grad)")

OPTIMIZERS = {
    each.name: each
    for each in (
        made("nsgd", "m1/norm(m1)", _EMA, ("beta",)),
        made("clip", "c*m1/sqrt(c**2 + dot(m1, m1))", _EMA, ("beta", "c")),
        made("global-clip", "c*m1/sqrt(c**2 + global_norm(m1)**2)", _EMA, ("beta", "c")),
        made(
            "lamb",
            f"norm(m3)/norm({_LAMB})*{_LAMB}",
            [*_ADAM, ("theta", "0", "1")],
            ("beta1", "beta2", "eps", "weight_decay"),
        ),
        made("lars", "m1", [("norm(theta)/(norm(grad) + eps)*grad", "beta", "1")], ("beta", "eps")),
        made("adam-mini", "m1/sqrt(m2 + eps)", [_ADAM[0], ("mean(grad**2)", "beta2", "1 - beta2")],
              ("beta1", "beta2", "eps")),
        made("scalar-rmsprop", "m1/sqrt(m2)", [("grad", "0", "1"), ("dot(grad, grad)", "beta", "1 - beta")],
              ("beta",)),
        made("stable-adamw", "m1/sqrt(m2 + eps)/sqrt(1 + rms(m3/sqrt(m2 + eps))**2)",
              [*_ADAM, ("grad", "0", "1")], ("beta1", "beta2", "eps")),
        made("novograd", "m2", [("dot(grad, grad)", "beta2", "1 - beta2"),
                                 ("grad/sqrt(m1 + eps) + weight_decay*theta", "beta1", "1")],
              ("beta1", "beta2", "eps", "weight_decay")),
        made("muon", "polar(m1)", [("grad", "beta", "1")], ("beta",)),
        made("muon-shipped", "newton_schulz(m1 + m2)", [("grad", "beta", "beta"), ("grad", "0", "1")],
              ("beta",)),
        made("scion", "c*polar(m1) + weight_decay*m2", [*_EMA, ("theta", "0", "1")],
              ("beta", "c", "weight_decay")),
        made("shampoo", "matmul(matmul(inverse_root(m2, 4, eps), m1), inverse_root(m3, 4, eps))",
              [_ADAM[0], *((g, "beta2", "1 - beta2") for g in _MATRICES)], ("beta1", "beta2", "eps")),
    )
}  # fmt: skip
