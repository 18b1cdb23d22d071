"""The fields of spaces and studies as a form shows them, made of the schemas of the interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from geodrome import schemas, spaces
from pydantic import BaseModel

from geodrome_service.dashboard.kinds import NAMES

Field = dict[str, Any]
"""A field: its ``name`` and ``label``, the ``kind`` of its control, and what that kind needs."""

LABELS = {
    "Ball.center": "Center, in the form of a point",
    "Ball.radius": "Radius (rad)",
    "Budget.trials": "Trials at most",
    "Euclidean.dim": "How many numbers",
    "Hyperbolic.dim": "Dimension",
    "Hyperbolic.radius": "Radius about the origin",
    "Kernel.type": "Type",
    "Objective.name": "What the cost is called",
    "Objective.unit": "Unit of the cost",
    "Rotation.dim": "Axes (3: orientations in space)",
    "SPD.dim": "Rows",
    "SPD.unit": "Unit of the eigenvalues",
    "Sphere.dim": "Dimension (2: directions in space)",
    "StudyCreate.name": "Name of the study",
    "Torus.dim": "How many angles",
    "ball": "Only near a known orientation",
    "bounds": "Bounds",
    "budget": "Budget",
    "cap": "Only near a known direction",
    "eigenvalues": "Eigenvalues",
    "factors": "Parts",
    "frame": "Frame",
    "goal": "Goal",
    "kernel": "Kernel of the model",
    "lease_s": "Lease of a trial (s)",
    "metric": "Metric",
    "model": "Model",
    "nu": "Smoothness (nu)",
    "objective": "Objective",
    "order": "Order of quaternions",
    "orientation": "Orientation",
    "position": "Position",
    "relative_to": "Relative to",
    "representation": "Representation",
    "scale": "Scale",
    "seed": "Seed",
    "unit": "Unit",
}
"""What fields are called, those of one schema before those of all."""

RARE = frozenset(
    {"frame", "relative_to", "Pose.unit", "Product.unit", "Rotation.unit", "Sphere.unit", "Hyperbolic.unit"}
)
"""Fields that most studies do without: text that is kept and changes nothing."""

OF_STUDIES = ("name", "objective", "budget", "kernel", "seed", "lease_s")
"""The fields of a study, apart from its space, that a form has; the others are written as text."""

BEGINNINGS: dict[str, Any] = {
    "rotation": {"type": "rotation", "order": "xyzw"},
    "sphere": {"type": "sphere", "dim": 2},
    "spd": {"type": "spd", "dim": 3, "eigenvalues": [10, 3000], "unit": "N/m"},
    "torus": {"type": "torus", "dim": 2, "unit": "rad"},
    "joints": {"type": "joints", "unit": "deg", "bounds": [[-170, 170], [-120, 120]]},
    "real": {"type": "real", "bounds": [0, 1]},
    "integer": {"type": "integer", "bounds": [1, 10]},
    "euclidean": {"type": "euclidean", "dim": 3, "bounds": [[-1, 1], [-1, 1], [-1, 1]]},
    "hyperbolic": {"type": "hyperbolic", "dim": 2, "radius": 2},
    "pose": {
        "type": "pose",
        "position": {"bounds": [[0.3, 0.6], [-0.2, 0.2], [0.1, 0.5]], "unit": "m"},
        "orientation": {"order": "xyzw"},
    },
    "product": {
        "type": "product",
        "factors": {"tool": {"type": "rotation", "order": "xyzw"}, "gain": {"type": "real", "bounds": [0, 1]}},
    },
    "ball": {"center": {"w": 1, "x": 0, "y": 0, "z": 0}, "radius": 0.35},
    "cap": {"center": [0, 0, 1], "radius": 0.5},
}
"""What a space, or an optional part of one, is when it is chosen."""


def of_spaces() -> list[dict[str, Any]]:
    """Every type of space, in the order in which it is offered, with its fields."""
    return [
        {"type": kind, "label": label, "beginning": BEGINNINGS[kind], "fields": _of_model(spaces.SPACE_TYPES[kind])}
        for kind, label in NAMES.items()
    ]


def of_studies() -> list[Field]:
    """The fields of a study, apart from its space."""
    found = {field["name"]: field for field in _of_model(schemas.StudyCreate)}
    return [found[name] for name in OF_STUDIES]


def _of_model(model: type[BaseModel]) -> list[Field]:
    document = model.model_json_schema()
    definitions = document.get("$defs", {})
    return list(_fields(_resolved(document, definitions), definitions))


def _fields(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[Field]:
    """The fields of an object that have a label; units follow numbers, and those that most do without are last."""
    title, properties = schema["title"], schema["properties"]
    labels = {name: LABELS.get(f"{title}.{name}", LABELS.get(name)) for name in properties}
    shown = [name for name, known in properties.items() if labels[name] and "const" not in known]
    for name in sorted(shown, key=lambda name: (_is_rare(title, name), name == "unit")):
        known = properties[name]
        alternatives = [_resolved(one, definitions) for one in known.get("anyOf", [known])]
        given = [one for one in alternatives if one.get("type") != "null"]
        yield {
            "name": name,
            "label": labels[name],
            "rare": _is_rare(title, name),
            "optional": len(given) < len(alternatives),
            "usual": known.get("default"),
            **_control(name, given, definitions, is_sized="dim" in properties),
        }


def _control(
    name: str, given: Sequence[Mapping[str, Any]], definitions: Mapping[str, Any], *, is_sized: bool
) -> dict[str, Any]:
    """The kind of a field's control, and what it needs."""
    found: dict[str, Any]
    match given:
        case [{"type": "number"}, {"enum": options}]:
            found = {"kind": "number", "suggested": [0.5, 1.5, 2.5, *options]}
        case [{"enum": options}]:
            found = {"kind": "choice", "options": options}
        case [{"type": "number" | "integer"}]:
            found = {"kind": "number"}
        case [{"type": "string"}]:
            found = {"kind": "text"}
        case [{"type": "array", "prefixItems": [{"type": "number"}, _]}]:
            found = {"kind": "pair"}
        case [{"type": "array"} as pairs]:
            found = {"kind": "pairs", "can_grow": not is_sized and pairs.get("minItems") != pairs.get("maxItems")}
        case [{"properties": _} as schema]:
            found = {"kind": "group", "fields": list(_fields(schema, definitions)), "beginning": BEGINNINGS.get(name)}
        case [{"type": "object"}]:
            found = {"kind": "factors"}
        case _:
            found = {"kind": "anything"}
    return found


def _is_rare(title: str, name: str) -> bool:
    return name in RARE or f"{title}.{name}" in RARE


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference leads to; the schema itself if it is none."""
    target = schema.get("$ref", "").removeprefix("#/$defs/")
    return definitions[target] if target else schema
