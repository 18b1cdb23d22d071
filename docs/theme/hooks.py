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
    written = [str(path.relative_to(folder)) for path in sorted((folder / DECISIONS).glob("*.md"))]
    for section in config.nav:
        for title, pages in section.items() if isinstance(section, dict) else ():
            section[title] = written if pages == DECISIONS else pages
    return config


def on_page_content(content: str, **_: Any) -> str:
    """A page whose formulas browsers draw themselves, without scripts or fonts."""
    return FORMULA.sub(_drawn, content)


def _drawn(found: re.Match[str]) -> str:
    tag, opening, tex = found.groups()
    formula = convert(html.unescape(tex).strip(), display="block" if opening == "[" else "inline")
    return f'<{tag} class="formula">{formula}</{tag}>'
