"""scripts/prose finds each thing that it is there to find, at its line, and nothing in prose that keeps the rules."""

import importlib.machinery
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("prose", str(ROOT / "scripts/prose"))
prose = importlib.util.module_from_spec(importlib.util.spec_from_loader("prose", loader))
loader.exec_module(prose)


def words(count, last="end."):
    return " ".join(["w"] * (count - 1) + [last])


class Folder(unittest.TestCase):
    """A folder outside git."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name).resolve()

    def run_prose(self, *args):
        return subprocess.run([ROOT / "scripts/prose", *args], cwd=self.folder, capture_output=True, text=True, check=False)

    def found(self, text, name="page.md"):
        """The findings in a file of that text, but for links: (line, number, what is counted)."""
        path = self.folder / name
        path.write_text(text)
        return sorted((line, number, prose.COUNTED[rule])
                      for line, rule, number, _ in prose.check_file(path, prose.kind_of(path)) if rule != "link")


class Sentences(Folder):
    def sentences(self, text, **more):
        found = self.found(text, **more)
        self.assertTrue(all(what == "words in a sentence" for _, _, what in found), found)
        return [(line, number) for line, number, _ in found]

    def test_a_sentence_may_have_25_words(self):
        self.assertEqual(self.sentences(f"# Page\n\nShort one. {words(20, 'w')}\n{words(5)}\nOne more.\n"), [])
        self.assertEqual(self.sentences(f"# Page\n\nShort one.\nAlso {words(25)}\nOne more.\n"), [(4, 26)])

    def test_what_ends_a_sentence(self):
        half = words(20, "it")
        for end in ("it. And", "it! And", "it? And", "it.) And", 'it." And', "it.** deltamatch", "it. deltamatch", "it. `code`", "it. 2",
                    "it etc. And", "at 5 p.m. And", "it · and", "it<br>and", "it... And", "size K. And"):
            with self.subTest(end=end):
                self.assertEqual(self.sentences(f"{half} {end} {half}\n"), [])

    def test_what_does_not_end_a_sentence(self):
        half = words(20, "it")
        for within in ("it, e.g. and", "it, i.e. And", "it (cf. And", "it: and", "it; and", "it 2.5 and", "`it. And` so", "it etc. and",
                       'says "stop." and', "(stop!) and", "it ... and", "it No. 5", "1.2.3 and", "at 5 p.m. and", "file.md and"):
            with self.subTest(within=within):
                self.assertEqual(len(self.sentences(f"{half} {within} {half}\n")), 1)

    def test_code_is_one_word_and_of_a_link_the_text_counts(self):
        for one in ("`a b c d`", "``a ` b``", "`a\nb`", "[it](a/b.md)", "[it](a_(b).md 'a long title')", "[it][a b]",
                    "![it](a.png)", "– it —"):
            with self.subTest(one=one):
                self.assertEqual(self.sentences(f"Some {one} {words(23)}\n"), [])
        self.assertEqual(self.sentences(f"Some [of this](a.md) {words(23)}\n"), [(1, 26)])

    def test_each_item_cell_and_quotation_is_a_paragraph(self):
        half = words(15, "it")
        for text in (f"- {half}\n- {half}\n", f"1. {half}\n2. {half}\n", f"- {half}\n  - {half}\n", f"{half}\n- {half}\n",
                     f"{half}\n> {half}\n>> {half}\n", f"| {half} | {half} |\n|---|---|\n| {half} | a |\n", f"{half}\n\n{half}\n",
                     f"{half}\n# {half}\n{half}\n"):
            with self.subTest(text=text):
                self.assertEqual(self.sentences(text), [])
        for text, line in ((f"- a\n- {half}\n  {half}\n", 2), (f"> a\n>\n> {half}\n> {half}\n", 3), (f"> > {half}\n> > {half}\n", 1),
                           (f"| a |\n|---|\n| {half} {half} |\n", 3), (f"- a\n\n  {half}\n  {half}\n", 3), (f"{half}\n2011) {half}\n", 1)):
            with self.subTest(text=text):
                self.assertEqual([place for place, _ in self.sentences(text)], [line])

    def test_code_and_headings_are_not_prose(self):
        long = words(30)
        for text in (f"```\n{long}\n```\n", f"~~~~ text\n{long}\n~~~\n{long}\n~~~~\n", f"    {long}\n", f"- a\n\n      {long}\n",
                     f"- a\n\n  ```\n  {long}\n  ```\n", f"> ```\n> {long}\n> ```\n", f"# {long}\n", f"{long}\n---\n",
                     f"<!-- {long}\n{long} -->\n", f"[a]: {long.replace(' ', '-')}\n"):
            with self.subTest(text=text):
                self.assertEqual(self.sentences(text), [])
        self.assertEqual(self.sentences(f"a\n    {long}\n"), [(1, 31)])  # not code: it goes on with the paragraph
        self.assertEqual(self.sentences(f"```\na\n```\n{long}\n"), [(4, 30)])


class Messages(Folder):
    """Strings of C++ that say something."""

    def sentences(self, text, name="a.cpp"):
        return [(line, number) for line, number, _ in self.found(text, name=name)]

    def test_a_sentence_of_a_message_may_have_25_words(self):
        self.assertEqual(self.sentences(f'fail("{words(25, "w;")} {words(25, "w")}");\n'), [])
        self.assertEqual(self.sentences(f'fail("a",\n     "{words(26, "w;")} b");\n'), [(2, 26)])

    def test_strings_beside_each_other_and_joined_by_plus_are_one(self):
        half = words(15, "w")
        for between in ('" "', '"\n     " ', '" + f(x, 1) + "', '" +\n  text + "'):
            with self.subTest(between=between):
                self.assertEqual(self.sentences(f'fail("{half} {between}{half}.");\n'), [(1, 30)])
        for between in ('", "', '"; fail("', '\\n', '. '):
            with self.subTest(between=between):
                self.assertEqual(self.sentences(f'fail("{half}.{between}{half}.");\n'), [])

    def test_data_examples_and_tests_are_no_messages(self):
        long = words(30, "w")
        for text in (f'"{long}"', f'"{long.replace(" ", "-")}."', f'R"(Examples:\n  {long}.\n)"', f'R"({long})"'):
            with self.subTest(text=text):
                self.assertEqual(self.sentences(f"call({text});\n"), [])
        (self.folder / "tests").mkdir()
        self.assertEqual(self.sentences(f'call("{long}.");\n', name="tests/a.cpp"), [])
        self.assertEqual(self.sentences(f'call(R"(One.\n{long}.)");\n'), [(2, 30)])


class Markdown(Folder):
    def test_a_paragraph_may_have_90_words(self):
        lines = "\n".join([words(15)] * 6)
        self.assertEqual(self.found(f"- a\n\n{lines}\n\n{lines}\n"), [])
        self.assertEqual(self.found(f"Before.\n\n{lines}\nMore.\n"), [(3, 91, "words in a paragraph")])

    def test_a_line_may_have_100_columns(self):
        line = "wörd " * 20
        self.assertEqual(self.found(f"{line.strip()}\n"), [])
        self.assertEqual(self.found(f"Short.\n{line}ab\n"), [(2, 102, "columns")])
        self.assertEqual(self.found(f"- {line.strip()}\n"), [(1, 101, "columns")])

    def test_what_may_be_wider(self):
        wide = "word-" * 30
        for text in (f"| {wide} |\n|---|\n", f"# {wide}\n", f"    {wide}\n", f"[a]({wide})\n", f"<https://{wide}>\n", f"[a]: {wide}\n"):
            with self.subTest(text=text):
                self.assertEqual(self.found(text), [])


class Links(Folder):
    """`missing` tells what is not there behind the links of a page, beside which lie a.md, a b.md, a_(b).md and sub/c.txt."""

    def setUp(self):
        super().setUp()
        (self.folder / "sub").mkdir()
        for name in ("a.md", "a b.md", "a_(b).md"):
            (self.folder / name).write_text("# One\n\nText.\n\n## Two words\n")
        (self.folder / "sub/c.txt").write_text("one\ntwo\n")

    def missing(self, text, name="page.md"):
        path = self.folder / name
        path.write_text(text)
        found = list(prose.check_file(path, "markdown"))
        self.assertEqual({rule for _, rule, _, _ in found} - {"link"}, set())
        return [(line, what, target) for line, _, what, target in found]

    def test_files_and_folders(self):
        for text in ("[x](a.md)", "[x](./a.md)", "[x](sub)", "[x](sub/)", "[x](sub/c.txt)", "[x](sub/../a.md)", "[x](<a b.md>)",
                     "[x](a%20b.md)", "[x](a_(b).md)", "[x](a.md 'a (title)')", '[x](a.md "b")', "[`x]` y](a.md)", "![x](a.md)",
                     "[x][y]\n\n[y]: a.md", '<img src="a.md" alt="x">', '<a href="a.md">x</a>'):
            with self.subTest(text=text):
                self.assertEqual(self.missing(text + "\n"), [])
                gone = text.replace("a.md", "gone.md").replace("sub/c", "sub/d").replace("a_", "b_").replace("sub)", "sup)")
                gone = gone.replace("sub/)", "sup/)").replace("a b", "b b").replace("a%20b", "b%20b")
                self.assertEqual([what for _, what, _ in self.missing(gone + "\n")], ["no file"])

    def test_the_line_and_the_target_are_told(self):
        self.assertEqual(self.missing("# [x](0.md)\n\nText [a\nb](1.md#c) and\n[x](a.md) [x](2.md)\n\n- [x](3.md)\n\n[y]: 4.md\n"),
                         [(1, "no file", "0.md"), (4, "no file", "1.md#c"), (5, "no file", "2.md"), (7, "no file", "3.md"),
                          (9, "no file", "4.md")])
        self.assertEqual(self.missing("| a |\n|---|\n| [x](1.md) `|` [x](2.md) |\n> [![x](3.png)](4.md)\n"),
                         [(3, "no file", "1.md"), (3, "no file", "2.md"), (4, "no file", "4.md"), (4, "no file", "3.png")])

    def test_what_is_no_link_or_leads_elsewhere(self):
        for text in ("[x](https://a.b/c.md#d)", "[x](mailto:a@b.c)", "[x](//a.b/c)", "<https://a.b/c>", "`[x](gone.md)`",
                     "```\n[x](gone.md)\n```", "    [x](gone.md)", "<!-- [x](gone.md) -->", "[x] (gone.md)", "a[0](b, c)", "[x]()"):
            with self.subTest(text=text):
                self.assertEqual(self.missing(text + "\n"), [])

    def test_headings_of_pages(self):
        for text in ("[x](a.md#one)", "[x](a.md#two-words)", "[x](#here)", "[x](page.md#here)", "[x](a.md#)", "[x](#set-off)",
                     "[x](#point)", "[x](#other)", "[x](#cell)"):
            with self.subTest(text=text):
                page = 'Set off\n=======\n\n{}\n\n## Here ##\n\n<a name="point"></a>\n<a id="other"></a>\n\n| <a name="cell"></a> |\n'
                self.assertEqual(self.missing(page.format(text)), [])
        for target in ("a.md#three", "a.md#Two-words", "#there", "#in-code", "#in-a-comment", "sub#one"):
            with self.subTest(target=target):
                self.assertEqual(self.missing(f'[x]({target})\n\n```\n# In code\n```\n<!--\n# In a comment\n-->\n\n`<a name="there">`\n'),
                                 [(1, "no heading", target)])

    def test_anchors_are_those_of_github(self):
        for heading, anchor in (("Two words", "two-words"), ("Why? Who's it for!", "why-whos-it-for"), ("`--cuts FILE`", "--cuts-file"),
                                ("a_b and _this_ and __that__", "a_b-and-this-and-that"), ("`_x_`", "_x_"), ("**Bold** *it*", "bold-it"),
                                ("A [link](b.md) here", "a-link-here"), ("1.2 Größe × 3", "12-größe--3"), ("C++ & CUDA", "c--cuda"),
                                ("A – b", "a--b"), ("new &amp; old", "new--old"), ("a <b>c</b>", "a-c"), ("日本 語", "日本-語")):
            with self.subTest(heading=heading):
                self.assertEqual(prose.slug(heading), anchor)

    def test_repeated_headings_are_numbered(self):
        page = "# a\n\n## a\n\n## a-1\n\n## a\n\n[x](#a) [x](#a-1) [x](#a-1-1) [x](#a-2) [x](#a-3)\n"
        self.assertEqual(self.missing(page), [(9, "no heading", "#a-3")])

    def test_lines_of_sources(self):
        for target in ("sub/c.txt#L1", "sub/c.txt#L1-L2"):
            self.assertEqual(self.missing(f"[x]({target})\n"), [])
        for target, what in (("sub/c.txt#L0", "line"), ("sub/c.txt#L3", "line"), ("sub/c.txt#L1-L3", "line"), ("sub/c.txt#one", "heading")):
            self.assertEqual(self.missing(f"[x]({target})\n"), [(1, f"no {what}", target)])

    def test_names_of_tests(self):
        (self.folder / "sub/a_test.cpp").write_text("TEST(One, Holds) {}\nTEST_F(Two, Holds) {}\nTEST_P(Three,\n       Holds) {}\n")
        (self.folder / "sub/test_b.py").write_text("class B:\n    def test_it(self):\n        pass\n\n    def helps(self):\n        pass\n")
        for name in ("One.Holds", "Two.Holds", "Three.Holds"):
            self.assertEqual(self.missing(f"| a | [`{name}`](sub/a_test.cpp) |\n"), [])
        self.assertEqual(self.missing("[`test_it`](sub/test_b.py), [`helps`](sub/test_b.py), [`B.py`](sub/test_b.py)\n"), [])
        self.assertEqual(self.missing("Text.\n\n[`test_it`](sub/test_b.py),\n[`test_gone`](sub/test_b.py)\n"), [(4, "no test", "test_gone")])
        self.assertEqual(self.missing("- [`Two.Hold`](sub/a_test.cpp) [`One.Holds`](gone_test.cpp)\n"),
                         [(1, "no file", "gone_test.cpp"), (1, "no test", "Two.Hold")])

    def test_the_repository(self):
        """Links stay within it, and do not lead to files that git ignores. `/` is its root."""
        root = self.folder / "repository"
        (root / "scripts").mkdir(parents=True)
        shutil.copy(ROOT / "scripts/prose", root / "scripts/prose")
        (root / "docs").mkdir()
        (root / "docs/page.md").write_text("[1](../../a.md) [2](../scripts/prose) [3](/scripts) [4](../built) [5](..) [6](/gone) [7](../.hidden)\n")
        for name, text in ((".gitignore", "built\n"), ("built", ""), (".hidden", "")):
            (root / name).write_text(text)
        broken = lambda: re.findall(r": no file behind a link: (\S+)", subprocess.run(
            [root / "scripts/prose", "--docs"], capture_output=True, text=True, check=False).stdout)
        self.assertEqual(broken(), ["../../a.md", "/gone"])
        subprocess.run(["git", "init", "-q", root], check=True)
        self.assertEqual(broken(), ["../../a.md", "../built", "/gone"])


class Comments(Folder):
    def lines(self, name, text):
        found = self.found(text, name)
        self.assertTrue(all(what == "words in a sentence" for _, _, what in found), found)
        return [line for line, _, _ in found]

    def test_cpp(self):
        half = words(15, "it")
        for text, lines in ((f"// {half}\n// {half}\n", [1]), (f"int a;\n/// A.\n/// {half}\n/// {half}\n", [3]),
                            (f"// {half}\n//\n// {half}\n", []), (f"// A:\n// - {half}\n// - {half}\n", []),
                            (f"int a;  ///< {half}\n        ///< {half}\n", [1]), (f"/* {half}\n * {half} */\n", [1]),
                            (f"int a;  // {half}\nint b;  // {half}\n", []), (f"int a;  // {half}\n// {half}\n", []),
                            (f'auto a = "// {half} {half}";\n', []), (f'auto a = R"x(\n// {half} {half}\n)x";\n', []),
                            (f"int a = 1'000;  // don't: {half} {half}\n", [1]), (f"//     {half} {half}\n", [])):
            for suffix in ("hpp", "cpp", "cu", "cuh"):
                with self.subTest(text=text, suffix=suffix):
                    self.assertEqual(self.lines("a." + suffix, text), lines)

    def test_python(self):
        half = words(15, "it")
        for text, lines in ((f"# {half}\n# {half}\n", [1]), (f"#!/usr/bin/env python3\n# {half}\na = 1  # {half}\n", []),
                            (f'"""A.\n\n{half}\n{half}\n"""\n', [3]),
                            (f'class A:\n    def a(self):\n        """{half}\n        {half}\n        """\n', [3]),
                            (f'a = "# {half} {half}"\n', []),
                            (f'"""A.\n\n  -a   {half}\n  -b   {half}\n"""\n', []), (f"a = 1\n{half!r}\n", [])):
            with self.subTest(text=text):
                self.assertEqual(self.lines("a.py", text), lines)
        self.assertEqual(self.lines("program", f"#!/usr/bin/env python3\n'''{half} {half}'''\n"), [2])

    def test_shell(self):
        half = words(15, "it")
        for name in ("a.sh", "CMakeLists.txt", "a.cmake", "a.yaml"):
            self.assertEqual(self.lines(name, f"a  # {half}\n\n# {half}\n# {half}\n"), [3])
        self.assertEqual(self.lines("program", f"#!/usr/bin/env bash\n# {half} {half}\necho '#{half} {half}'\n"), [2])

    def test_lines_and_paragraphs_are_for_the_formatter(self):
        self.assertEqual(self.lines("a.cpp", "\n".join(["// " + words(24, "a-" * 40 + "end.")] * 10)), [])


class Usage(Folder):
    LONG = words(30) + "\n"

    def test_the_finding_is_shown(self):
        (self.folder / "a.md").write_text("Here `some code` of [a link](a.md)\n" + self.LONG + "\n[b](gone.md#c)\n")
        done = self.run_prose("a.md")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertTrue(done.stdout.startswith("a.md:1: 35 words in a sentence: Here `some code` of a link w w"), done.stdout)
        self.assertTrue(done.stdout.endswith("\na.md:4: no file behind a link: gone.md#c\n"), done.stdout)

    def test_folders_kinds_and_counts(self):
        (self.folder / "docs").mkdir()
        for name, text in (("docs/a.md", self.LONG), ("docs/b.md", "Short.\n"), ("docs/c.cpp", "// " + self.LONG),
                           ("docs/d.txt", self.LONG)):
            (self.folder / name).write_text(text)
        files = lambda *args: {line.split(":")[0] for line in self.run_prose(*args).stdout.splitlines()}
        place = str(self.folder / "docs")
        self.assertEqual(files(place), {place + "/a.md", place + "/c.cpp"})
        self.assertEqual(files("docs"), {"docs/a.md", "docs/c.cpp"})
        self.assertEqual(files("--docs", "docs"), {"docs/a.md"})
        self.assertEqual(files("--comments", "docs"), {"docs/c.cpp"})
        self.assertEqual(files("docs/b.md", "docs/c.cpp"), {"docs/c.cpp"})
        done = self.run_prose("--count", "docs")
        self.assertEqual([line.split() for line in done.stdout.splitlines()],
                         [["sentences", "paragraphs", "lines", "links", "subjects", "in"],
                          ["1", "docs/a.md"], ["1", "docs/c.cpp"], ["2", "0", "0", "0", "0", "all"]])
        self.assertEqual(done.returncode, 1)
        self.assertEqual(self.run_prose("--count", "docs/b.md").returncode, 0)

    def test_what_cannot_be_checked_is_refused(self):
        (self.folder / "a.txt").write_text(self.LONG)
        (self.folder / "a.py").write_text("def\n")
        (self.folder / "b.md").write_bytes(b"\xff\n")
        for args, said in ((["gone.md"], "gone.md does not exist"), (["a.txt"], "a.txt is neither"), (["a.py"], "a.py cannot be read"),
                           (["b.md"], "b.md cannot be read"), (["--commits", "--since", "gone"], "no commit is called gone")):
            done = self.run_prose(*args)
            with self.subTest(args=args):
                self.assertEqual(done.returncode, 2)
                self.assertIn(said, done.stderr)


class Commits(Folder):
    """Subjects in a repository of its own, which begins before the script."""

    def setUp(self):
        super().setUp()
        self.git("init", "-q", "-b", "main", ".")
        (self.folder / "scripts").mkdir()
        self.commit("a" * 80)
        shutil.copy(ROOT / "scripts/prose", self.folder / "scripts/prose")
        self.git("add", "scripts")
        self.commit("b" * 80)

    def git(self, *args):
        settings = ("user.name=a", "user.email=a@b", "commit.gpgsign=false", "tag.gpgsign=false")
        subprocess.run(["git", *(word for setting in settings for word in ("-c", setting)), *args],
                       cwd=self.folder, capture_output=True, check=True)

    def commit(self, subject):
        self.git("commit", "-q", "--allow-empty", "-m", subject, "-m", "c" * 100)

    def subjects(self, *args, folder=None):
        done = subprocess.run([(folder or self.folder) / "scripts/prose", "--commits", *args],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1 if done.stdout else 0, ""))
        return re.findall(r"^commit:[0-9a-f]+: (\d+) characters in the subject: (\w)", done.stdout, re.M)

    def test_a_subject_may_have_72_characters(self):
        self.commit("d" * 72)
        self.assertEqual(self.subjects(), [])
        self.commit("e" * 73)
        self.assertEqual(self.subjects(), [("73", "e")])

    def test_they_are_checked_from_the_last_tag_or_from_the_commit_that_is_named(self):
        self.git("tag", "-m", "v1", "v1", "HEAD^")
        self.assertEqual(self.subjects(), [])  # the script is younger than the tag
        self.commit("d" * 80)
        self.git("tag", "v2")
        self.commit("e" * 80)
        self.assertEqual(self.subjects(), [("80", "e")])
        self.assertEqual(self.subjects("--since", "v1"), [("80", "e"), ("80", "d"), ("80", "b")])

    def test_with_a_history_that_is_cut_off_or_none(self):
        self.commit("d" * 80)
        self.commit("e" * 80)
        shallow = self.folder / "shallow"
        self.git("clone", "-q", "--depth", "2", f"file://{self.folder}", "shallow")
        self.assertEqual(self.subjects(folder=shallow), [("80", "e")])
        shutil.rmtree(shallow / ".git")
        shutil.rmtree(self.folder / ".git")
        self.assertEqual(self.subjects(folder=shallow), [])


if __name__ == "__main__":
    unittest.main()
