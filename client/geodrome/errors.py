"""The error tree: code, HTTP status and title of every problem; raised by the server, raised again by the client.

::

    GeodromeError
    ├── ServiceUnreachable          no answer came; nothing is known about the request
    └── Problem                     the service answered with application/problem+json (RFC 9457)
        ├── InvalidRequest          422  the body or a parameter breaks a rule
        │   ├── InvalidPoint        422  the point is not on its manifold, or not in its domain
        │   ├── InvalidCost         422  the cost is not a finite number
        │   ├── InvalidSpace        422  the space cannot be searched as it is written
        │   └── EmptyDomain         422  no point satisfies the bounds and constraints together
        ├── StudyNotFound           404
        ├── TrialNotFound           404
        ├── StudyExists             409
        ├── StudyClosed             409  closed, or its budget is spent
        ├── StudyPaused             409
        ├── OutcomeConflict         409  another outcome is stored; the problem shows it
        ├── IdempotencyConflict     409  the key was used for another request
        ├── Unauthorized            401
        ├── Forbidden               403
        ├── TooLarge                413
        ├── RateLimited             429
        ├── ComputeUnavailable      503
        ├── DatabaseUnavailable     503
        └── InternalError           500
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self


@dataclass(frozen=True)
class FieldError:
    """One broken rule.

    Attributes:
        pointer: JSON pointer (RFC 6901) to the field in the request body, such as ``/point/tool``.
        detail: What is wrong, in a sentence.
        got: The value that was found, as JSON.
        rule: The rule that it breaks.
    """

    pointer: str
    detail: str
    got: Any = None
    rule: str = ""


class GeodromeError(Exception):
    """Everything that this package raises."""


class ServiceUnreachable(GeodromeError):
    """No answer came within the retries: nothing is known about what the service did."""


class Problem(GeodromeError):
    """The service refused or failed.

    Args:
        detail: What happened, in a sentence with the value seen and the value wanted.
        errors: The broken rules, one for each field.
        extra: Further members of the problem body, such as the stored trial of an outcome conflict.
    """

    code: ClassVar[str]
    status: ClassVar[int]
    title: ClassVar[str]
    retryable: ClassVar[bool] = False

    def __init__(
        self,
        detail: str,
        *,
        errors: Sequence[FieldError] = (),
        extra: Mapping[str, Any] | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors)
        self.extra = dict(extra or {})
        self.request_id = request_id

    def __str__(self) -> str:
        lines = [f"{self.title}: {self.detail}"]
        lines += [f"  {error.pointer}: {error.detail}" for error in self.errors]
        if self.request_id:
            lines.append(f"  request {self.request_id}")
        return "\n".join(lines)

    def body(self, *, instance: str, request_id: str) -> dict[str, Any]:
        """The problem as it travels.

        Args:
            instance: The path of the request that failed.
            request_id: The id under which the log knows this request.
        """
        return {
            "type": f"/problems/{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": instance,
            "code": self.code,
            "request_id": request_id,
            "retryable": self.retryable,
            "errors": [asdict(error) for error in self.errors],
            **self.extra,
        }

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Self:
        """The typed error that a problem body stands for."""
        known = {"type", "title", "status", "detail", "instance", "code", "request_id", "retryable", "errors"}
        kind = PROBLEMS.get(str(body.get("code")), InternalError)
        fields = [
            FieldError(
                pointer=str(error.get("pointer", "")),
                detail=str(error.get("detail", "")),
                got=error.get("got"),
                rule=str(error.get("rule", "")),
            )
            for error in body.get("errors", ())
        ]
        problem = kind(
            str(body.get("detail", "")),
            errors=fields,
            extra={name: value for name, value in body.items() if name not in known},
            request_id=body.get("request_id"),
        )
        assert isinstance(problem, cls)
        return problem


class InvalidRequest(Problem):
    """The body or a parameter breaks a rule."""

    code = "invalid-request"
    status = 422
    title = "The request is malformed"


class InvalidPoint(InvalidRequest):
    """The point is not on its manifold, or not in its domain."""

    code = "invalid-point"
    title = "The point is not valid in this study's space"


class InvalidCost(InvalidRequest):
    """The cost, or its standard deviation, is not a finite number."""

    code = "invalid-cost"
    title = "The cost is not a finite number"


class InvalidSpace(InvalidRequest):
    """The space cannot be searched as it is written."""

    code = "invalid-space"
    title = "The space is not valid"


class EmptyDomain(InvalidRequest):
    """No point satisfies the bounds and constraints together."""

    code = "empty-domain"
    title = "The domain is empty"


class StudyNotFound(Problem):
    """No study has this name or id."""

    code = "study-not-found"
    status = 404
    title = "No such study"


class TrialNotFound(Problem):
    """The study has no trial with this number."""

    code = "trial-not-found"
    status = 404
    title = "No such trial"


class StudyExists(Problem):
    """The name is taken, or taken by a study that is defined differently."""

    code = "study-exists"
    status = 409
    title = "A study of this name exists"


class StudyClosed(Problem):
    """The study is closed, or its budget is spent."""

    code = "study-closed"
    status = 409
    title = "The study is closed"


class StudyPaused(Problem):
    """The study is paused; tells are still accepted."""

    code = "study-paused"
    status = 409
    title = "The study is paused"


class OutcomeConflict(Problem):
    """Another outcome is stored for this trial; ``extra["stored"]`` is the stored trial."""

    code = "outcome-conflict"
    status = 409
    title = "Another outcome is stored"


class IdempotencyConflict(Problem):
    """The idempotency key was used for another request."""

    code = "idempotency-conflict"
    status = 409
    title = "The idempotency key was used for another request"


class Unauthorized(Problem):
    """No key, or a wrong one."""

    code = "unauthorized"
    status = 401
    title = "A valid key is needed"


class Forbidden(Problem):
    """The key's role does not allow this."""

    code = "forbidden"
    status = 403
    title = "The key does not allow this"


class TooLarge(Problem):
    """The body is over the limit."""

    code = "too-large"
    status = 413
    title = "The body is too large"


class RateLimited(Problem):
    """Too many requests."""

    code = "rate-limited"
    status = 429
    title = "Too many requests"
    retryable = True


class ComputeUnavailable(Problem):
    """No worker can compute a suggestion now; tells go on."""

    code = "compute-unavailable"
    status = 503
    title = "The compute pool is not available"
    retryable = True


class DatabaseUnavailable(Problem):
    """The database does not answer now."""

    code = "database-unavailable"
    status = 503
    title = "The database is not available"
    retryable = True


class InternalError(Problem):
    """A fault of the service; the trace is in its log, under the request id."""

    code = "internal"
    status = 500
    title = "The service failed"


PROBLEMS: dict[str, type[Problem]] = {
    kind.code: kind
    for kind in (
        InvalidRequest,
        InvalidPoint,
        InvalidCost,
        InvalidSpace,
        EmptyDomain,
        StudyNotFound,
        TrialNotFound,
        StudyExists,
        StudyClosed,
        StudyPaused,
        OutcomeConflict,
        IdempotencyConflict,
        Unauthorized,
        Forbidden,
        TooLarge,
        RateLimited,
        ComputeUnavailable,
        DatabaseUnavailable,
        InternalError,
    )
}
"""Every problem by its code."""
