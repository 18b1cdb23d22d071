"""What the site needs while it is built: the decisions by their files, and formulas as MathML."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

DECISIONS = "decisions"

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_config(config: Any) -> Any:
    """The navigation, with all decisions where it says ``decisions``."""
    folder = Path(config.docs_dir)
    written = sorted(str(path.relative_to(folder)) for path in (folder / DECISIONS).glob("*.md"))
    config.nav = _with(written, config.nav)
    return config


def on_page_content(content: str, **_: Any) -> str:
    """A page whose formulas browsers draw themselves, without scripts or fonts."""
    return FORMULA.sub(_drawn, content)


def _with(decisions: list[str], nav: Any) -> Any:
    match nav:
        case list():
            return [_with(decisions, item) for item in nav]
        case dict():
            return {title: decisions if pages == DECISIONS else _with(decisions, pages) for title, pages in nav.items()}
        case _:
            return nav


def _drawn(found: re.Match[str]) -> str:
    tag, opening, tex = found.groups()
    formula = convert(html.unescape(tex).strip(), display="block" if opening == "[" else "inline")
    return f'<{tag} class="formula">{formula}</{tag}>'
