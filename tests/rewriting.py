"""Asserts of all test files are rewritten once, on every core, before the workers begin: else each worker rewrites them all."""

import importlib.util
import os
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import pytest

try:  # pytest's own; without it the workers do the work, as they do everywhere
    from _pytest.assertion.rewrite import PYC_TAIL, _rewrite_test, _write_pyc_fp, get_cache_dir
except ImportError:
    PYC_TAIL = ""

_HASH = slice(8, 16)
"""Where such a file has the hash of its source (PEP 552)."""


def rewrite(config: pytest.Config, files: Iterable[Path]) -> None:
    """Write what pytest keeps of rewritten test *files*, where that is not there or of another text."""
    stale = [file for file in files if PYC_TAIL and not _current(file)]
    share = max(os.cpu_count() or 1, 1)
    processes = [
        get_context("fork").Process(target=_rewrite, args=(config, stale[n::share])) for n in range(share)
    ]
    for process in processes if stale else ():
        process.start()
    for process in processes if stale else ():
        process.join()


def _kept(file: Path) -> Path:
    return get_cache_dir(file) / f"{file.stem}{PYC_TAIL}"


def _current(file: Path) -> bool:
    with suppress(OSError):
        return _kept(file).read_bytes()[_HASH] == importlib.util.source_hash(file.read_bytes())
    return False


def _rewrite(config: pytest.Config, files: Iterable[Path]) -> None:
    for file in files:
        with suppress(Exception):  # whoever collects it says what is wrong with it
            source_hash, code = _rewrite_test(file, config)
            kept = _kept(file)
            kept.parent.mkdir(exist_ok=True)
            part = kept.with_name(f"{kept.name}.{os.getpid()}")
            with part.open("wb") as sink:
                _write_pyc_fp(sink, source_hash, code)
            part.replace(kept)
