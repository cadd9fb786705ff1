"""Tables in Markdown and plots by gnuplot, for the benchmark scripts. Standard library only."""

import shutil
import subprocess
import textwrap

from harness.script import Refused


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] +
                     ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def wrapped(text):
    """Wraps prose and list items of Markdown at 100 columns. Tables and code stay as they are."""
    blocks = []
    for block in text.split("\n\n"):
        lines = block.rstrip("\n").split("\n")
        if not lines[0].startswith(("|", "    ", "!", "#")):
            items = lines if lines[0].startswith("- ") else [" ".join(lines)]
            lines = [textwrap.fill(item, 100, subsequent_indent="  " * item.startswith("- "), break_long_words=False,
                                   break_on_hyphens=False) for item in items]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n" * text.endswith("\n")


def milliseconds(seconds):
    return f"{seconds * 1000:.3g}" if seconds < 1 else f"{seconds * 1000:.0f}"


class Writer:
    """Collects sections. Plots go into the folder at once, and into the section that was added last."""

    def __init__(self, folder):
        self.folder, self.parts, self.plots, self.troubles = folder, [], 0, []
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, title, text):
        self.parts.append(f"## {title}\n\n{wrapped(text)}")

    def plot(self, name, title, rows, settings, command):
        """rows: the data, a list of lists. command: what follows `plot`, with DATA in place of the file."""
        data = self.folder / f"{name}.dat"
        data.write_text("\n".join("\t".join(f'"{cell}"' if isinstance(cell, str) else str(cell) for cell in row) for row in rows) + "\n")
        script = "\n".join(["set terminal pngcairo size 1000,560 font 'sans,11'", f"set output '{name}.png'",
                            f"set title \"{title}\" noenhanced", "set datafile separator '\\t'", "set key outside noenhanced",
                            "set grid ytics", *settings, "plot " + command.replace("DATA", f"'{data.name}'")]) + "\n"
        (self.folder / f"{name}.gp").write_text(script)
        if shutil.which("gnuplot") is None:
            return
        image = self.folder / f"{name}.png"
        drawn = subprocess.run(["gnuplot", f"{name}.gp"], cwd=self.folder, stderr=subprocess.PIPE, check=False, text=True)
        if drawn.returncode != 0 or not image.exists() or image.stat().st_size == 0:  # gnuplot leaves an empty file if it fails
            image.unlink(missing_ok=True)
            self.troubles.append(f"{self.folder}/{name}.gp: gnuplot draws nothing, exit {drawn.returncode}: {drawn.stderr.strip() or 'no message'}")
            return
        self.parts.append(f"![{title}]({name}.png)\n")
        self.plots += 1

    def write(self, title):
        """Writes tables.md and returns a line that says so. Raises Refused afterwards if a plot was not drawn."""
        (self.folder / "tables.md").write_text(f"# {title}\n\n" + "\n".join(self.parts), encoding="utf-8")
        if self.troubles:
            raise Refused("\n".join(self.troubles))
        return f"{self.folder}/tables.md, {self.plots} plots" + ("" if shutil.which("gnuplot") else " (gnuplot is missing: no PNG)")
