"""What a process does first that trains for another."""

import os
import signal
import threading
import time

import torch


def begin(parent_pid: int) -> None:
    """End when the parent ends, leave Ctrl-C to it, and use one thread.

    One thread gives the same bits on every machine, and processes do not fight for cores.
    """
    threading.Thread(target=_end_with, args=(parent_pid,), daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches workers too; the parent ends them
    torch.set_num_threads(1)


def _end_with(parent_pid: int) -> None:
    """End this process when its parent is gone: a killed parent cannot tell its workers."""
    while os.getppid() == parent_pid:
        time.sleep(0.5)
    os._exit(1)
