"""nginx as a WebDAV server on loopback, with what its extra module adds: PROPFIND."""

import os
import pwd
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.unit.shares.conftest import Served, ended, free_port, open_folder, started, tree

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
MODULE = Path("/usr/lib/nginx/modules/ngx_http_dav_ext_module.so")
# The second server knows no PROPFIND and shows its folders as pages.
_CONF = """\
load_module {module};
daemon off;
master_process off;
pid {base}/pid;
error_log {base}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log {base}/access.log;
  client_body_temp_path {base}/body;
  proxy_temp_path {base}/proxy;
  fastcgi_temp_path {base}/fastcgi;
  uwsgi_temp_path {base}/uwsgi;
  scgi_temp_path {base}/scgi;
  types {{ text/plain txt; text/html html; }}
  server {{
    listen 127.0.0.1:{port};
    root {folder};
    dav_ext_methods PROPFIND OPTIONS;
    location /plain/ {{ alias {folder}/pub/; autoindex on; dav_ext_methods off; }}
    location /closed/ {{ alias {folder}/pub/; auth_basic dav; auth_basic_user_file {base}/users; }}
  }}
}}
"""


@contextmanager
def dav_server() -> Iterator[Served]:
    """Run nginx over a tree of its own: all of it as WebDAV, ``/plain/`` as pages, ``/closed/`` for ann alone."""
    if NGINX is None or not MODULE.exists():
        pytest.skip("nginx with dav-ext is not there (apt-get install nginx libnginx-mod-http-dav-ext)")
    with open_folder() as base:
        folder = tree(base / "root")
        port = free_port()
        (base / "users").write_text("ann:{PLAIN}right one\n")
        conf = base / "nginx.conf"
        conf.write_text(_CONF.format(module=MODULE, base=base, folder=folder, port=port))
        if os.getuid() == 0:
            owner = pwd.getpwnam("nobody")
            os.chown(base, owner.pw_uid, owner.pw_gid)
        process = started([str(NGINX), "-c", str(conf), "-e", str(base / "error.log")], port)
        if process.poll() is not None:
            pytest.skip("nginx does not start here")
        try:
            yield Served(port, folder, {"log": str(base / "access.log")})
        finally:
            ended(process)
