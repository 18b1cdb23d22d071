"""Where something stands in a study's definition: ``space.k.eigenvalues``, ``constraints.0.upper``."""

from __future__ import annotations

from typing import Any

from geodrome.spaces import Product

SPACE_FIELDS = Product.model_fields.keys()


class NoSuchPlace(ValueError):
    """The path leads nowhere; the message says from where on."""


def put(document: dict[str, Any], path: str, value: Any) -> None:
    """Sets what stands at a path, whose parts are names, and numbers from 0 in lists.

    What a name leads to is made if it is not there, ``budget.trials`` in a document without a budget. Within a product,
    the name of a factor leads to the factor: ``space.k`` is short for ``space.factors.k``. The product's own fields
    come first, and a factor that is new needs the long form.

    Raises:
        NoSuchPlace: A part is no number of the list that it is in, or is in something without parts.
    """
    *way, last = path.split(".")
    here: Any = document
    for depth, part in enumerate(way):
        holder, key = _slot(here, part, path, ".".join(way[:depth]))
        if isinstance(holder, dict) and holder.get(key) is None:
            holder[key] = {}
        here = holder[key]
    holder, key = _slot(here, last, path, ".".join(way))
    holder[key] = value


def _slot(here: Any, part: str, path: str, before: str) -> tuple[Any, Any]:
    """The mapping or list, and the key or index in it, that a part of a path means."""
    if not part:
        raise NoSuchPlace(f"{path!r} has an empty part")
    match here:
        case {"type": "product"} if part not in SPACE_FIELDS:
            factors = here.get("factors")
            known = factors if isinstance(factors, dict) else {}
            if part not in known:
                raise NoSuchPlace(
                    f"{path}: {before} is a product without a factor {part!r}; it has {', '.join(known) or 'none'}"
                )
            return known, part
        case dict():
            return here, part
        case list():
            if not (part.isascii() and part.isdigit() and int(part) < len(here)):
                numbers = f"numbers from 0 to {len(here) - 1}" if here else "no parts"
                raise NoSuchPlace(f"{path}: {before} is a list with {numbers}, got {part!r}")
            return here, int(part)
        case _:
            raise NoSuchPlace(f"{path}: {before} is {here!r}, which has no {part!r}")
