"""What is not private stays: code, data, names of products, institutions and files."""

from __future__ import annotations

import pytest

from anonymization.text.detect.engine import TextDetector

_CLEAN = (
    "def load(path): return open(path).read()  # 版本 v2946743",
    "sha256=a23462582d2d3381486911e6e4fe04c7a2ee806504f513ddee24a3f62a1350c1",
    '{"max_tokens": 4096, "model": "claude-sonnet-4-5", "temperature": 0.7}',
    "本期营业收入为549354万元，净利润29323476元。",
    "订单编号58302962209310，共62209310条记录。",
    "第761242次迭代完成，用时31217308毫秒。",
    "行业代码C259204，样本量79988528。",
    "系统已完成数据同步，请查看日志文件并确认任务状态。",
    "这个方案的成本比上一个季度低了不少，需要和部门讨论后再决定。",
    "The function returns a list of rows sorted by the key column.",
    "Use Docker and Kubernetes to deploy the Python service behind Nginx.",
    "GPT-4o and Claude scored 71.2 on SWE-bench; Qwen and DeepSeek were close.",
    "- **Event Handling**: Clear the queue, then render the table.",
    "The European Court of Human Rights and the Ministry of Justice agreed.",
    "src/app/main.py:42: error: Incompatible types in assignment",
    "Version 10.2.3 was released; see section 4.1.2 of the changelog.",
    "Build 1700000000000 finished in 131 s, exit code 0.",
    "https://docs.python.org/3/library/re.html explains the syntax.",
    "The list holds 12 items, 3 of them in May.",
    "127.0.0.1:8080",
    "Accepted password for root from the console",
    "Failed password for invalid user oracle from the console",
    "Contacts by line of business:\n  1940  4 312 5577  3 120 4410  12,345  9,876\n",
    "git@github.com",
)


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector()


@pytest.mark.parametrize("text", _CLEAN)
def test_nothing_is_found(detector: TextDetector, text: str) -> None:
    actual = detector.find([text])[0]
    assert [(text[f.start : f.end], f.recognizer) for f in actual] == []
