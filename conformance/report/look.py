"""What all pages have in common: their head, their looks, and a policy that names what may run in them.

Styles and scripts are allowed by their hash alone, and all text is escaped: nothing else in a page can run, whatever an
implementation, a trace or a profile has said.
"""

from __future__ import annotations

import base64
import hashlib
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from scatterproof.conformance.report.run import printable

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What every page begins with.

    verdict: of the whole page, in one word or two.
    sentence: the result.
    about: what the page is about, such as the version of the clauses.
    """

    title: str
    verdict: str
    sentence: str
    about: tuple[str, ...] = ()

    @property
    def facts(self) -> tuple[str, ...]:
        """`about`, then who made the page, when and where. SOURCE_DATE_EPOCH stands for the time, as in other tools
        with reproducible output."""
        epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
        when = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
        machine = (
            f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        )
        made = f"made on {when:%Y-%m-%d at %H:%M} UTC by scatterproof {metadata.version('scatterproof')} on {machine}"
        return (*self.about, made)


class Looks(NamedTuple):
    """The files of a page with its own styles and scripts, beside those of all pages."""

    styles: tuple[Path, ...]
    scripts: tuple[Path, ...]


# For pages with tables that are filtered row by row: each row has its verdicts in data-verdicts, parted by bars.
TABLES = Looks((_HERE / "page.css", _HERE / "tables.css"), (_HERE / "tables.js",))


@dataclass(frozen=True, slots=True)
class Page:
    """text: the whole page.
    policy: what may run in it; stated by the page itself, or by the server that sends it.
    """

    text: str
    policy: str


def render(
    template: Path,
    head: Head,
    *,
    styles: Sequence[Path] = (),
    scripts: Sequence[Path] = (),
    served: str | None = None,
    **values: Any,
) -> Page:
    """A page from a template that extends base.html.jinja. styles, scripts: files beside those of all pages. served:
    what a server adds to the policy, which it then states; None for a file, which has to state the policy itself."""
    style = "".join(path.read_text(encoding="utf-8") for path in (_HERE / "look.css", *styles))
    script = "".join(path.read_text(encoding="utf-8") for path in (_HERE / "look.js", *scripts))
    policy = (
        f"default-src 'none'; style-src '{policy_hash(style)}'; script-src '{policy_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    text = (
        _environment(template.parent)
        .get_template(template.name)
        .render(
            **values,
            head=head,
            style=Markup(style),
            script=Markup(script),
            policy=Markup(policy) if served is None else "",
        )
    )
    return Page(text, policy + (served or ""))


def _environment(folder: Path) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(folder), FileSystemLoader(_HERE)]),
        # Whatever the file's name: names and reasons come from implementations under test.
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["css_class"] = _css_class
    return environment


def _css_class(verdict: str) -> str:
    return verdict.replace(" ", "-")


def policy_hash(text: str) -> str:
    """The text's hash as a content security policy names it; the text is what stands between the tags."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
