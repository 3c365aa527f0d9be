"""Build the benchmark's web site, and serve it if asked.

usage: ./run bench site [--site FOLDER] [--port PORT] [--serve]

Real documentation out of Debian packages, about 35,000 HTML pages; once, 1.7 GB. FOLDER is by default
$INGATHER_BENCH_SITE, else ingather/bench in the user's cache. The other benchmarks build it when
it is missing, and serve it themselves.
"""

import argparse
import signal
from pathlib import Path

from _corpus import build, default_folder, serve


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--site", type=Path, default=default_folder(), help="folder of the site")
    parser.add_argument("--port", type=int, default=8088)
    parser.add_argument("--serve", action="store_true", help="serve it until Ctrl-C")
    arguments = parser.parse_args()
    folder = arguments.site.resolve()
    print(f"{build(folder)} HTML pages in {folder / 'site'}")
    if arguments.serve:
        with serve(folder, arguments.port) as served:
            print(f"{served.url} ({served.server})")
            signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
