"""Writes the table of one benchmark run: on the terminal, as Markdown and as JSON."""

import json
import os
import platform
import subprocess
import time


class Report:
    """Rows of (what, measured, unit, target); a target is ("<=", 1.6), (">=", 10) or None. A row
    with a noise reason counts as not measured."""

    def __init__(self):
        self.rows = []

    def add(self, what, measured, unit, target=None, detail=None, error=None, noisy=None):
        row = {"what": what, "measured": measured, "unit": unit, "target": target,
               "verdict": "NOISY" if noisy else verdict(measured, target, error),
               "detail": detail or {}}
        if error:
            row["error"] = str(error)
        if noisy:
            row["noisy"] = noisy
        self.rows.append(row)
        print(table_line(row), flush=True)

    def failed(self):
        return [row for row in self.rows if row["verdict"] in ("FAIL", "NOISY")]

    def write(self, folder, commit, facts):
        os.makedirs(folder, exist_ok=True)
        text = markdown(self.rows, commit, facts)
        for name in (f"{commit}.md", "latest.md"):
            replace_file(os.path.join(folder, name), text)
        replace_file(os.path.join(folder, f"{commit}.json"),
                     json.dumps({"commit": commit, **facts, "rows": self.rows}, indent=1) + "\n")


def verdict(measured, target, error):
    if error or measured is None:
        return "FAIL"
    if target is None:
        return "-"
    sign, limit = target
    return "PASS" if (measured <= limit if sign == "<=" else measured >= limit) else "FAIL"


def format_figure(value):
    if value is None:
        return "?"
    return f"{value:.2f}" if abs(value) < 100 else f"{value:,.0f}"


def target_text(row):
    return f"{row['target'][0]} {row['target'][1]:g}" if row["target"] else ""


def details(row):
    if "error" in row:
        return row["error"].splitlines()[0]
    figures = [f"{name} {format_figure(value)}" for name, value in row["detail"].items()]
    return ", ".join(figures + ([row["noisy"]] if "noisy" in row else []))


def table_line(row):
    return (f"  {row['what']:<50} {format_figure(row['measured']):>9} {row['unit']:<13}"
            f" {target_text(row):>8}  {row['verdict']:<5}  {details(row)}")


def markdown(rows, commit, facts):
    text = [f"# Bench of {commit}", ""]
    text += [f"- {name}: {value}" for name, value in facts.items()]
    text += ["", "| what | measured | target | verdict | details |", "|---|---|---|---|---|"]
    text += [f"| {row['what']} | {format_figure(row['measured'])} {row['unit']} | {target_text(row)} |"
             f" {row['verdict']} | {details(row)} |" for row in rows]
    return "\n".join(text) + "\n"


def replace_file(path, text):
    with open(path + ".tmp", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".tmp", path)


def current_commit(root):
    """Returns the short commit id, with "-dirty" if the tree differs."""
    def git(*args):
        return subprocess.run(["git", "-C", root, *args], capture_output=True, text=True)
    commit = git("rev-parse", "--short=10", "HEAD").stdout.strip() or "unknown"
    changed = git("status", "--porcelain", "--", "src", "bench/*.c", "meson.build").stdout.strip()
    return commit + "-dirty" if changed else commit


def machine_facts():
    return {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}",
            "runnable before the run, over the last minute": f"{os.getloadavg()[0]:.2f}"}
