"""Waiting for a process that takes its time."""

import sys
import time


def wait_for(what, is_so, seconds):
    """Ends this program where it is not so in time."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            sys.exit(f"FAILED: waited in vain for {what}")
        time.sleep(0.1)
