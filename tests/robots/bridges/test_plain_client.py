"""The client that is one file: the same calls as the SDK's, on a live service and on one that fails by a script."""

from __future__ import annotations

import ast
import http.server
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from geodrome_robots.bridges import plain_client, ros2
from geodrome_robots.bridges.plain_client import Refused, Service, Unreachable

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from plain_client import Refused, Service
service = Service(sys.argv[2], timeout_s=60)
service.create_study(sys.argv[3], {"type": "sphere", "dim": 2}, initial_design={"size": 5})
trial = service.ask(sys.argv[3], worker="arm-1")
service.heartbeat(sys.argv[3], trial["number"], lease_s=700)
print(service.tell(sys.argv[3], trial["number"], cost=0.5, metrics={"peak_N": 3.0})["state"])
try:
    service.tell(sys.argv[3], trial["number"], cost=0.6)
except Refused as error:
    print(error.status, error.code)
print(service.study(sys.argv[3])["counts"]["completed"])
print(sorted({"httpx", "pydantic", "numpy", "geodrome"} & set(sys.modules)))
"""


def test_the_file_alone_takes_part_without_any_package(server, study_name, tmp_path):
    (tmp_path / "plain_client.py").write_text(Path(plain_client.__file__).read_text())

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", PROGRAM, str(tmp_path), server, study_name],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["completed", "409 outcome-conflict", "1", "[]"]


@pytest.mark.parametrize("module", [plain_client, ros2])
def test_what_is_copied_to_a_robot_is_python_3_10_and_imports_the_standard_library_only(module):
    tree = ast.parse(Path(module.__file__).read_text(), feature_version=(3, 10))

    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


@pytest.fixture
def scripted(monkeypatch):
    """A service that gives one answer after the other, status, headers and body, and keeps what it was asked."""
    monkeypatch.setattr(plain_client, "FIRST_PAUSE_S", 0.01)
    servers = []

    def start(*answers):
        pending, asked = list(answers), []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                asked.append((self.path, dict(self.headers), json.loads(body)))
                status, headers, text = pending.pop(0)
                if status is None:  # the answer is lost
                    self.close_connection = True
                    return
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *arguments):
                pass

        listening = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        servers.append(listening)
        return f"http://127.0.0.1:{listening.server_port}", asked

    yield start
    for listening in servers:
        listening.shutdown()
        listening.server_close()


TRIAL = json.dumps({"trials": [{"number": 1}]})


def test_a_call_is_repeated_under_its_key_until_it_is_answered(scripted):
    url, asked = scripted(
        (None, {}, ""), (202, {"Retry-After": "0"}, "{}"), (429, {}, ""), (502, {}, ""), (503, {}, ""), (504, {}, ""),
        (200, {}, TRIAL),
    )  # fmt: skip

    trial = Service(url).ask("arm", worker="arm-1")

    assert trial == {"number": 1}
    keys = [headers["Idempotency-Key"] for _, headers, _ in asked]
    assert len(keys) == 7
    assert len(set(keys)) == 1
    assert {(path, body["worker"]) for path, _, body in asked} == {("/v1/studies/arm/ask", "arm-1")}


def test_each_call_has_a_key_of_its_own(scripted):
    url, asked = scripted((200, {}, "{}"), (200, {}, "{}"))
    service = Service(url, key="secret")

    service.heartbeat("arm", 1)
    service.tell("arm", 1, cost=0.5)

    assert asked[0][1]["Idempotency-Key"] != asked[1][1]["Idempotency-Key"]
    assert {headers["Authorization"] for _, headers, _ in asked} == {"Bearer secret"}


def test_a_refusal_is_not_repeated(scripted):
    problem = {"code": "study-closed", "detail": "its budget is spent", "status": 409}
    url, asked = scripted((409, {}, json.dumps(problem)))

    with pytest.raises(Refused, match="study-closed: its budget is spent") as refused:
        Service(url).ask("arm")
    assert (refused.value.status, refused.value.code, len(asked)) == (409, "study-closed", 1)


def test_a_refusal_by_somebody_else_shows_what_was_said(scripted):
    url, _ = scripted((404, {}, "<h1>No such\n page</h1>"))

    with pytest.raises(Refused, match="404: <h1>No such page</h1>"):
        Service(url).ask("arm")


def test_a_service_that_is_away_is_unreachable_after_the_time(closed_port):
    with pytest.raises(Unreachable, match=r"no answer within 0\.5 s"):
        Service(f"http://127.0.0.1:{closed_port}", timeout_s=0.5).ask("arm")


def test_a_cost_that_is_not_finite_is_refused_before_it_is_sent():
    with pytest.raises(ValueError, match="a run without a cost failed"):
        Service().tell("arm", 1, cost=float("nan"))


def test_an_address_without_a_scheme_is_refused():
    with pytest.raises(ValueError, match="begins with http"):
        Service("127.0.0.1:8100")
