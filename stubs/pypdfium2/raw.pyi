# Some thousand names of pdfium's C interface through ctypes: none of them is worth a type here.
from typing import Any

def __getattr__(name: str) -> Any: ...
