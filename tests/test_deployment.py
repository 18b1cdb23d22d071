"""The compose file and the Dockerfiles: what they say holds together, and their commands run, without Docker."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from dockerfile_parse import DockerfileParser

from tests.postgres import temporary_database

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
COMPOSE = (ROOT / "docker-compose.yml").read_text()
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE)["services"]
DOCKERFILES = ("service/Dockerfile", "robot_adapters/Dockerfile")
VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")
START_TIMEOUT_S = 120
STOP_TIMEOUT_S = 30


def example() -> dict[str, str]:
    lines = (ROOT / ".env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def interpolated(text: str, variables: Mapping[str, str]) -> str:
    """The text as compose reads it."""

    def value(found: re.Match[str]) -> str:
        name, how, otherwise = found.groups()
        given = variables.get(name, "")
        assert given or how != "?", f"{name}: {otherwise}"
        return given or (otherwise if how == "-" else "")

    return VARIABLE.sub(value, text)


class TestCompose:
    def test_these_are_the_services(self):
        assert set(SERVICES) == {"postgres", "migrate", "api", "scheduler", "worker", "robot"}
        assert SERVICES["robot"]["profiles"] == ["robot"]
        assert not any("profiles" in service for name, service in SERVICES.items() if name != "robot")

    def test_every_variable_is_in_the_example_and_nothing_else(self):
        assert {found[1] for found in VARIABLE.finditer(COMPOSE)} == set(example())

    def test_without_a_password_nothing_starts(self):
        with pytest.raises(AssertionError, match=r"set it in \.env"):
            interpolated(COMPOSE, example())
        assert yaml.safe_load(interpolated(COMPOSE, example() | {"POSTGRES_PASSWORD": "secret"}))

    def test_services_wait_for_what_they_need(self):
        waits = {
            name: {other: how["condition"] for other, how in service.get("depends_on", {}).items()}
            for name, service in SERVICES.items()
        }

        assert waits == {
            "postgres": {},
            "migrate": {"postgres": "service_healthy"},
            "api": {"migrate": "service_completed_successfully", "scheduler": "service_started"},
            "scheduler": {},
            "worker": {"scheduler": "service_started"},
            "robot": {"api": "service_healthy"},
        }
        assert "healthcheck" in SERVICES["postgres"]
        assert "healthcheck" in SERVICES["api"]

    def test_the_database_outlives_its_container_and_only_the_api_is_reached_from_outside(self):
        [volume] = SERVICES["postgres"]["volumes"]

        assert volume.split(":")[0] in yaml.safe_load(COMPOSE)["volumes"]
        assert [name for name, service in SERVICES.items() if "ports" in service] == ["api"]
        assert interpolated(SERVICES["api"]["ports"][0], {}).startswith("127.0.0.1:")

    def test_what_starts_again_and_what_runs_once(self):
        restarts = {name: service.get("restart") for name, service in SERVICES.items()}

        assert restarts == {
            "postgres": "unless-stopped",
            "migrate": "no",
            "api": "unless-stopped",
            "scheduler": "unless-stopped",
            "worker": "unless-stopped",
            "robot": None,
        }

    def test_images_are_built_from_files_that_are_there(self):
        files = {service["build"]["dockerfile"] for service in SERVICES.values() if "build" in service}

        assert files == set(DOCKERFILES)
        assert all((ROOT / file).is_file() for file in files)

    def test_every_setting_that_is_given_is_one(self):
        from geodrome_service.settings import Settings

        known = {f"GEODROME_{name.upper()}" for name in Settings.model_fields} | {"GEODROME_URL", "GEODROME_KEY"}
        given = {
            name
            for service in SERVICES.values()
            for name in service.get("environment", {})
            if name.startswith("GEODROME_")
        }

        assert given <= known


@pytest.mark.slow
def test_the_commands_of_all_services_work_together(tmp_path):
    """As compose runs them, on a PostgreSQL database, with the addresses of this machine in place of the names."""
    ports = {"api": free_port(), "scheduler": free_port()}
    with temporary_database() as database, ExitStack() as running:
        address = database.render_as_string(hide_password=False)
        names = {
            "postgresql://geodrome:secret@postgres:5432/geodrome": address,
            "tcp://scheduler:8786": f"tcp://127.0.0.1:{ports['scheduler']}",
            "http://api:8100": f"http://127.0.0.1:{ports['api']}",
        }

        def environment(name: str, **more: str) -> dict[str, str]:
            values = SERVICES[name].get("environment", {})
            variables = example() | {"POSTGRES_PASSWORD": "secret", **more}
            given = {key: interpolated(str(value), variables) for key, value in values.items()}
            return {key: names.get(value, value) for key, value in given.items()}

        def once(name: str, *command: str, **more: str) -> str:
            given = command or SERVICES[name]["command"]
            return subprocess.run(
                [BIN / given[0], *given[1:]],
                env=clean() | environment(name, **more),
                cwd=tmp_path,
                check=True,
                stdout=subprocess.PIPE,
                text=True,
                timeout=START_TIMEOUT_S,
            ).stdout

        assert once("migrate").startswith("upgraded")
        assert once("migrate").startswith("up to date")
        key = once("api", "geodrome", "keys", "create", "--role", "admin").split()[-1]
        scheduler = [part.replace("8786", str(ports["scheduler"])) for part in SERVICES["scheduler"]["command"]]
        for name, command, more in (
            ("scheduler", scheduler, {}),
            ("worker", SERVICES["worker"]["command"], {"GEODROME_WORKERS": "1"}),
            ("api", SERVICES["api"]["command"], {"GEODROME_PORT": str(ports["api"])}),
        ):
            running.enter_context(background(command, environment(name) | more, tmp_path / f"{name}.log"))
        ready = f"http://127.0.0.1:{ports['api']}/readyz"
        wait_for(lambda: httpx.get(ready).json() == {"database": True, "compute": True})

        check = [part.replace("8100", str(ports["api"])) for part in SERVICES["api"]["healthcheck"]["test"][1:]]
        subprocess.run([BIN / check[0], *check[1:]], check=True, timeout=30)
        trials = ["2" if part == "40" else part for part in SERVICES["robot"]["command"]]
        once("robot", *trials, GEODROME_KEY=key)
        shown = httpx.get(
            f"http://127.0.0.1:{ports['api']}/v1/studies/panda", headers={"Authorization": f"Bearer {key}"}
        ).json()

        assert shown["counts"]["completed"] == 2
        assert httpx.get(f"http://127.0.0.1:{ports['api']}/v1/studies/panda").status_code == 401


class TestDockerfiles:
    @pytest.mark.parametrize("file", DOCKERFILES)
    def test_the_image_has_what_was_built_and_runs_as_nobody_special(self, file):
        steps = [(step["instruction"], step["value"]) for step in structure(file)]
        stages = [value for kind, value in steps if kind == "FROM"]
        last = steps[max(index for index, (kind, _) in enumerate(steps) if kind == "FROM") :]

        assert len(stages) == 2
        assert stages[0].endswith(" AS build")
        assert [value for kind, value in last if kind == "COPY"] == ["--from=build /opt/geodrome /opt/geodrome"]
        assert [value for kind, value in last if kind == "USER"] == ["geodrome"]

    @pytest.mark.parametrize("file", DOCKERFILES)
    def test_what_is_copied_is_there_and_not_ignored(self, file):
        ignored = (ROOT / ".dockerignore").read_text().split()
        copied = [
            part
            for step in structure(file)
            if step["instruction"] == "COPY" and not step["value"].startswith("--from")
            for part in step["value"].split()[:-1]
        ]

        assert copied
        assert all((ROOT / part).exists() for part in copied)
        assert {f"!{part}" for part in copied} <= set(ignored)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("file", "commands"),
        [
            ("service/Dockerfile", (["serve", "--help"], ["worker", "--help"], ["db", "--help"])),
            ("robot_adapters/Dockerfile", (["robot", "list"],)),
        ],
    )
    def test_its_install_steps_give_an_environment_in_which_its_commands_run(self, file, commands, tmp_path):
        source, environment = tmp_path / "src", tmp_path / "environment"
        source.mkdir()
        for step in structure(file):
            match step["instruction"], step["value"]:
                case "COPY", value if not value.startswith("--from"):
                    *parts, _ = value.split()
                    for part in parts:
                        copy(ROOT / part, source / part)
                case "RUN", value if "useradd" not in value:
                    path = f"{environment / 'bin'}:{os.environ['PATH']}"
                    script = value.replace("python -m venv /opt/geodrome", f"{sys.executable} -m venv {environment}")
                    variables = clean() | {"PATH": path, "TORCH_INDEX_URL": ""}
                    subprocess.run(["sh", "-ec", script], cwd=source, env=variables, check=True, timeout=900)
        shutil.rmtree(source)

        for command in commands:
            subprocess.run(
                [environment / "bin" / "geodrome", *command], cwd=tmp_path, env=clean(), check=True, timeout=120
            )
        has_torch = subprocess.run([environment / "bin" / "python", "-c", "import torch"], check=False).returncode == 0
        assert has_torch is (file == "service/Dockerfile")


def structure(file: str) -> list[dict[str, Any]]:
    with (ROOT / file).open("rb") as opened:
        return [step for step in DockerfileParser(fileobj=opened).structure if step["instruction"] != "COMMENT"]


def copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def clean() -> dict[str, str]:
    """The environment, without the settings of whoever runs the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GEODROME_")}


@contextmanager
def background(command: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("w") as output:
        process = subprocess.Popen(
            [BIN / command[0], *command[1:]], env=clean() | environment, cwd=log.parent, stdout=output, stderr=output
        )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(STOP_TIMEOUT_S)


def wait_for(is_so: Any) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            if is_so():
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.2)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port
