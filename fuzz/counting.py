"""Count the calls that judging texts takes, in a process of its own: what else one holds would count too.

echo '{"function": "analyze", "texts": ["ls"], "script": null, "events": ["call"]}' | python -m fuzz.counting
"""

from __future__ import annotations

import json
import sys

from haltline.shell.analysis import analyze
from haltline.shell.classification import classify


def main() -> None:
    """Print the number of calls for each text."""
    given = json.load(sys.stdin)
    events, script = frozenset(given["events"]), given["script"]
    counts = []
    for text in given["texts"]:
        classify(text[:64])  # what is done when a program is first seen
        calls = 0

        def count(_frame: object, event: str, _argument: object) -> None:
            nonlocal calls
            calls += event in events

        sys.setprofile(count)
        if given["function"] == "classify":
            classify(text)
        else:
            analyze(text, read_file=None if script is None else lambda _: script)
        sys.setprofile(None)
        counts.append(calls)
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
