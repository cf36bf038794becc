"""What inputs are made of: words of every target, hostile text, numbers, functions."""

from __future__ import annotations

import builtins
import keyword

HOSTILE = (
    *("'''", '"""', "\\", "\\\\", "\x00", "\x1b[31m", "\u202e", "%s%n", "{{7*7}}", "{% raw %}", "$(id)", "`id`"),
    *("; DROP", "*/", "//", "/*", "#", "<script>", "]]>", "\\input{/etc/passwd}", "\\end{document}", "^^M", "é"),
    *("__import__('os')", "().__class__", "9**9**9**9", "1e999", "1e-400", "1e400", "0x1f", "1_000", "1j", "∇L"),
    *("\r", "\n", "\t", "\ufeff", "\ud800", "(" * 300, "[" * 3000, "-" * 400 + "1", "1" * 5000, "a" * 3000),
    *("lambda: 0", "m1 if m1 else m2", "[m1 for m1 in m2]", "m1.real", "m1[0]", "f(*m1)", "f(**m1)", "m1 := 2"),
    *("np.sqrt(m1)", "torch.sign(m1)", "clip(m1, -1, 1)", "pow(m1, 2)", "m1^2", "m1 @ m2", "m1 // 2", "m1 % 2"),
    *("lr*m1", "n*m1", "t", "pi", "m0", "m10", "m01", "m1_", "grad", "theta", "sign()", "norm(2)", "dot(m1)", "2 m1"),
    *("m1*" * 400 + "m1", "m1**" * 40 + "2", "tanh(" * 30 + "m1" + ")" * 30, "norm(" * 9 + "m1" + ")" * 9, "m1."),
)  # fmt: skip
_RESERVED = """
int float double static const struct return while register restrict inline sizeof volatile extern
np numpy torch jnp jax lax math self cls step state group closure params theta_ loss_ memoryless
end function endfunction pi e i j Inf NaN ans nargin varargin eps realmin global persistent
correction preconditioner hvp out d3 d4 n lr grad theta phi beta gamma lambda_ E I S N O Q oo zoo Sum D2L
NULL true false main printf M_PI fabs sqrtf pow expf errno EOF FILE symmem symmem_mine __init__ _x
norm dot polar matmul transpose inverse_root newton_schulz rms mean global_norm global_dot total rate
where prod min max clip straight history strength target every closure_ scalars workspace first last x y lo hi
"""
WORDS = (*keyword.kwlist, *(name for name in dir(builtins) if name.islower()), *_RESERVED.split())
FUNCTIONS = ("sqrt", "abs", "sign", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan")
_NUMERALS = "0 1 2 3 -1 0.5 0.9 0.999 1e-8 1e-300 1e-400 1e300 10 64 65 1000 1/2 1/3 0.1 1e39"
NUMBERS = tuple(_NUMERALS.split())
EXPONENTS = ("2", "2", "3", "-1", "(1/2)", "(-1/2)", "0.7", "(1/3)", "4", "0", "64", "(-3)", "n", "eps")
