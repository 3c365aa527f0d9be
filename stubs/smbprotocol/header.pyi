from typing import Any

class Commands:
    SMB2_SESSION_SETUP: int

class NtStatus:
    STATUS_PENDING: int

class Smb2Flags:
    SMB2_FLAGS_SIGNED: int

class SMB2HeaderResponse:
    def __getitem__(self, name: str) -> Any: ...
