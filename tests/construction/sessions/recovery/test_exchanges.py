"""Files that the agent read, wrote and ran, from tool calls and shell commands."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.recovery.exchanges import _shell_acts, acts_of
from data.contracts import Origin, Role, ToolCall, Turn
from tests.construction.sessions.recovery.talk import call


def acts(*calls: ToolCall) -> list[tuple[str, str]]:
    turn = Turn(3, Role.ASSISTANT, Origin.AGENT, "", "", 1, tool_calls=calls)
    assert all(act.turn_index == 3 for act in acts_of(turn))
    return [(act.kind, act.path) for act in acts_of(turn)]


PATCH = (
    "*** Begin Patch\n*** Update File: src/a b.py\n@@\n-x\n+y\n*** Add File: new.md\n*** End Patch"
)
SCRIPT = (
    'const r = await tools.exec_command({cmd:"cat a.md; rg \\"x\\" src/b.go", "workdir":"/w"});'
)
PATCHED = [("read", "src/a b.py"), ("wrote", "src/a b.py"), ("wrote", "new.md")]


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (call("Read", file_path="/w/a.csv"), [("read", "/w/a.csv")]),
        (call("read", path="C:\\w\\a.csv"), [("read", "C:\\w\\a.csv")]),
        (call("read_many_files", paths=["a.md", "b.md"]), [("read", "a.md"), ("read", "b.md")]),
        (call("Write", file_path="/w/o.md", content="path.txt"), [("wrote", "/w/o.md")]),
        (
            call("MultiEdit", file_path="/w/o.md", edits=[]),
            [("read", "/w/o.md"), ("wrote", "/w/o.md")],
        ),
        (
            call("NotebookEdit", notebook_path="/w/n.ipynb"),
            [("read", "/w/n.ipynb"), ("wrote", "/w/n.ipynb")],
        ),
        (call("mcp__files__write_file", path="o.md"), [("wrote", "o.md")]),
        (
            call("str_replace_based_edit_tool", command="view", path="a.md"),
            [("read", "a.md")],
        ),
        (
            call("str_replace_based_edit_tool", command="create", path="a.md"),
            [("wrote", "a.md")],
        ),
        (
            call("Edit", file_path="b.md", old_string="", new_string="New."),
            [("wrote", "b.md")],
        ),
        (call("apply_patch", input=PATCH), PATCHED),
        (call("apply_patch", patchText=PATCH), PATCHED),
        (call("apply_patch", command=["apply_patch", PATCH]), PATCHED),
        (
            call("patch", diff="--- /dev/null\n+++ b/new.md\n@@\n+x\n--- a/o.md\n+++ b/o.md\n"),
            [("wrote", "new.md"), ("read", "o.md"), ("wrote", "o.md")],
        ),
        (
            call("apply_patch", operation={"type": "create_file", "path": "o.md"}),
            [("wrote", "o.md")],
        ),
        (call("write_to_file", absolutePath="/w/o.md", content=""), [("wrote", "/w/o.md")]),
        (call("filesystem_write_file", path="o.md"), [("wrote", "o.md")]),
        (
            call(
                "use_mcp_tool",
                server_name="files",
                tool_name="write_file",
                arguments='{"path": "o.md"}',
            ),
            [("wrote", "o.md")],
        ),
        (call("CallMcpTool", toolName="read_file", arguments={"path": "a.md"}), [("read", "a.md")]),
        (call("create_new_file", pathInProject="o.md"), [("wrote", "o.md")]),
        (
            call("multi_replace_string_in_file", replacements=[{"filePath": "o.md"}]),
            [("read", "o.md"), ("wrote", "o.md")],
        ),
        (call("json_edit_tool", operation="view", file_path="a.json"), [("read", "a.json")]),
        (call("use_mcp_tool", tool_name=3), []),
        (call("shell", command=["apply_patch", PATCH]), PATCHED),
        (call("shell", command=["bash", "-lc", "cat a.md"]), [("read", "a.md")]),
        (call("exec_command", cmd="python run.py"), [("ran", "run.py")]),
        (call("exec", input=SCRIPT), [("read", "a.md"), ("read", "src/b.go")]),
        (
            replace(call("exec"), result=SCRIPT),
            [("read", "a.md"), ("read", "src/b.go")],
        ),
        (
            call("exec", input='exec_command({cmd:"cat a.md b.m'),
            [("read", "a.md")],
        ),
        (call("exec", input='exec_command({cmd:"\\q cat a.md"})'), []),
        (call("web_search", query="a.csv"), []),
        (call("read", path=17), []),
        (call("fs_read", operations=[{"mode": "Line", "path": "a.md"}]), [("read", "a.md")]),
        (
            call("file_change", changes=[{"path": "/w/a.py", "kind": "add"}, {"kind": "add"}]),
            [("wrote", "/w/a.py")],
        ),
        (call("file_change", changes={"/w/a.py": {"add": {}}}), [("wrote", "/w/a.py")]),
        (
            call("edit", command=["view"], path="a.md"),
            [("read", "a.md"), ("wrote", "a.md")],
        ),
        (
            replace(call("Edit", content="x"), result="The file /w/a.go has been updated."),
            [("read", "/w/a.go"), ("wrote", "/w/a.go")],
        ),
        (
            replace(call("Write", content="x"), result="The file /w/a.go has been updated."),
            [("wrote", "/w/a.go")],
        ),
        (
            replace(call("Write", content="x"), result="File created successfully at: /w/a.go\n"),
            [("wrote", "/w/a.go")],
        ),
        (
            call("exec", input=f"const patch = {json.dumps(PATCH)};\ntools.apply_patch(patch)"),
            PATCHED,
        ),
        (call("bash"), []),
        (call("Read", file_path="gone.csv", is_error=True), []),
        (call("Read", file_path="x" * 1001), []),
    ],
)
def test_tool_calls(tool: ToolCall, expected: list[tuple[str, str]]) -> None:
    assert acts(tool) == expected


def test_what_aider_says_that_it_wrote_was_written() -> None:
    said = "Applied edit to docs/tide table.md\nCommit 1a2b3c4 docs: tides\nApplied edit to a.py"
    turn = Turn(1, Role.SYSTEM, Origin.SYSTEM, said, said, 1)
    assert [act.path for act in acts_of(turn) if act.kind == "wrote"] == [
        "docs/tide table.md", "a.py"
    ]  # fmt: skip
    assert list(acts_of(replace(turn, role=Role.USER, origin=Origin.HUMAN))) == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat 'LM notes.md'", [("read", "LM notes.md")]),
        ("cd /w && sed -n '1,20p' src/a.ts | head -3", [("read", "src/a.ts")]),
        ("sed -i 's|a/b.c|d|' conf/app.toml", [("wrote", "conf/app.toml")]),
        ("grep -o 'x.y' data/log.txt", [("read", "data/log.txt")]),
        ("jq .items in.json > out.json", [("wrote", "out.json"), ("read", "in.json")]),
        ("python3 tools/run.py --n 3.5 < in.csv", [("read", "in.csv"), ("ran", "tools/run.py")]),
        ("uv run python make.py", [("ran", "make.py")]),
        ("A=1 ./build.sh", [("ran", "./build.sh")]),
        ("python -c 'open(\"a.txt\")'", []),
        ("cp a.docx b.docx", [("read", "a.docx"), ("wrote", "b.docx")]),
        ("pandoc a.md -o a.pdf", [("wrote", "a.pdf")]),
        ("squeue --me -o '%.8i %.2t'", []),
        ("echo hi | tee notes.txt", [("wrote", "notes.txt")]),
        ("cat > out.py <<'EOF'\nopen('x.csv')\ncat y.csv\nEOF\ncat z.csv",
         [("wrote", "out.py"), ("read", "z.csv")]),
        ("# cat a.md\nls *.csv", []),
        ("curl https://example.org/a.json 2>/dev/null", []),
        ("cat $HOME/a.md /dev/null.x \"$f.txt\"", []),
        ("rm -rf build", []),
    ],
)  # fmt: skip
def test_shell_commands(command: str, expected: list[tuple[str, str]]) -> None:
    assert list(_shell_acts(command)) == expected


def test_a_command_names_fifty_files_at_most() -> None:
    assert len(list(_shell_acts("cat " + " ".join(f"f{n}.md" for n in range(90))))) == 50


@given(st.text(alphabet="cat a.b/'\"\\<>|&;()#$\n-o=", max_size=80))
def test_any_command_gives_paths_that_stand_in_it(command: str) -> None:
    for kind, path in _shell_acts(command):
        assert kind in ("read", "wrote", "ran")
        assert path.replace(" ", "") in command.replace("\\ ", "").replace(" ", "")
