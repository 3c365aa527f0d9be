"""The heaps of a process: threads share two, whatever there are of them."""

import platform
import subprocess
import sys

import pytest

COUNTED = """
import ctypes, sys, threading
from ingather.app.memory import few_heaps
libc = ctypes.CDLL(None)
taken = few_heaps() if sys.argv[1] == "few" else False
libc.malloc.restype = ctypes.c_void_p
ready, done = threading.Barrier(9), threading.Event()
def work():
    [libc.malloc(ctypes.c_size_t(5000)) for _ in range(50)]
    ready.wait()
    done.wait()
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
ready.wait()
libc.open_memstream.restype = ctypes.c_void_p
at, size = ctypes.c_char_p(), ctypes.c_size_t()
stream = ctypes.c_void_p(libc.open_memstream(ctypes.byref(at), ctypes.byref(size)))
libc.malloc_info(0, stream)
libc.fclose(stream)
done.set()
[thread.join() for thread in threads]
print(int(taken), at.value.count(b"<heap nr="))
"""


def _heaps(which: str) -> tuple[bool, int]:
    told = subprocess.run(
        [sys.executable, "-c", COUNTED, which], capture_output=True, text=True, check=True
    ).stdout.split()
    return told[0] == "1", int(told[1])


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="heaps of glibc")
def test_many_threads_share_two_heaps() -> None:
    assert _heaps("many")[1] > 2
    assert _heaps("few") == (True, 2)
