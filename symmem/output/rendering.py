"""Templates -> text.  The only importer of jinja2, and the only module that knows where templates lie."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def templates_folder() -> Path:
    """Inside the package where it was installed from a wheel, else at the top level of the repository."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "templates"
    return inside if inside.is_dir() else package.parent / "templates"


def render(template: str, values: Mapping[str, object]) -> str:
    """The template filled in; an unknown name is an error, and nothing is escaped.

    The delimiters suit LaTeX: ``<< value >>``, ``<% block %>``, ``<# comment #>``.
    """
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    """Made once: it keeps the templates that it has compiled."""
    return Environment(
        loader=FileSystemLoader(templates_folder()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
