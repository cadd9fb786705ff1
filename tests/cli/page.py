"""Reads the sessions of a guide: indented blocks in which lines with "$" are commands, and other lines are what they print.

After `$ cat FILE` stands the content of FILE, which a reader writes before. In what is printed, … stands for any text in a line.
Alone in a line it stands for any number of lines.
"""

import re


def commands(text):
    """The commands as (section, command, lines that follow)."""
    section, found, inside = "", [], False
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        if line.startswith("    $ "):
            found.append((section, line[6:], []))
            inside = True
        elif inside and line.startswith("    "):
            found[-1][2].append(line[4:])
        else:
            inside = False
    return found


def expression(lines):
    """A regular expression for what is printed."""
    parts = [r"(?:.*\n)*" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n" for line in lines]
    return "".join(parts)


def written_file(command):
    """The file that a reader writes before `cat FILE`, or None."""
    match = re.fullmatch(r"cat (\S+)", command)
    return match and match[1]
