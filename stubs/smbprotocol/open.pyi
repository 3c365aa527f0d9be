from datetime import datetime
from typing import Any

from smbprotocol.tree import TreeConnect

class SMB2QueryDirectoryResponse:
    def unpack(self, data: bytes) -> None: ...
    def __getitem__(self, name: str) -> Any: ...

class Open:
    tree_connect: TreeConnect
    last_write_time: datetime
    end_of_file: int

    def __init__(self, tree: TreeConnect, name: str) -> None: ...
    def create(
        self,
        impersonation_level: int,
        desired_access: int,
        file_attributes: int,
        share_access: int,
        create_disposition: int,
        create_options: int,
    ) -> Any: ...
    def read(self, offset: int, length: int) -> bytes: ...
    def query_directory(
        self, pattern: str, file_information_class: int, flags: int | None = None, send: bool = True
    ) -> tuple[Any, Any]: ...
    def close(self) -> None: ...
