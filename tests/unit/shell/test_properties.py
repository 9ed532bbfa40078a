"""Laws of the analysis that hold for every text, or for every command that a rule speaks of."""

from __future__ import annotations

import shlex

import pytest
from fuzz.grammar import Generator
from fuzz.laws import hold
from hypothesis import example, given, settings
from hypothesis import strategies as st

from haltline.shell import analyze, classify, lex
from haltline.shell.book import built_in
from haltline.shell.detectors import DETECTORS
from haltline.shell.engine import Engine
from haltline.shell.quick import plain_words
from haltline.shell.scanner import scan

EXAMPLES = sorted(
    {
        (expected, command)
        for rule in built_in().rules.values()
        for expected, commands in rule.examples.items()
        for command in commands
    }
)
DENIED = [command for expected, command in EXAMPLES if expected == "deny"]
ASKED = [command for expected, command in EXAMPLES if expected == "ask"]

PIECES = st.sampled_from(
    [
        *(
            "'",
            '"',
            "`",
            "$(",
            "$((",
            "${",
            "(",
            ")",
            "{",
            "}",
            "[[ ",
            " ]]",
            "<<E\n",
            "\nE\n",
            "|",
            "&&",
            ";",
            "\n",
        ),
        *(
            "rm -rf /",
            "eval ",
            "sh -c ",
            "x=",
            "$x",
            "${x:-",
            "<(",
            ">",
            "\\",
            "#",
            "!",
            "case x in ",
            ";;",
            " esac",
        ),
        *(
            "\0",
            "\x02",
            "\x03",
            "\x05",
            "\x0e",
            "\ud800",
            "\u202e",
            "\u200b",
            "a[",
            "]=1 ",
            "@(",
            "{a,b}",
            "if ",
            "fi",
        ),
        *(
            "python -c '",
            "psql -c '",
            "powershell -c '",
            "awk '",
            "find . -exec ",
            "xargs ",
            "base64 -d",
            "f() { ",
        ),
    ]
)
TEXTS = (
    st.text(st.characters(exclude_categories=()), max_size=60)
    | st.lists(PIECES | st.text(max_size=4), max_size=14).map("".join)
    | st.integers(0, 10_000).map(lambda seed: Generator(seed).text())
    | st.sampled_from([command for _, command in EXAMPLES])
)


@given(TEXTS, st.none() | TEXTS)
@example("a[$(reboot)]=1", None)
@example("function f", None)
@example("x=1; echo ${x a}", None)
@example("wipefs efs --a /dev/sda", None)
@example('powershell -c "iex(\0"', None)
@example("./x; ./x", './x "$@" a; ./x')
@example("bat ---pager=./x a", None)
@settings(max_examples=600, deadline=None)
def test_the_laws_hold_for_every_text(text: str, script: str | None) -> None:
    hold(text, script)


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_lex_returns_none_exactly_when_a_text_is_no_list_of_simple_commands(text: str) -> None:
    found = scan(text)
    simple = all(type(node).__name__ == "Simple" for _, node in found.script.items)

    assert (lex(text) is None) == (found.error is not None or found.limit is not None or not simple)


WRAPPERS = {
    "true;": "true; {}",
    "a newline": "ls\n{}",
    "a pipe": "ls | {}",
    "a pipe over two lines": "ls |\n{}",
    "and": "ls && {}",
    "or": "false || {}",
    "a subshell": "({}\n)",
    "a group": "{{ {}\n}}",
    "a condition": "if {}\nthen :; fi",
    "a loop": "while :; do {}\ndone",
    "a case": "case x in x) {}\n;; esac",
    "a function": "f() {{ {}\n}}; f",
    "a substitution": 'echo "$({}\n)"',
    "a subscript": "a[$({}\n)]=1",
    "a pattern list": "ls @(a|$({}\n))",
    "a process substitution": "cat <({}\n)",
    "arithmetic": "echo $(( $({}\n) + 1 ))",
    "a default": 'echo "${{nothing:-$({}\n)}}"',
    "a here-document": "cat <<E\n$({}\n)\nE\n",
    "an array": "a=(1 $({}\n))",
    "an incomplete quote after it": "{}\n echo 'a",
    "an incomplete list after it": "{}\n( a &&",
    "an incomplete substitution around it": 'echo "$({}\n',
    "a limit after it": "{}\n" + "( " * 60,
}
WRAPPERS_OF_TEXT = {
    "sh -c": "sh -c {}",
    "eval": "eval {}",
    "sudo sh -c": "sudo -u root sh -c {}",
    "env": "env -i A=1 bash -c {}",
    "timeout": "timeout -k 5 10 nice -n 5 bash -c {}",
    "find": "find . -maxdepth 1 -exec sh -c {} \\;",
    "xargs": "echo x | xargs -n 1 sh -c {}",
    "su": "su - x -c {}",
    "a here-string": "bash <<< {}",
    "a variable": 'x={}; eval "$x"',
    "an alias": "alias g={}\ng",
}


def at_least_asked(command: str) -> bool:
    return classify(command) is not None


@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS.keys())
def test_a_denied_command_is_not_let_through_wherever_it_stands(wrapper: str) -> None:
    assert [command for command in DENIED if not at_least_asked(wrapper.format(command))] == []


@pytest.mark.parametrize("wrapper", WRAPPERS_OF_TEXT.values(), ids=WRAPPERS_OF_TEXT.keys())
def test_a_denied_command_is_not_let_through_whatever_runs_it(wrapper: str) -> None:
    assert [c for c in DENIED if not at_least_asked(wrapper.format(shlex.quote(c)))] == []


@given(
    st.sampled_from(DENIED),
    st.lists(st.sampled_from(list(WRAPPERS_OF_TEXT.values())), max_size=3),
    st.sampled_from(["", "true; ", "x && ", "! ", "time "]),
    st.sampled_from(["", "A=1 ", "env A=1 ", "sudo ", "nohup "]),
)
@settings(max_examples=400, deadline=None)
def test_wrappers_inside_one_another_change_nothing(
    command: str, wrappers: list[str], before: str, prefix: str
) -> None:
    text = prefix + "sh -c " + shlex.quote(command)
    for wrapper in wrappers:
        text = wrapper.format(shlex.quote(text))

    assert at_least_asked(before + text)


@pytest.mark.parametrize("program", ["echo {}", "grep -rn {} src", "git commit -m {}", "git log --grep {}"])
def test_what_a_program_takes_for_data_is_never_judged(program: str) -> None:
    different = [
        command
        for command in DENIED + ASKED
        if "\n" not in command and classify(program.format(shlex.quote(command))) is not None
    ]

    assert different == []


@given(st.sampled_from([command for _, command in EXAMPLES]))
@settings(max_examples=300, deadline=None)
def test_a_verdict_names_the_place_of_what_it_is_about(command: str) -> None:
    text = f"ls -la; {command}\npwd"
    found = analyze(text)

    for verdict in found.verdicts:
        start, end = verdict.span
        assert text[start:end].strip()
        assert start >= len("ls -la; ") or not found.complete


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_the_short_way_says_nothing_only_where_the_whole_analysis_says_nothing(text: str) -> None:
    if plain_words(text, built_in()) != []:
        return
    engine = Engine(built_in())
    engine.judge(text)

    assert engine.verdicts == []


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_every_program_is_judged_by_whatever_name_it_is_called(name: str) -> None:
    words = name.replace("git-", "git ", 1)
    for spelling in (words, words.title(), words.upper(), f"/usr/bin/{words}", f"{name}.exe"):
        for arguments in ("", " x", " -o x y", " -c x -- y", " run x"):
            hold(spelling + arguments, None)
