"""What a new user writes and this language spells otherwise: the words of other programs, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ONLY_NUMBERS = "min, max, where and prod stand in b and in the rate alone, for Phi and g need derivatives"
_SMOOTH = "is not known here, but in b and in the rate; Phi and g need derivatives: there"
_ONE_FORMULA = "Phi and g need derivatives, and in b it is spelled min, max or where"
_MAX = "(x + y + sqrt((x - y)**2 + eps))/2"
_MIN = "(x + y - sqrt((x - y)**2 + eps))/2"
_OPEN = "is not in the language; declare it in [functions] as an opaque function of a vector"
_STEP = "the step is called n and is 0 at the first update: where others write t, write n + 1"
_RATE = "if it is the learning rate remove it: lr multiplies phi and stands in no expression; else declare it"

_NO_HESSIAN = "second derivatives (Sophia, AdaHessian) are not in the language; g sees theta and grad"
_RUNNING = "a running maximum (AMSGrad, AdaMax) is a memory that does not fade"

CALLS: Mapping[str, str] = MappingProxyType(
    {
        "max": f'{_SMOOTH} give [smooth] max = "{_MAX}"; {_RUNNING}',
        "min": f'{_SMOOTH} give [smooth] min = "{_MIN}"',
        "where": f"{_SMOOTH} use a smooth formula for both branches",
        "prod": "is not known here, but in b and in the rate, where it is a product over steps; write a product with *",
        **dict.fromkeys(
            ("maximum", "minimum", "relu"),
            f"is not known: {_ONE_FORMULA}; use a smooth formula, {_MAX} for max(x, y)",
        ),
        **dict.fromkeys(
            ("clip", "clamp", "clip_by_value"),
            f"is not known: {_ONE_FORMULA}; use a smooth formula, for a bound c on x c*tanh(x/c), or call it "
            "clip(x, lo, hi) and give [smooth] a formula for clip",
        ),
        "sum": "joins entries; of a parameter tensor write dot(x, 1), of the whole model global_dot(x, 1), and in b, "
        "for a sum over steps, its closed form",
        "svd": f"joins entries, and {_OPEN}, or, where U V^T of it is meant, write polar(x)",
        **dict.fromkeys(("eigh", "einsum"), f"joins entries, and {_OPEN}"),
        **dict.fromkeys(("pow", "power"), "is not known; write a power as x**y"),
        "square": "is not known; write x**2",
        "rsqrt": "is not known; write 1/sqrt(x)",
        "cbrt": "is not known; write sign(x)*abs(x)**(1/3), for x**(1/3) is real where x is not below 0 alone",
        "ln": "is not known; write log(x)",
        "log1p": "is not known; write log(1 + x)",
        "expm1": "is not known; write exp(x) - 1",
        "sigmoid": "is not known; write 1/(1 + exp(-x))",
        "softplus": "is not known; write log(1 + exp(x))",
        "arctan": "is not known; write atan(x)",
        **dict.fromkeys(
            ("atan2", "arctan2"),
            "is not known; write atan(x/y), which is atan2(x, y) where y is above 0, as in Adam-atan2",
        ),
        **dict.fromkeys(
            ("floor", "ceil", "round", "int"),
            "is not known; in b and in the rate write a staircase (StepLR) by where(n < 30, 1, 0.1)",
        ),
        **dict.fromkeys(("fabs", "absolute"), "is not known; write abs(x)"),
        "sgn": "is not known; write sign(x)",
    }
)
"""Functions of other programs; each continues a sentence that begins with the name."""

_STEPS = ("t", "step", "steps", "iteration", "epoch")
_GRADIENTS = ("g", "gt", "g_t", "gradient", "grads", "dL")
_TRAINED = ("w", "x", "p", "param", "params", "weight", "weights")
MEANT: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(_STEPS, ("n", "the step is called n")),
        **dict.fromkeys(_GRADIENTS, ("grad", "the gradient is called grad")),
        **dict.fromkeys(_TRAINED, ("theta", "what is trained is called theta")),
    }
)
"""The symbol of this language that is meant; where a field does not know it either, that is said at once."""
SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        "pi": "pi is known in b and in the rate; here write its digits, 3.141592653589793",
        **dict.fromkeys(("e", "E"), "the number e is not known by this name; write exp(1)"),
        **dict.fromkeys(("inf", "oo", "nan"), "only finite numbers are known; write one"),
        **dict.fromkeys(_STEPS, _STEP),
        **dict.fromkeys(_GRADIENTS, "the gradient is called grad"),
        **dict.fromkeys(_TRAINED, "what is trained is called theta"),
        **dict.fromkeys(
            ("m", "v", "momentum", "exp_avg", "exp_avg_sq"),
            "momentum variables are called m1, m2, ... in the order of [[momentum]]",
        ),
        "m0": "momentum variables are counted from 1: m1, m2, ... in the order of [[momentum]]",
        **dict.fromkeys(
            (
                "grad_prev",
                "prev_grad",
                "previous_grad",
                "last_grad",
                "grad_old",
                "g_prev",
                "prev_g",
                "grad_last",
            ),
            'the gradient one step ago is a momentum variable: g = "grad", delay = 1, read as m1, m2, ...',
        ),
        "h": "it is the learning rate in formulas, which multiplies phi and stands in no expression; remove it",
        **dict.fromkeys(("eta", "alpha", "learning_rate", "step_size"), _RATE),
        "loss": "an update does not see the loss, only its gradient, called grad",
        **dict.fromkeys(("hessian", "Hessian", "hess", "hvp"), _NO_HESSIAN),
    }
)
"""Symbols of papers and programs, where a declaration does not declare them itself."""

CHARACTERS: Mapping[str, str] = MappingProxyType(
    {
        "^": "'^' is not a power here; write **",
        "=": "an expression has no '='; write the right-hand side alone",
        **dict.fromkeys("'\"", "text is not an expression; remove the quotes"),
        "[": "no indexing: expressions are entrywise, and momentum variables are m1, m2, ...; use parentheses",
        "{": "use parentheses for grouping",
        **dict.fromkeys(
            "<>",
            "no comparisons and no conditions, but in b and in the rate: write one smooth formula",
        ),
        "%": "no remainder: what comes every k-th step (Lookahead, a preconditioner that is refreshed) never settles; "
        "use + - * / **",
        "|": "no bars; write abs(x) of each entry, norm(x) of a tensor",
        "@": "no matrix product by @; write matmul(x, y)",
        "\0": "a null byte; remove it",
        **dict.fromkeys("\n\r", "a line break; write the expression on one line"),
        "²": "'²' is not known; write **2",
        "³": "'³' is not known; write **3",
        "√": "'√' is not known; write sqrt(x)",
        "∇": "'∇' is not known; the gradient is called grad",
        **dict.fromkeys("·×", "write a product with *"),
        "−": "this minus is not the one of the keyboard; write -",
    }
)
"""Characters that the language has not."""
