"""What gathers and what writes the index stands back; what answers people does not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ingather.app.feeds.process import FeedProcess
from ingather.testing.feeds import FeedRig, content, record

WRITING = """
import os, sys, time
from pathlib import Path
from ingather.app.priority import Background
from ingather.index import IndexFolder

own = os.getpriority(os.PRIO_PROCESS, 0)
writer = IndexFolder(Path(sys.argv[1])).writer(run=Background(10))
writer.commit(1)  # those that write are started anew
for _ in range(1000):  # a thread names itself when it begins
    found = {}
    for task in Path("/proc/self/task").iterdir():
        name = (task / "comm").read_text().strip()[:12]
        found.setdefault(name, set()).add(os.getpriority(os.PRIO_PROCESS, int(task.name)) - own)
    if {"thrd-tantivy", "merge_thread"} <= set(found):
        break
    time.sleep(0.01)
writer.close()
print(found["thrd-tantivy"], found["merge_thread"], os.getpriority(os.PRIO_PROCESS, 0) - own)
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc")
def test_threads_of_the_index_stand_back_and_the_process_does_not(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", WRITING, str(tmp_path / "home")], capture_output=True, text=True, check=True
    ).stdout
    assert told == "{10} {10} 0\n"


@pytest.mark.parametrize("by", [10, 0])
def test_the_process_that_reads_feeds_stands_back_as_far_as_the_setting_says(tmp_path: Path, by: int) -> None:
    process = FeedProcess()
    rig = FeedRig(tmp_path / "home", process, written={"gather.niceness": str(by)})
    try:
        rig.push(record("http://a.example/", content("needle")), datasource="s")
        assert process.pid is not None
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == min(19, own + by)
    finally:
        rig.close()
        process.stop()


ENDING = """
import atexit, threading
from ingather.app.priority import Background

background = Background(10)
print(background(lambda: threading.current_thread() is not threading.main_thread()))
atexit.register(lambda: print(background(lambda: "done here")))
"""


def test_what_is_to_be_done_while_the_interpreter_ends_is_done() -> None:
    told = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, check=True)
    assert (told.stdout, told.stderr) == ("True\ndone here\n", "")
