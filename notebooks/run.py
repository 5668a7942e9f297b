"""Executes the notebooks of this folder against a store, and one whose log has plans of queries.

usage: run.py STORE PLANS_STORE            compares what they print with what is saved in them, and fails on a difference
       run.py STORE PLANS_STORE --save     saves what they print and draw
"""

import difflib
import os
import pathlib
import sys

import nbformat
from nbclient import NotebookClient


def printed(notebook):
    """What the code cells print, cell by cell; drawings are not compared."""
    out = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts = [o.get("text", "") for o in cell.outputs if o.output_type == "stream"]
            out.append("".join(texts))
    return out


def main():
    for name, folder in zip(["STRAGGLER_STORE", "STRAGGLER_PLANS_STORE"], sys.argv[1:3]):
        os.environ[name] = str(pathlib.Path(folder).resolve())
    failed = []
    for path in sorted(pathlib.Path(__file__).parent.glob("*.ipynb")):
        saved = nbformat.read(path, as_version=4)
        fresh = nbformat.read(path, as_version=4)
        NotebookClient(fresh, timeout=300, kernel_name="python3").execute()
        if "--save" in sys.argv:
            for cell in fresh.cells:
                cell.get("metadata", {}).pop("execution", None)
            nbformat.write(fresh, path)
        elif printed(saved) != printed(fresh):
            failed.append(path.name)
            for was, now in zip(printed(saved), printed(fresh)):
                sys.stdout.writelines(difflib.unified_diff(was.splitlines(True), now.splitlines(True), f"{path.name}, saved", "now"))
        print(path.name, "differs from what is saved" if path.name in failed else "runs")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
