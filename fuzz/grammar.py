"""Valid Bash from a seed: every construct of the grammar, in combinations that nobody would write by hand."""

from __future__ import annotations

import random

LITERALS = (
    *(
        "a",
        "b1",
        "x/y",
        "-f",
        "--opt=v",
        "x=y",
        "a#b",
        "*.c",
        "?[a-z]",
        "~",
        "~/x",
        "~carol/y",
        "@",
        "%",
        "^a",
    ),
    *("+x", ":", ",", "..", "a!", "é", "日本", "\u200b", "a\u00a0b", "0", "12", "2a", "[", "]", "=x", "--"),
    *(
        "'q u'",
        '"d q"',
        "''",
        '""',
        "a\\ b",
        "\\'",
        'e\\"f',
        "\\;",
        "\\\\",
        "\\$v",
        "'\"'",
        '"\'"',
        "'$(no)'",
    ),
    *(
        "$'\\x41\\n'",
        "$'it\\'s'",
        "$'\\u00e9\\101'",
        '$"l"',
        '"a\\"b"',
        '"\\$v \\` \\\\ \\n"',
        "'a;b|c'",
        '"a;b&c"',
    ),
    *("{a,b}", "{1..3}", 'x{a,"b c"}y', "{a", "}b", "then", "fi", "do", "esac", "in", "time", "if"),
    *("a\\\nb", '"c\\\nd"', "'e\nf'", '"g\nh"', '"$"', "\\é", "a\\\n", "\\\n"),
)
PARAMETERS = (
    *("$v", "${v}", "$1", "$@", '"$*"', "$#", "$?", "$$", "$!", "$-", '"$v"', '"x${v}y"', "${10}", "${v#a}"),
    *("${v##*/}", "${v%.c}", '${v%%"q"*}', "${v/a/b}", "${v//a\\/b/c}", "${v/#a/}", "${v/%a/b}", "${v:1}"),
    *(
        "${v:1:2}",
        "${v: -1}",
        "${v^}",
        "${v^^}",
        "${v,,}",
        "${!v}",
        "${#v}",
        "${a[0]}",
        "${a[@]}",
        '"${a[@]}"',
    ),
    *("${#a[@]}", "${!a[@]}", "${a[$i]}", "${v:?m}", "${v@Q}", "${v:-}", "${v:-d}", "${v:-'a}b'}"),
    *(
        '"${v:-it}"',
        '"${v:-"q x"}"',
        "${v:=$w}",
        "${v+\\}}",
        "${v-${w-${x}}}",
        "${v:-a b}",
        "${!p*}",
        "${@:2}",
    ),
)
NUMBERS = (
    "1",
    "v",
    "$v",
    "${v}",
    "a[1]",
    "v++",
    "--v",
    "0x1f",
    "(1+2)",
    "-1",
    "!v",
    "~v",
    "a[v+1]",
    '"2"',
    "'3'",
)
OPERATORS = (
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "<<",
    ">>",
    "<",
    ">",
    "==",
    "!=",
    "&&",
    "||",
    "&",
    "|",
    "^",
    ",",
    "=",
    "+=",
)
REDIRECTIONS = (
    *(
        ">o",
        "> o",
        ">>o",
        ">|o",
        "<i",
        "<>o",
        "2>&1",
        ">&2",
        ">&-",
        "2>&-",
        "<&3",
        "<&-",
        "&>o",
        "&>>o",
        "3<i",
    ),
    *("{fd}>o", "<<<w", '<<< "$v"', '>"o p"', ">$v", ">&o", "10>o", "<<<'q'", ">o\\\np"),
)
ASSIGNMENTS = ("A=1", "B='x y'", "C=", "D+=x", 'E="$v z"', "F=~/x", "G={a,b}", "H=a\\ b")
PATTERNS = (
    "a",
    "*",
    "?",
    "[a-z]*",
    "'q )'",
    '"x y"',
    "$v",
    "a\\)b",
    "-*",
    "''",
    "esac2",
    "if",
    "a*b",
    "${v:-)}",
)
DELIMITERS = (
    ("E", "E"),
    ("'E'", "E"),
    ('"E F"', "E F"),
    ("\\E", "E"),
    ("E'F'", "EF"),
    ("_1", "_1"),
    ("é", "é"),
)
BODIES = ("", "text", "$v ${v:-d}", "a 'b \"c", "\\$v \\\\", "# no comment", "$(( 1 + 2 ))", "fi; done )")
NAMES = ("f", "f1", "my-f", "f.g", "a:b")


class Generator:
    """Writes Bash that `bash -n` and `shfmt` accept; the same seed writes the same text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311  reproducible text, no secret
        self.pending: list[str] = []
        self.one_line = False
        self.levels = 0

    def text(self) -> str:
        """Return a whole text."""
        return self.list(self.random.choice((1, 2, 2, 3)))

    def chance(self, share: float) -> bool:
        """Return True in that share of cases."""
        return self.random.random() < share

    # Lists

    def list(self, depth: int) -> str:
        """Return commands and what stands between them; ends with a newline when a here-document is open."""
        before = len(self.pending)
        parts = [self.pipeline(depth)]
        for _ in range(self.random.choice((0, 0, 0, 1, 2))):
            joint = self.random.choice(
                (" && ", " || ", "; ", " & ", ";", "\n", " &&\n", " || # why\n", " # end\n")
            )
            if "\n" in joint:
                joint = " " if self.one_line else joint[:-1] + self.newline()
                joint = joint if joint.strip(" ") else "; "
            parts += [joint, self.pipeline(depth)]
        if len(self.pending) > before:
            parts.append(self.newline())
        elif self.chance(0.1):
            parts.append("\n" if not self.one_line and not self.pending else " ")
        return "".join(parts)

    def newline(self) -> str:
        """Return a newline and the bodies of the here-documents that wait for it."""
        bodies, self.pending = "".join(self.pending), []
        return "\n" + bodies

    def ended(self, text: str) -> str:
        """Return a list so that a reserved word may follow."""
        return (
            text
            if text.endswith("\n")
            else text + self.random.choice(("; ", ";"))
            if text[-1] != "&"
            else text
        )

    def pipeline(self, depth: int) -> str:
        """Return commands with pipes between them."""
        before = self.random.choice(
            ("", "", "", "", "", "! ", "! ", *(("time ", "time -p ") if not self.levels else ()))
        )
        command = self.command(depth)
        parts = ["" if command.startswith(("((", "a=", "a+=")) else before, command]
        for _ in range(self.random.choice((0, 0, 0, 0, 1))):
            parts += [self.random.choice((" | ", "|", " |& ")), self.command(depth)]
        return "".join(parts)

    def command(self, depth: int) -> str:
        """Return one command, simple or compound."""
        if depth <= 0 or self.chance(0.5):
            return self.simple(depth)
        compound = self.random.choice(
            (
                *(self.subshell, self.group, self.condition, self.loop, self.iteration, self.counting),
                *(self.case, self.test, self.arithmetic_command, self.function, self.coprocess),
            )
        )
        text = compound(depth - 1)
        return text + " " + self.redirection(depth) if self.chance(0.2) else text

    # Compound commands

    def subshell(self, depth: int) -> str:
        """`( … )`."""
        self.levels += 1
        text = f"({self.random.choice(('', ' '))}{self.not_parenthesis(self.list(depth))})"
        self.levels -= 1
        return text

    @staticmethod
    def not_parenthesis(text: str) -> str:
        """Return a list that may follow `(`: `((` would be arithmetic."""
        return " " + text if text.startswith("(") else text

    def group(self, depth: int) -> str:
        """`{ …; }`."""
        return f"{{ {self.ended(self.list(depth))}}}"

    def condition(self, depth: int) -> str:
        """`if …; then …; fi`."""
        text = f"if {self.ended(self.list(depth))}then {self.ended(self.list(depth))}"
        if self.chance(0.3):
            text += f"elif {self.ended(self.list(depth))}then {self.ended(self.list(depth))}"
        if self.chance(0.4):
            text += f"else {self.ended(self.list(depth))}"
        return text + "fi"

    def loop(self, depth: int) -> str:
        """`while …; do …; done`."""
        word = self.random.choice(("while", "until"))
        return f"{word} {self.ended(self.list(depth))}do {self.ended(self.list(depth))}done"

    def iteration(self, depth: int) -> str:
        """`for name in words; do …; done`, and `select`."""
        word = self.random.choice(("for", "for", "select"))
        words = " ".join(self.word(depth) for _ in range(self.random.randint(0, 3)))
        head = self.random.choice((f"i in {words};", "i;", "i"))
        return f"{word} {head} do {self.ended(self.list(depth))}done"

    def counting(self, depth: int) -> str:
        """`for ((…)); do …; done`."""
        head = "; ".join(self.random.choice(("", self.expression(depth))) for _ in range(3))
        return f"for (({head})); do {self.ended(self.list(depth))}done"

    def case(self, depth: int) -> str:
        """`case word in patterns) …;; esac`."""
        branches = []
        for _ in range(self.random.randint(0, 3)):
            patterns = self.random.choice(("|", " | ")).join(
                self.random.choice(PATTERNS) for _ in range(self.random.randint(1, 2))
            )
            body = self.random.choice((self.list(depth), ""))
            end = self.random.choice((";;", ";;", ";&", ";;&"))
            branches.append(f"{self.random.choice(('', '('))}{patterns}) {body} {end} ")
        return f"case {self.word(depth)} in {''.join(branches)}esac"

    def test(self, depth: int) -> str:
        """`[[ … ]]`."""
        return f"[[ {self.truth(depth, 2)} ]]"

    def truth(self, depth: int, levels: int) -> str:
        """Return what may stand inside `[[ ]]`."""
        if levels and self.chance(0.5):
            left, right = self.truth(depth, levels - 1), self.truth(depth, levels - 1)
            return self.random.choice(
                (f"{left} && {right}", f"{left} || {right}", f"( {left} )", f"! {left}")
            )
        left, right = self.operand(depth), self.operand(depth)
        return self.random.choice(
            (
                *(
                    f"-f {left}",
                    f"-z {left}",
                    f"{left} == {right}",
                    f"{left} != {right}",
                    f"{left} = {right}",
                ),
                *(
                    f"{left} < {right}",
                    f"{left} -nt {right}",
                    f"{left} -eq 1",
                    "-v v",
                    f"{left} =~ ^(a|b)+$",
                ),
                *(f"{left} =~ [a-z]*", f"{left} =~ $v", f"-n {left}"),
            )
        )

    def operand(self, depth: int) -> str:
        """Return a word that `[[` does not take for an operator."""
        return self.random.choice(
            ("a", "'x y'", '"$v"', "$v", "b*", "${v:-d}", f'"$( {self.nested(depth)} )"')
        )

    def arithmetic_command(self, depth: int) -> str:
        """`(( … ))`."""
        return f"(({self.expression(depth)}))"

    def expression(self, depth: int) -> str:
        """Return arithmetic."""
        parts = [self.number(depth)]
        for _ in range(self.random.randint(0, 2)):
            operator = self.random.choice(OPERATORS)
            if operator in {"=", "+="}:
                parts = ["x"]
            parts += [f" {operator} ", self.number(depth)]
        return "".join(parts)

    def number(self, depth: int) -> str:
        """Return an operand of arithmetic."""
        if depth > 0 and self.chance(0.1):
            return f"$( {self.nested(depth - 1)} )"
        return self.random.choice(NUMBERS)

    def function(self, depth: int) -> str:
        """`f() { …; }`, in each of its forms."""
        name = self.random.choice(NAMES)
        if self.chance(0.3):
            return f"function {name} {self.group(depth)}"
        body = self.random.choice((self.group, self.group, self.subshell, self.condition, self.test))(depth)
        return self.random.choice((f"{name}() {body}", f"{name} () {body}", f"function {name}() {body}"))

    def coprocess(self, depth: int) -> str:
        """`coproc …`."""
        body = self.random.choice((self.group, self.subshell))(depth)
        return f"coproc {self.random.choice(('', 'NAME '))}{body}"

    # Simple commands

    def simple(self, depth: int) -> str:
        """Return assignments, words and redirections."""
        if self.chance(0.1):
            return self.array(depth)
        parts = [self.random.choice(ASSIGNMENTS) for _ in range(self.random.choice((0, 0, 0, 1, 2)))]
        if self.chance(0.1):
            parts.append(self.redirection(depth))
        if parts and self.chance(0.2):
            return " ".join(parts)
        parts.append(self.name(depth, assigned=bool(parts) and parts[-1] in ASSIGNMENTS))
        for _ in range(self.random.choice((0, 1, 1, 2, 3))):
            parts.append(self.word(depth))
            if self.chance(0.1):
                parts.append(self.redirection(depth))
        if self.chance(0.2):
            parts.append(self.redirection(depth))
        return self.random.choice((" ", " ", " ", "  ", "\t", " \\\n")).join(parts)

    def name(self, depth: int, *, assigned: bool) -> str:
        """Return a command's name; after an assignment a reserved word is one."""
        if assigned and self.chance(0.2):
            return self.random.choice(("time", "if", "fi", "{", "!", "done"))
        if self.chance(0.1):
            return self.substitution(depth)
        return self.random.choice(
            ("c", "rm", "'c d'", "r\\\nm", "\\rm", "./x", "$v", "${v}x", '"c"d', "git", "[", "if2", "{a,b}")
        )

    def array(self, depth: int) -> str:
        """`a=(…)`."""
        items = [
            self.random.choice((self.word(depth), "[1]=x", "\n", "# c\n"))
            for _ in range(self.random.randint(0, 3))
        ]
        items = [
            item
            for item in items
            if not (item.endswith("\n") and len(item) < 5 and (self.one_line or self.pending))
        ]
        return self.random.choice(
            (f"a=({' '.join(items)})", f"a+=({' '.join(items)})", "a[0]=x", "a[$i]=y b[1]=z")
        )

    def redirection(self, depth: int) -> str:
        """Return a redirection; a here-document's body waits for the end of the line."""
        if self.one_line or self.chance(0.7):
            if depth > 0 and self.chance(0.1):
                return f"> >({self.nested(depth - 1)})"
            return self.random.choice(REDIRECTIONS)
        delimiter, end = self.random.choice(DELIMITERS)
        tabs = self.chance(0.3)
        body = self.random.choice(BODIES)
        if depth > 0 and self.chance(0.2):
            body = f"x $( {self.nested(depth - 1)} ) y"
        indent = "\t" if tabs else ""
        lines = [indent + line for line in body.split("\n")] if body else []
        self.pending.append("".join(line + "\n" for line in [*lines, indent + end]))
        return f"<<{'-' if tabs else ''}{self.random.choice(('', ' '))}{delimiter}"

    # Words

    def word(self, depth: int) -> str:
        """Return one word of one to three pieces."""
        if self.chance(0.02):
            return "a$"
        pieces = [self.piece(depth) for _ in range(self.random.choice((1, 1, 1, 2, 3)))]
        text = "".join(pieces)
        return text if text.strip("\\\n") else text + "w"

    def piece(self, depth: int) -> str:
        """Return a piece of a word."""
        kind = self.random.random()
        if kind < 0.55:
            literal = self.random.choice(LITERALS)
            return "l" if "\n" in literal and (self.pending or self.one_line) else literal
        if kind < 0.8:
            return self.random.choice(PARAMETERS)
        return self.substitution(depth) if depth > 0 else "p"

    def substitution(self, depth: int) -> str:
        """Return one of the substitutions."""
        if depth <= 0:
            return "$(c)"
        inner = self.nested(depth - 1)
        blank = self.random.choice((" ", ""))
        return self.random.choice(
            (
                f"$({blank}{self.not_parenthesis(inner)})",
                f'"x$( {inner} )y"',
                f"<({self.not_parenthesis(inner)})",
                f">({self.not_parenthesis(inner)})",
                f"$(({self.expression(depth - 1)}))",
                f"$(( 1 + $( {inner} ) ))",
                f"${{v:-$( {inner} )}}",
                f'"${{v:-$( {inner} )}}"',
                f"$[{self.random.choice(NUMBERS[:6])}]",
                "`c a 'b c' | d`",
                '"`c \\`d\\` \\\\\\$v`"',
            )
        )

    def nested(self, depth: int) -> str:
        """Return a list inside a word: its here-documents are its own, and it opens none inside another's."""
        waiting, self.pending = self.pending, []
        self.levels += 1
        one_line, self.one_line = self.one_line, self.one_line or bool(waiting)
        try:
            return self.list(depth)
        finally:
            self.pending, self.one_line = waiting, one_line
            self.levels -= 1
