#!/usr/bin/env python3
"""flame - draws the instructions of one request from callgrind's output.

    flame.py FILE TIMES TITLE >graph.svg      a flame graph
    flame.py --text FILE TIMES TITLE          the same as text, for functions of at least 2 %

Callgrind records callers and costs, but not call paths: if a function has several callers, the cost
of its callees is divided among the callers in proportion to their own costs.
"""

import collections
import html
import re
import sys

WIDTH, ROW, LEAST = 1200, 17, 0.002
DEEPEST = 60
COLOURS = ["#e0703c", "#e88a4b", "#d95f3b", "#efa35d", "#e57a58", "#f0b36e"]


class Graph:
    """Functions with their own cost and the cost of their callees."""

    def __init__(self, path):
        self.own = collections.Counter()
        self.calls = collections.defaultdict(collections.Counter)
        self.names = {}
        with open(path, encoding="utf-8", errors="replace") as f:
            self._read(f)
        self.whole = {name: self.own[name] + sum(self.calls[name].values())
                      for name in set(self.own) | set(self.calls)}
        self.called = collections.Counter()
        for caller, callees in self.calls.items():
            for callee, cost in callees.items():
                self.called[callee] += cost if caller != callee else 0

    def _name(self, text):
        found = re.match(r"\((\d+)\)(?: (.*))?", text)
        if not found:
            return text
        number, name = found.groups()
        if name:
            # Cycles and compiler-made copies count as the original function.
            self.names[number] = re.sub(r"(\.(constprop|isra|part|cold|lto_priv)(\.\d+)?|'\d+)+$", "", name)
        return self.names[number]

    def _read(self, lines):
        caller = callee = None
        is_call = False
        for line in lines:
            if line.startswith("fn="):
                caller = self._name(line[3:].strip())
            elif line.startswith("cfn="):
                callee = self._name(line[4:].strip())
            elif line.startswith("calls="):
                is_call = True
            elif line[0] in "0123456789+-*" and caller:
                cost = int(line.split()[1]) if len(line.split()) > 1 else 0
                if is_call:
                    self.calls[caller][callee] += cost
                else:
                    self.own[caller] += cost
                is_call = False

    def roots(self):
        """Returns functions without a caller, or whose caller has not returned yet."""
        for name, whole in self.whole.items():
            rest = whole - self.called[name] - self.calls[name][name]
            if rest > 0:
                yield name, rest

    def tree(self, name, cost, least, above=()):
        """Returns (name, cost, children) with the children of at least `least` cost."""
        whole = self.whole.get(name) or 1
        children = []
        if len(above) < DEEPEST:
            for callee, part in self.calls[name].most_common():
                share = part * cost / whole
                if share >= least and callee not in above and callee != name:
                    children.append(self.tree(callee, share, least, (*above, name)))
        return name, cost, children


def call_trees(graph, least):
    found = [graph.tree(name, cost, least) for name, cost in graph.roots() if cost >= least]
    return sorted(found, key=lambda node: -node[1])


def depth(nodes):
    return 1 + max((depth(children) for _, _, children in nodes), default=0) if nodes else 0


def draw_nodes(nodes, left, level, height, scale, times, out):
    for name, cost, children in nodes:
        width = cost * scale
        y = height - (level + 1) * ROW
        colour = COLOURS[sum(map(ord, name)) % len(COLOURS)]
        shown = html.escape(name if len(name) * 6.6 < width else name[:max(0, int(width / 6.6) - 1)])
        out.append(f'<g><title>{html.escape(name)}: {cost / times:,.0f}</title><rect x="{left:.1f}" y="{y}" '
                   f'width="{max(width - 0.5, 0.3):.1f}" height="{ROW - 1}" fill="{colour}"/>'
                   + (f'<text x="{left + 3:.1f}" y="{y + 12}">{shown}</text>' if len(shown) > 2 else "")
                   + "</g>")
        draw_nodes(children, left, level + 1, height, scale, times, out)
        left += width


def svg_of(nodes, times, title):
    total = sum(cost for _, cost, _ in nodes)
    height = (depth(nodes) + 2) * ROW
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="monospace" '
           f'font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="#fff8f0"/>',
           f'<text x="4" y="13" font-size="13">{html.escape(title)}: {total / times:,.0f} instructions</text>']
    draw_nodes(nodes, 0, 0, height, WIDTH / total, times, out)
    return "\n".join(out + ["</svg>"])


def lines_of(nodes, times, level=0):
    for name, cost, children in nodes:
        yield f"{cost / times:10,.0f} {'  ' * level}{name}"
        yield from lines_of(children, times, level + 1)


def main(arguments):
    text = arguments[:1] == ["--text"]
    if len(arguments) != 3 + text:
        sys.exit(__doc__)
    path, times, title = arguments[text:]
    graph = Graph(path)
    nodes = call_trees(graph, sum(graph.own.values()) * (0.02 if text else LEAST))
    print("\n".join([title, *lines_of(nodes, int(times))]) if text else svg_of(nodes, int(times), title))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
