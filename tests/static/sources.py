# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the names that C sources define and use, as far as possible without a compiler, for the checks of structure."""
import re
from dataclasses import dataclass, field
from pathlib import Path

WORD = re.compile(r"[A-Za-z_]\w*")
USE = re.compile(r"(?<![.\w])(?<!->)(?<!struct )(?<!enum )[A-Za-z_]\w*")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
INCLUDE = re.compile(r'^[ \t]*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
CPLUSPLUS = re.compile(r"^#ifdef __cplusplus\n.*?^#endif[^\n]*", re.M | re.S)  # its braces enclose the whole header
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)\s|__(?:acquires|releases|must_hold)\s*\([^)]*\)", re.S)
PER_CPU = re.compile(r"^\s*(static\s+)?DEFINE_PER_CPU\w*\s*\(.*?,\s*(\w+)\)", re.S)
MACRO_MADE = re.compile(r"^\s*(static\s+)?DEFINE_\w+\s*\(\s*(\w+)")


@dataclass
class Source:
    """A file: its includes, the names that it defines for others, its static functions, and all words that it uses."""

    path: str
    includes: list = field(default_factory=list)
    defined: set = field(default_factory=set)
    static_functions: dict = field(default_factory=dict)  # name: line
    words: set = field(default_factory=set)


def blank(match):
    """Returns a blank and as many ends of lines as the text has."""
    return " " + "\n" * match.group().count("\n")


def items(text):
    """Yields the declarations of a file: (head, body of a function or None, place where it begins)."""
    start = place = depth = opened = 0
    while place < len(text):
        sign = text[place]
        if sign == "{":
            if depth == 0:
                head, opened = text[start:place], place
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0 and is_function(head):
                yield head, text[opened:place], start
                start = place + 1
        elif sign == ";" and depth == 0:
            yield text[start:place], None, start
            start = place + 1
        place += 1


def is_function(head):
    return head.rstrip().endswith(")") and "=" not in head


def variable_name(head):
    """Returns the name of a variable, or None for a type, a prototype, or a variable that another file defines."""
    before = re.sub(r"\{.*\}", " ", head.split("=")[0], flags=re.S).strip()
    if re.match(r"(typedef|extern|struct \w+$|union \w+$|enum\b)", before):
        return None
    before = re.sub(r"\[[^\]]*\]", "", before).strip()
    if before.endswith(")") or "(" in before:
        return None
    words = [word for word in WORD.findall(before) if not word.startswith("____")]  # ____cacheline_aligned
    return words[-1] if len(words) > 1 else None


def add_item(source, head, function, line):
    made = PER_CPU.match(head) or MACRO_MADE.match(head)
    if made:
        if not made.group(1):
            source.defined.add(made.group(2))
        return
    plain = ATTRIBUTE.sub(" ", head)
    if function:
        name = re.search(r"(\w+)\s*\(", plain)
        name = name and name.group(1)
    else:
        name = variable_name(plain)
    if not name:
        return
    static = re.match(r"\s*(?:\w+\s+)*?static\b", plain)
    if not static or (function and source.path.endswith(".h")):  # all files that include the header have it
        source.defined.add(name)
    if static and function:
        source.static_functions[name] = line


def parse(root, path):
    text = (Path(root) / path).read_text(errors="replace")
    source = Source(path, [match[1] for match in INCLUDE.findall(text)])
    text = CPLUSPLUS.sub(blank, COMMENT_OR_TEXT.sub(blank, INCLUDE.sub("", text)))
    is_header = path.endswith(".h")  # a header does not use the names that it declares
    if is_header:
        source.words.update(*(USE.findall(directive) for directive in DIRECTIVE.findall(text)))
    else:
        source.words.update(USE.findall(text))
    text = DIRECTIVE.sub(blank, text)
    for head, body, place in items(text):
        place += len(head) - len(head.lstrip())
        add_item(source, head, body is not None, text.count("\n", 0, place) + 1)
        if is_header and body:
            source.words.update(USE.findall(body))
    return source


def find(root, *directories):
    """Returns all sources below the directories, by path."""
    paths = sorted(
        str(path.relative_to(root))
        for directory in directories
        for path in (Path(root) / directory).rglob("*.[ch]")
    )
    return {path: parse(root, path) for path in paths}


def circles(graph):
    """Returns the groups of more than one node in which all nodes lead to each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            place = stack.index(node)
            if len(stack) - place > 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found
