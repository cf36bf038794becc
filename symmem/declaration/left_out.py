"""Optimizers that people ask for and that are not in the zoo: why, and what comes near.

A reason continues the sentence "NAME is not in the zoo: ".  Each is one of the limits of the language: a memory has to
fade, its state may not depend on the learning rate, an update is one function of gradients at the iterates, and that
function is smooth and no 0/0 where the past is constant (mathematics.md sections 2 and 9).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from symmem.records import record


@record(frozen=True)
class LeftOut:
    """Why, and names of the zoo that come near."""

    why: str
    near: tuple[str, ...] = ()


_SUM = "it divides by a sum over all steps, a memory that does not fade"
_MAX = "it keeps a running maximum, a memory that does not fade"
_DISCOUNTED_MAX = "it keeps the largest of its discounted past gradients, which is no sum over them"
_GROWS = "it estimates its own step size by sums that grow with the run, a memory that does not fade"
_ALL_STEPS = "it averages over all steps, with weights like 1/(n + 1): a memory that does not fade"
_OWN_RATE = "its state depends on the learning rate, and so is no sum over past gradients"
_OTHER_POINT = "it takes gradients at other points than the iterates, one step inside another"
_INNER_LOOP = "it makes several steps in one, and memory of the inner steps is thrown away at the outer ones"
_HESSIAN = "it remembers the diagonal of the Hessian, and a g knows gradients alone"
_ZERO = "on a constant past its update is 0/0, so that the expansion has nothing to start from"
_KINK = (
    "its maximum has its kink where the past is constant; declared with a smooth one, it is another optimizer"
)
_DISTANCE = "it divides by the distance of its update from its own average, which is 0 on a constant past"
_AVERAGED = "it is a reading of the iterates, not a step: its average moves no parameter"
_SWITCHES = "it changes its rule as the data say, by signs or angles of past steps"
_DATA = "what it remembers is cut or projected anew as the data say, by no fixed function of the past"
_CONSTRAINT = "it projects the step, or theta itself, on a sphere, and theta - h Phi does not stay there"
_FEEDS = "its state feeds on itself, and so is no sum over past gradients"
_ROUNDED = "it rounds its state to 8 bits, by no smooth function; without the rounding it has its name without 8 bits"

LEFT_OUT: Mapping[str, LeftOut] = MappingProxyType(
    {
        **dict.fromkeys(("adagrad", "madgrad", "ftrl", "sm3", "kate"), LeftOut(_SUM, ("rmsprop", "adam"))),
        **dict.fromkeys(("shampoo", "distributed-shampoo", "adago"), LeftOut(_SUM, ("shampoo-ema", "muon"))),
        "amsgrad": LeftOut(_MAX, ("adam",)),
        "adamax": LeftOut(_DISCOUNTED_MAX, ("adam", "rmsprop")),
        **dict.fromkeys(
            ("prodigy", "d-adaptation", "dadaptation", "dog", "mechanic", "momo", "cocob"),
            LeftOut(_GROWS, ("adamw", "sgdw")),
        ),
        **dict.fromkeys(
            (
                *("schedule-free", "schedule-free-sgd", "schedule-free-adamw", "schedule-free-radam"),
                *("schedulefree", "schedulefreesgd", "schedulefreeadamw", "schedulefreeradam"),
            ),
            LeftOut(_ALL_STEPS, ("gpa", "simplified-ademamix")),
        ),
        "vsgd": LeftOut(
            "the rates of its averages fall like n**-0.8, a memory that does not fade", ("rmsprop", "adam")
        ),
        "amos": LeftOut(
            "its decay of the rate grows with every step, a memory that does not fade", ("adam-mini",)
        ),
        "srmm": LeftOut(
            "its average starts anew every memory_length steps, with weights that are no powers of a decay; with one "
            "weight for all steps it is EMA momentum",
            ("ema-momentum",),
        ),
        **dict.fromkeys(
            ("sgd-sai", "sgdsai"),
            LeftOut(
                "it measures a scale of each tensor at the first gradient and keeps it, a memory that does not fade; "
                "with that scale in the learning rate of each tensor it is EMA momentum with weight decay",
                ("ema-momentum", "sgdw"),
            ),
        ),
        "mars-shampoo": LeftOut(
            "docs/optimizers.md declares it: mars-lion with polar(x) in the place of sign(x)",
            ("mars-lion", "muon"),
        ),
        **dict.fromkeys(
            ("cautious-weight-decay", "cwd"),
            LeftOut(
                "docs/optimizers.md declares it: the decay times (1 + sign(u*theta))/2, where u is the update, with a "
                "smooth sign",
                ("adamw", "cautious-adamw"),
            ),
        ),
        **dict.fromkeys(
            ("8-bit", "adam8bit", "adam-8bit", "adamw8bit", "adamw-8bit", "lion8bit", "lion-8bit"),
            LeftOut(_ROUNDED, ("adam-torch", "adamw-torch", "lion")),
        ),
        "came": LeftOut(_DISTANCE, ("adam-mini",)),
        "adanorm": LeftOut(_KINK, ("adam", "lamb")),
        **dict.fromkeys(("swa", "ema", "polyak-averaging", "asgd"), LeftOut(_AVERAGED, ("gpa",))),
        **dict.fromkeys(("rprop", "swats", "aida", "emonavi"), LeftOut(_SWITCHES, ("adam",))),
        "lookahead": LeftOut(_OWN_RATE, ("gpa",)),
        **dict.fromkeys(("ranger", "ranger21"), LeftOut(f"it has Lookahead in it: {_OWN_RATE}", ("radam",))),
        "adadelta": LeftOut(_OWN_RATE, ("rmsprop",)),
        **dict.fromkeys(("sam", "usam", "asam", "gsam", "extragradient"), LeftOut(_OTHER_POINT, ("gd",))),
        **dict.fromkeys(("local-sgd", "fedavg", "diloco"), LeftOut(_INNER_LOOP, ("gpa",))),
        **dict.fromkeys(("adahessian", "sophia", "sophia-h", "sophia-g"), LeftOut(_HESSIAN, ("adam",))),
        **dict.fromkeys(("soap", "splus"), LeftOut(_ZERO, ("shampoo-ema", "spectral-descent"))),
        "focus": LeftOut(
            "it takes the sign of theta minus its average, which is 0 on a constant past", ("signum",)
        ),
        "m-svag": LeftOut(
            "it weights by the variance m2 - m1**2, which is 0 on a constant past", ("rmsprop-centred",)
        ),
        **dict.fromkeys(
            ("yogi", "ano", "adai", "psgd", "kron", "tam", "adatam", "racs", "adasmooth"),
            LeftOut(_FEEDS, ("adam", "shampoo-ema")),
        ),
        **dict.fromkeys(
            ("galore", "fira", "apollo", "alice", "conda", "dion", "spam", "stable-spam"),
            LeftOut(_DATA, ("adamw", "muon")),
        ),
        **dict.fromkeys(
            ("adamp", "nero", "fromage", "hyperball", "adamh", "muonh", "spectral-sphere"),
            LeftOut(_CONSTRAINT, ("lamb", "ngd")),
        ),
        "gravity": LeftOut(
            "it divides by the largest entry of a tensor, which has a kink wherever two are equal", ("ngd",)
        ),
        "c-adamw": LeftOut("it goes by another name", ("cautious-adamw",)),
        "c-lion": LeftOut("it goes by another name", ("cautious-lion",)),
        **dict.fromkeys(("sgd", "sgdm", "momentum"), LeftOut("it goes by other names", ("gd", "heavyball"))),
        "nag": LeftOut("it goes by another name", ("nesterov",)),
        "tmm": LeftOut("it goes by another name", ("triple-momentum",)),
        "d-muon": LeftOut("it goes by another name", ("moonlight",)),
        **dict.fromkeys(
            ("ef-sgd", "top-k"),
            LeftOut(
                "which entries it keeps depends on the data; with a fixed share it can be declared",
                ("error-feedback",),
            ),
        ),
    }
)


def left_out(name: str) -> str | None:
    """The sentence for a name that people ask for; None for any other."""
    found = LEFT_OUT.get(name.lower().replace("_", "-"))
    if found is None:
        return None
    return f"{found.why}; near it {'is' if len(found.near) == 1 else 'are'} {' and '.join(found.near)}"
