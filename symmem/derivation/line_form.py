"""The update of a parameter group on one line, for memory that has no form by groups: cascades and delays.

    theta_j(n-k) = theta_j + k lr_j F_j on every group j,      grad_i(n-k) = grad_i + k (D2L[lr F])_i

with the rates of the last step.  Where they were others before, or a group joined later, this line is the definition
(mathematics.md section 10); the first-order form by groups needs one decay for each memory
(:mod:`.groups.parameter_groups`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from sympy import Expr

from symmem.algebra.results import Missing
from symmem.derivation.conditions.singular import singular_limit
from symmem.derivation.derivation import Derivation
from symmem.derivation.past.cascade_line import PATH, changing_steps, limit_line_update, line_update
from symmem.records import record


@record(frozen=True)
class LineForm:
    """F, its direction and F_straight, at step n and in the limit; F_straight is a function of its places.

    ``velocity`` is F of the past steps, all of which are the same: that of the limit where it has no line at step n.
    """

    velocity: Expr
    update: Expr
    limit_update: Expr | Missing
    straight: Expr | Missing
    limit_straight: Expr | Missing

    @property
    def has_displacements(self) -> bool:
        """Whether some remembered g depends on theta itself."""
        lines = (self.straight, self.limit_straight)
        return any(not isinstance(line, Missing) and line.has(PATH) for line in lines)


@lru_cache(maxsize=64)
def line_form(derivation: Derivation) -> LineForm | Missing:
    """The form of an optimizer whose rates are the scheduler's; missing where there is no line at all."""
    method = replace(derivation.method, rate=None)
    plain = Derivation(method, 1)
    no_line, no_limit = changing_steps(method), singular_limit(method, 1)
    settled = plain.limit if no_limit is None else no_limit
    if isinstance(plain.F, Missing):
        return plain.F
    if no_line is not None and isinstance(settled, Missing):
        return no_line
    limit = settled if isinstance(settled, Missing) else settled.F
    along = no_line if no_line is not None else line_update(method)
    far = limit if isinstance(limit, Missing) else limit_line_update(method)
    velocity = plain.F if isinstance(limit, Missing) or no_line is None else limit
    return LineForm(velocity, plain.F, limit, along, far)
