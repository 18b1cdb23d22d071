"""Who may do what: every call of the interface with the role that it needs. This is the only place that says so.

The template of a call also stands for it in the log and in the metrics, where its address as sent would tell too much
and never end.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.routing import compile_path

from geodrome_service.roles import Role

UNKNOWN = "(unknown)"

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@dataclass(frozen=True)
class Rule:
    """What a call needs.

    Attributes:
        method: Of HTTP.
        template: Its address, with names for what varies.
        role: The least role that may do it; None if it needs no key.
        is_page: Whether a person looks at the answer, problems included.
    """

    method: str
    template: str
    role: Role | None
    is_page: bool = False


ANYBODY = (
    "/healthz",
    "/readyz",
    "/problems/{code}",
    "/openapi.json",
    "/docs",
    "/docs/oauth2-redirect",
    "/static-offline-docs/{file:path}",
)

VIEWERS = (
    "/metrics",
    "/v1/spaces",
    "/v1/studies",
    "/v1/studies/{study}",
    "/v1/studies/{study}/best",
    "/v1/studies/{study}/events",
    "/v1/studies/{study}/export",
    "/v1/studies/{study}/model",
    "/v1/studies/{study}/trials",
    "/v1/studies/{study}/trials/{number}",
    "/v1/studies/{study}/views",
)

PAGES = (
    Rule("GET", "/", Role.VIEWER, is_page=True),
    # Who may not make a study learns there why.
    Rule("GET", "/new", Role.VIEWER, is_page=True),
    Rule("POST", "/new", Role.ADMIN, is_page=True),
    Rule("GET", "/studies/{study}", Role.VIEWER, is_page=True),
    Rule("GET", "/studies/{study}/geometry", Role.VIEWER, is_page=True),
    Rule("GET", "/studies/{study}/model", Role.VIEWER, is_page=True),
    Rule("GET", "/studies/{study}/trials/{number}", Role.VIEWER, is_page=True),
    Rule("GET", "/sign-in", None, is_page=True),
    Rule("POST", "/sign-in", None, is_page=True),
    Rule("POST", "/sign-out", None, is_page=True),
)
"""Pages of the dashboard."""

PARTS = (
    Rule("GET", "/assets/{file}", None),
    Rule("GET", "/list", Role.VIEWER, is_page=True),
    Rule("POST", "/new/check", Role.ADMIN),
    Rule("GET", "/studies/{study}/summary", Role.VIEWER, is_page=True),
    Rule("GET", "/studies/{study}/trials", Role.VIEWER, is_page=True),
    Rule("GET", "/studies/{study}/trials/{number}/record", Role.VIEWER, is_page=True),
    Rule("GET", "/studies/{study}/trials/{number}/actions", Role.VIEWER, is_page=True),
    Rule("GET", "/studies/{study}/figures/convergence", Role.VIEWER),
    Rule("GET", "/studies/{study}/geometry/state", Role.VIEWER, is_page=True),
    Rule("GET", "/studies/{study}/figures/views/{name:path}", Role.VIEWER),
    Rule("GET", "/studies/{study}/figures/slices", Role.VIEWER),
    Rule("GET", "/studies/{study}/model/numbers", Role.VIEWER, is_page=True),
    Rule("GET", "/studies/{study}/figures/model", Role.VIEWER),
)
"""What the pages are made of."""

RULES = (
    *(Rule("GET", template, None) for template in ANYBODY),
    *(Rule("GET", template, Role.VIEWER) for template in VIEWERS),
    Rule("POST", "/v1/studies/{study}/predict", Role.ROBOT),
    Rule("POST", "/v1/studies/{study}/ask", Role.ROBOT),
    Rule("POST", "/v1/studies/{study}/trials", Role.ROBOT),
    Rule("POST", "/v1/studies/{study}/trials/batch", Role.ROBOT),
    Rule("POST", "/v1/studies/{study}/trials/{number}/tell", Role.ROBOT),
    Rule("POST", "/v1/studies/{study}/trials/{number}/heartbeat", Role.ROBOT),
    # To go on with a study that exists; the route itself lets only admins make one.
    Rule("POST", "/v1/studies", Role.ROBOT),
    Rule("POST", "/v1/studies/import", Role.ADMIN),
    Rule("PATCH", "/v1/studies/{study}", Role.ADMIN),
    Rule("DELETE", "/v1/studies/{study}", Role.ADMIN),
    *PAGES,
    *PARTS,
)
"""The first that fits holds."""

RULES_BY_CALL = {(rule.method, rule.template): rule for rule in RULES}
"""The rule of each call that is written down."""


@dataclass(frozen=True)
class Call:
    """A request as the rules see it.

    Attributes:
        method: Of HTTP, or ``(unknown)``.
        template: Of its address, or ``(unknown)``.
        role: The least role that may do it, None if it needs no key. What no rule speaks of is for admins: a route
            that somebody forgot to write down here is not open.
        study: The study that it is about, as it was called; None if it is about none.
        is_page: Whether a person looks at the answer.
    """

    method: str
    template: str
    role: Role | None
    study: str | None
    is_page: bool = False


PATTERNS = {
    method: [(compile_path(rule.template)[0], rule) for rule in RULES if rule.method == method]
    for method in ("GET", "POST", "PATCH", "DELETE")
}


def methods_at(path: str) -> list[str]:
    """The methods that are possible at an address; not those at another one that has a name where this has a word."""
    fitting = [rule for known in PATTERNS.values() for pattern, rule in known if pattern.match(path)]
    fewest = min((rule.template.count("{") for rule in fitting), default=0)
    return [rule.method for rule in fitting if rule.template.count("{") == fewest]


def call_of(scope: Mapping[str, Any]) -> Call:
    """What the request wants, found once for each."""
    known: MutableMapping[str, Any] = scope["state"]
    if "call" not in known:
        known["call"] = _call(scope["method"], scope["path"].removeprefix(scope.get("root_path", "")))
    call: Call = known["call"]
    return call


def _call(method: str, path: str) -> Call:
    shown = method if method in METHODS else UNKNOWN
    for pattern, rule in PATTERNS.get("GET" if method == "HEAD" else method, ()):
        if found := pattern.match(path):
            return Call(shown, rule.template, rule.role, found.groupdict().get("study"), rule.is_page)
    return Call(shown, UNKNOWN, Role.ADMIN, None)
