"""Measure one run of one cell; by hand on any node: `python run_benchmark.py --help`."""

import sys

from sweetspot.errors import exit_on_user_error
from sweetspot.harness.devices import leased_devices
from sweetspot.harness.request import parse_request
from sweetspot.harness.supervise import supervise

if __name__ == "__main__":
    with exit_on_user_error():
        request = parse_request()
        with leased_devices(request):
            sys.exit(supervise(request))
