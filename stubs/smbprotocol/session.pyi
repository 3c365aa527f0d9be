from smbprotocol.connection import Connection

class Session:
    session_id: int

    def __init__(
        self,
        connection: Connection,
        username: str | None = None,
        password: str | None = None,
        require_encryption: bool = True,
        hostname_override: str | None = None,
        auth_protocol: str = "negotiate",
    ) -> None: ...
    def connect(self) -> None: ...
