"""Firefox without a window, driven by its own protocol (Marionette): a length, a colon and JSON over a local socket."""

import base64
import json
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
START_S = 60
# Nothing of Firefox's own asks the network; port 0: any that is free, written into the profile.
PREFERENCES = {
    "marionette.port": 0,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "layout.css.prefers-color-scheme.content-override": 1,  # light
}
SCHEMES = {"dark": 0, "light": 1}


class Firefox:
    """One tab."""

    def __init__(self, port: int) -> None:
        self._socket, self._count, self._rest = socket.create_connection(("127.0.0.1", port), timeout=60), 0, b""
        self._read()  # its greeting
        self._ask("WebDriver:NewSession", {})

    def _read(self):
        while b":" not in self._rest:
            self._rest += self._socket.recv(65536)
        length, _, self._rest = self._rest.partition(b":")
        while len(self._rest) < int(length):
            self._rest += self._socket.recv(65536)
        message, self._rest = self._rest[: int(length)], self._rest[int(length) :]
        return json.loads(message)

    def _ask(self, command: str, values: dict):
        self._count += 1
        asked = json.dumps([0, self._count, command, values]).encode()
        self._socket.sendall(str(len(asked)).encode() + b":" + asked)
        _, _, error, result = self._read()
        assert error is None, error
        return result

    def open(self, page: Path, width: int, height: int = 900) -> None:
        """The page in a view of that width."""
        self._ask("WebDriver:Navigate", {"url": page.as_uri()})
        frame = self.run("return [outerWidth - innerWidth, outerHeight - innerHeight]")
        self._ask("WebDriver:SetWindowRect", {"width": width + frame[0], "height": height + frame[1]})

    def run(self, script: str, *given: object):
        """What a script returns."""
        return self._ask("WebDriver:ExecuteScript", {"script": script, "args": list(given)})["value"]

    def picture(self, file: Path) -> None:
        """The whole page as PNG."""
        taken = self._ask("WebDriver:TakeScreenshot", {"full": True})["value"]
        file.write_bytes(base64.b64decode(taken))


@contextmanager
def firefox(profile: Path, scheme: str = "light"):
    """A Firefox with that (new, empty) profile; the test is skipped where there is none."""
    if FIREFOX is None:
        pytest.skip("no Firefox on this machine: apt-get install firefox-esr")
    profile.mkdir(parents=True)
    chosen = PREFERENCES | {"layout.css.prefers-color-scheme.content-override": SCHEMES[scheme]}
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in chosen.items())
    (profile / "user.js").write_text("\n".join(lines))
    command = [FIREFOX, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield Firefox(_port(profile / "MarionetteActivePort", process))
    finally:
        process.terminate()
        process.wait(30)


def _port(file: Path, process: subprocess.Popen) -> int:
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        if file.exists() and (written := file.read_text().strip()):
            return int(written)
        time.sleep(0.1)
    raise RuntimeError(f"Firefox did not say its port within {START_S} s (code {process.poll()})")
