from smbprotocol.session import Session

class TreeConnect:
    is_dfs_share: bool | None
    tree_connect_id: int

    def __init__(self, session: Session, share_name: str) -> None: ...
    def connect(self, require_secure_negotiate: bool = True) -> None: ...
