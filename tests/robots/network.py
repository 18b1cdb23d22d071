"""A network between a robot and the service, which can be cut."""

from __future__ import annotations

import contextlib
import socket
import threading
from urllib.parse import urlsplit


class Network:
    """Passes every connection at ``url`` on to the service, until it is cut.

    Args:
        service: URL of the service; may change.
    """

    def __init__(self, service: str) -> None:
        self.service = service
        self._open: set[socket.socket] = set()
        self._listen(0)
        self.url = f"http://127.0.0.1:{self._port}"

    def cut(self) -> None:
        """Ends all connections; new ones are refused."""
        # Without the shutdown, the thread that waits for connections would keep the port open.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for end in list(self._open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """Lets connections through again."""
        self._listen(self._port)

    def _listen(self, port: int) -> None:
        self._listening = socket.create_server(("127.0.0.1", port))
        self._port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                robot, _ = listening.accept()
                threading.Thread(target=self._join, args=(robot,), daemon=True).start()

    def _join(self, robot: socket.socket) -> None:
        address = urlsplit(self.service)
        try:
            service = socket.create_connection((address.hostname, address.port))
        except OSError:
            robot.close()
            return
        self._open |= {robot, service}
        back = threading.Thread(target=self._pump, args=(service, robot), daemon=True)
        back.start()
        self._pump(robot, service)
        back.join()
        self._open -= {robot, service}
        robot.close()
        service.close()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
