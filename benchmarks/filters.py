"""What do many rules cost? Microseconds a URL at MetaData, seconds to load.

usage: python benchmarks/filters.py [--urls N] [--rounds N]

The mix of the rules: half literal (a third each whole hosts, beginnings of paths, endings of paths), a quarter shell
expressions (half of hosts, half of URLs), a quarter regular expressions of paths. Once as rules of filterrules.conf that one
site uses, once as lines of filter.conf in both filters. The URLs are on 200 hosts; one in fifty is denied by a
rule, so nearly every URL passes all of them. Processor time of this process, the best of the rounds.
"""

import argparse
import random
import time

from ingather.conf import Loaded, load_bodies
from ingather.filters import Engine
from ingather.model.candidate import Candidate

SEED = 20_261
WORDS = "archive board catalog draft event forum guide help index journal kiosk library map news".split()  # noqa: SIM905


def kinds(number: int) -> list[tuple[str, str, str]]:
    """Return *number* rules as (source, method, value), in an order that mixes them."""
    rules: list[tuple[str, str, str]] = []
    for i in range(number):
        word, other = WORDS[i % len(WORDS)], WORDS[(i // 7) % len(WORDS)]
        rules.append(
            [
                [
                    ("host", "is", f"{word}{i}.closed.example"),
                    ("path", "begins-with", f"/{word}/{other}{i}/"),
                    ("path", "ends-with", f"{word}{i}.{other}"),
                ][i // 4 % 3],
                [
                    ("host", "regex", rf"\\*.{word}{i}.example"),
                    ("url", "regex", rf"\\*/{other}{i}/\\*.{word}"),
                ][i // 4 % 2],
                [
                    ("path", "begins-with", f"/{other}{i}/{word}/"),
                    ("host", "is", f"www.{word}{i}.closed.example"),
                    ("path", "ends-with", f"-{word}{i}.htm"),
                ][i // 4 % 3],
                [
                    ("path", "regex", rf"/{word}{i}/[0-9]{{4}}/"),
                    ("path", "regex", rf"(^|/){other}{i}[-_](print|old)\.html?$"),
                    ("url", "regex", rf"[?&]{word}{i}=[a-f0-9]+(&|$)"),
                ][i // 4 % 3],
            ][i % 4]
        )
    return rules


def bodies(filters: str, rules: str = "") -> dict[str, bytes]:
    texts = {
        "robot.conf": "",
        "filter.conf": filters,
        "filterrules.conf": rules,
        "mime.types": "text/html html",
    }
    return {name: text.encode() for name, text in texts.items()}


NAMES = ("enumeration-default", "generation-default")


def as_rules(number: int) -> dict[str, bytes]:
    blocks, uses = [], []
    for i, (source, method, value) in enumerate(kinds(number)):
        blocks.append(
            f'<Rule name="r{i}">\nMatch src={source} method={method} value="{_quoted(value)}"\n</Rule>\n'
        )
        uses.append(f"Use rule=r{i}\n")
    site = '<Site name="all" host="example" type=domain>\n' + "".join(uses) + "</Site>\n"
    lines = (
        "Setup fn=filterrules-setup config=filterrules.conf\nMetaData fn=filterrules-process\n"
        "Shutdown fn=filterrules-shutdown\n"
    )
    filters = "".join(f'<Filter name="{name}">\n{lines}</Filter>\n' for name in NAMES)
    return bodies(filters, "".join(blocks) + site)


def as_lines(number: int, names: tuple[str, ...] = NAMES) -> dict[str, bytes]:
    lines = []
    for source, method, value in kinds(number):
        if method == "ends-with":
            lines.append(f'MetaData fn=filter-by-regex src={source} dialect=shexp deny="*{value}"\n')
        else:
            function = {"is": "exact", "begins-with": "prefix", "regex": "regex"}[method]
            lines.append(f'MetaData fn=filter-by-{function} src={source} deny="{value}"\n')
    return bodies("".join(f'<Filter name="{name}">\n{"".join(lines)}</Filter>\n' for name in names))


def as_filters(number: int) -> dict[str, bytes]:
    """Many filters, two of them in use."""
    text = "".join(f'<Filter name="{name}">\nData fn=clear-source src=x\n</Filter>\n' for name in NAMES)
    for i in range(number):
        text += (
            f'<Filter name="f{i}">\nMetaData fn=filter-by-exact src=host deny=host{i}.example\n</Filter>\n'
        )
    return bodies(text)


def _quoted(value: str) -> str:
    """The value parameter of a rule is unescaped once; deny= of a filter is not."""
    return value.replace("\\", "\\\\")


def urls(number: int, rules: int, part: int) -> list[Candidate]:
    """Return URLs that no other *part* has: the tables that grow while matching know their hosts and words alone."""
    chosen = random.Random(SEED + part)  # noqa: S311 - the same URLs every time
    found = []
    for i in range(number):
        host = f"{chosen.choice(WORDS)}{chosen.randrange(200)}.site.example"
        path = "/".join(chosen.choice(WORDS) for _ in range(chosen.randint(1, 5)))
        if i % 50 == 0:
            at = chosen.randrange(rules)
            path = f"{WORDS[at % len(WORDS)]}{at}/2024/{path}"
        query = f"?id={chosen.randrange(10**6)}" if chosen.random() < 0.3 else ""
        found.append(Candidate(f"http://{host}/{path}/{chosen.randrange(10**5)}.html{query}", depth=2))
    return found


def loaded(files: dict[str, bytes]) -> Loaded:
    configuration = load_bodies(files)
    errors = [str(d) for d in configuration.diagnostics if d.is_error]
    assert configuration.ok, errors[:3]
    return configuration


def per_url(files: dict[str, bytes], rules: int, number: int, rounds: int) -> tuple[float, int]:
    """Return microseconds a URL, warm but with new URLs, and how many were denied in all."""
    engine = Engine(loaded(files))
    denied, best = 0, float("inf")
    for part in range(rounds + 1):
        candidates = urls(number, rules, part)
        begun = time.process_time()
        passed = sum(engine.metadata(engine.evaluation(candidate)) for candidate in candidates)
        if part:  # the first part warms
            best = min(best, time.process_time() - begun)
        denied += number - passed
    return best / number * 1e6, denied


def seconds(files: dict[str, bytes]) -> float:
    begun = time.process_time()
    Engine(loaded(files))
    return time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'both filters at MetaData':<44} {'us a URL':>9} {'denied':>7}")
    for label, make in (("rules of filterrules.conf", as_rules), ("lines of filter.conf", as_lines)):
        for number in (10, 100, 1000, 10_000):
            cost, denied = per_url(make(number), number, arguments.urls, arguments.rounds)
            print(f"{number:>6} {label:<37} {cost:9.1f} {denied:7}", flush=True)
    print(f"\n{'load, with the tables of the engine':<44} {'s':>9}")
    for label, files in (
        ("10,000 rules of filterrules.conf", as_rules(10_000)),
        ("10,000 lines of filter.conf, in one filter", as_lines(10_000, NAMES[:1])),
        ("100,000 filters", as_filters(100_000)),
    ):
        if b'"generation-default"' not in files["filter.conf"]:
            files["filter.conf"] += b'<Filter name="generation-default">\n</Filter>\n'
        print(f"{label:<44} {seconds(files):9.2f}", flush=True)


if __name__ == "__main__":
    main()
