"""Templates of job files: package data beside this, with @{name} where a value of the job's goes.

For: filling them; a name that is missing or a stray @ is our bug and raises. Not for: quoting, which is the kind's own
(a shell's or YAML's). Plain strings instead of Jinja2: a cluster's login node has the base install only, and playbooks
are full of Jinja2's own braces.
"""

from __future__ import annotations

from importlib import resources
from string import Template


class _AtTemplate(Template):
    """`@@` is an @; shells and Ansible need $ and {{ }} themselves."""

    delimiter = "@"
    idpattern = r"(?!)"  # never without braces
    braceidpattern = r"[a-z_]+"


def text_of(name: str) -> str:
    """Returns package data as it is."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def filled(file: str, **values: str) -> str:
    """Returns a template with its values."""
    return _AtTemplate(text_of(file)).substitute(values)
