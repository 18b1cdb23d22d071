"""How a service runs: from ``GEODROME_*`` variables, a ``.env`` file, or the command line, which goes first.

Nothing else looks at the environment. ``docs/operations.md`` has the same as a table.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

LOOPBACK_NAME = "localhost"


def is_loopback(host: str) -> bool:
    """Whether an address, or a name, is one that only this machine reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == LOOPBACK_NAME


def _listed(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _checked_origin(origin: str) -> str:
    parts = urlsplit(origin)
    # Not "*": every page that a person in the lab looks at could then speak to the robots.
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path or parts.query or "@" in parts.netloc:
        raise ValueError(f"an origin is http://host or https://host:port, with nothing behind it; got {origin!r}")
    return origin


Origin = Annotated[str, AfterValidator(_checked_origin)]


class Settings(BaseSettings):
    """How a service runs."""

    model_config = SettingsConfigDict(env_prefix="GEODROME_", env_file=".env", extra="ignore", frozen=True)

    database_url: Annotated[str, Field(description="SQLite file, which is made, or `postgresql://user@host/name`.")] = (
        "geodrome.db"
    )
    database_connections: Annotated[int, Field(ge=2, description="Connections to the database, at most.")] = 8
    host: Annotated[str, Field(description="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535, description="Port to listen on; 0 takes a free one.")] = 8100
    insecure: Annotated[
        bool, Field(description="Listen on an address that others reach although there are no keys.")
    ] = False
    workers: Annotated[int, Field(ge=1, description="Processes that compute suggestions.")] = 1
    compute: Annotated[
        str | None,
        Field(
            pattern=r"^(tcp|tls)://[^\s/]+:\d+$",
            description="Dask scheduler whose workers compute, `tcp://host:8786` or `tls://…`; else the server's own.",
        ),
    ] = None
    compute_tls_ca: Annotated[
        Path | None, Field(description="PEM file of the authority that signed the certificates at the scheduler.")
    ] = None
    compute_tls_cert: Annotated[Path | None, Field(description="PEM file of this process's certificate.")] = None
    compute_tls_key: Annotated[Path | None, Field(description="PEM file of its private key.")] = None
    body_limit_mib: Annotated[int, Field(ge=1, le=1024, description="Largest body of a request, in MiB.")] = 4
    import_limit_mib: Annotated[
        int, Field(ge=1, le=4096, description="Largest study that is imported, in MiB; 256 are some 100,000 trials.")
    ] = 256
    rate_per_s: Annotated[
        float | None,
        Field(
            ge=0.01,
            le=1e6,
            description="Requests per second of one key, or of one address without keys; no limit if not set.",
        ),
    ] = None
    rate_burst: Annotated[
        int,
        Field(ge=1, le=1_000_000, description="So many may come at once after a pause, where there is a rate."),
    ] = 50
    cors_origins: Annotated[
        tuple[Origin, ...],
        NoDecode,
        BeforeValidator(_listed),
        Field(description="Origins whose web pages may speak to the service, with commas between them."),
    ] = ()
    log_format: Annotated[
        Literal["console", "json"] | None,
        Field(description="`console` or `json`; if not set, `console` on a terminal and `json` elsewhere."),
    ] = None
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Field(description="The least that is logged: `debug`, `info`, `warning` or `error`."),
    ] = "info"

    @model_validator(mode="after")
    def _certificates_belong_to_tls(self) -> Self:
        files = (self.compute_tls_ca, self.compute_tls_cert, self.compute_tls_key)
        encrypted = self.compute is not None and self.compute.startswith("tls://")
        if any(file is None for file in files) if encrypted else any(file is not None for file in files):
            raise ValueError(
                "GEODROME_COMPUTE=tls://… and all of GEODROME_COMPUTE_TLS_CA, _CERT and _KEY belong together"
            )
        return self

    @property
    def needs_keys(self) -> bool:
        """Whether nobody is let in while there are no keys."""
        return not (self.insecure or is_loopback(self.host))
