"""The numbers of a probe: a dictionary for a logger, and one line of text for a person."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class Probed(dict[str, float]):
    """What :func:`.probe.probe` found; ``text``, which is also its str, says it in one line.

    ``missing`` has the reasons of what is not there, by name.
    """

    missing: Mapping[str, str] = MappingProxyType({})

    @property
    def text(self) -> str:
        """The sizes of both corrections against the update, and whether the expansion holds here."""
        verdict = "outside the range of the expansion" if self.is_outside else "in range"
        return (
            f"loss {self['loss']:.4g}: memory is {self['correction_ratio']:.3g} of the update by the expansion, "
            f"{self['straight_ratio']:.3g} on the straight line; it is larger than the update in "
            f"{self['share_outside']:.1%} of the entries; lr/(1 - beta) = {self['memory_time']:.3g}; {verdict}"
            f"{self._edge}{self._inside}{self._noise}"
        )

    @property
    def _edge(self) -> str:
        if "sharpness_threshold" not in self:
            reason = self.missing.get("sharpness_threshold")
            return f"; no threshold of the sharpness: {reason}" if reason else ""
        value, bound = self["preconditioned_sharpness"], self["sharpness_threshold"]
        return f"; preconditioned sharpness {value:.4g}, unstable from {bound:.4g}"

    @property
    def _inside(self) -> str:
        return f"; modified loss {self['modified_loss']:.6g}" if "modified_loss" in self else ""

    @property
    def _noise(self) -> str:
        if "noise_norm" not in self:
            reason = self.missing.get("noise")
            return f"; no noise: {reason}" if reason else ""
        size, through = self.get("noise_ratio", 0.0), self.get("noise_correction_ratio", 0.0)
        share, curved = self["share_noisy"], self["noise_norm"] > 0
        outside = (
            f"; out of the range of its second order in {share:.1%} of the entries"
            if curved and share
            else ""
        )
        return f"; noise adds {size:.3g} of the update to its mean, {through:.3g} through memory{outside}"

    def with_noise(self, found: Mapping[str, float] | str) -> Probed:
        """The same with the numbers of noise, or the reason why there are none."""
        made = Probed(self if isinstance(found, str) else {**self, **found})
        made.missing = {**self.missing, "noise": found} if isinstance(found, str) else self.missing
        return made

    def __str__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        # In a checkpoint it is a dictionary that torch.load reads without trusting the file: it knows this one by name.
        return OrderedDict, (list(self.items()),)

    @property
    def is_outside(self) -> bool:
        """Whether the expansion's correction is larger than the update, as a whole or in most entries."""
        return self["correction_ratio"] > 1 or self["share_outside"] > 0.5


def warn_once(found: Probed, optimizer: Any) -> None:
    """A warning where the expansion does not hold, the first time for an optimizer."""
    if found.is_outside and not getattr(optimizer, "_was_outside", False):
        optimizer._was_outside = True
        words = "the first order in lr says nothing about the memory of this optimizer here"
        warnings.warn(f'{words}: {found.text}; history="straight" stays bounded', stacklevel=3)
