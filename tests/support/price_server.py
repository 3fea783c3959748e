"""A real HTTP server on this machine, with catalogues and with the faults that networks have."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@dataclass
class Answer:
    """What is sent for an address. `cut`: bytes of the body that are not sent though announced. `wait_s`: before it."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0
    wait_s: float = 0.0


Given = Answer | list[Answer] | Callable[[dict[str, list[str]]], Answer]


class PriceServer:
    """`routes`: the answer by path; of a list one after the other, the last for good; a function gets the query."""

    def __init__(self) -> None:
        self.routes: dict[str, Given] = {}
        self.asked: list[str] = []
        self.agents: list[dict[str, str]] = []
        self.url = ""

    def answer(self, target: str) -> Answer:
        self.asked.append(target)
        parts = urlsplit(target)
        given = self.routes.get(parts.path, Answer(b"no such file", 404))
        if callable(given):
            return given(parse_qs(parts.query))
        if isinstance(given, list):
            return given.pop(0) if len(given) > 1 else given[0]
        return given


@contextmanager
def serving() -> Iterator[PriceServer]:
    server = PriceServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            given = server.answer(self.path)
            server.agents.append(dict(self.headers))
            if given.wait_s:
                time.sleep(given.wait_s)
            try:
                self.send_response(given.status)
                for name, value in given.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(given.body)))
                self.end_headers()
                self.wfile.write(given.body[: len(given.body) - given.cut])
            except (BrokenPipeError, ConnectionResetError):
                pass

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        server.url = f"http://127.0.0.1:{listening.server_address[1]}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server
        listening.shutdown()
        thread.join()
