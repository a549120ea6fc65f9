"""Evidence: what a label, a model or a list takes for a name though the work says otherwise."""

from __future__ import annotations

import pytest

from anonymization.masking_recipe import MaskingLevel, at_level
from anonymization.text.contracts import UNDECIDED, DetectionConfig
from anonymization.text.detect.engine import TextDetector


@pytest.fixture(scope="module")
def detector() -> TextDetector:
    return TextDetector(at_level(DetectionConfig(public_places=True), MaskingLevel.STRICT))


def masked(detector: TextDetector, text: str) -> set[str]:
    (findings,) = detector.find([text])
    return {text[f.start : f.end] for f in findings if f.recognizer not in UNDECIDED}


@pytest.mark.parametrize(
    "text",
    [
        "$ref: '#/components/schemas/Conflict409ErrorResponse'",  # a pointer
        "logger: org.acorn.batch.StepRunner42",  # a class
        "    driver: bridge",  # a driver of a network, and of no car
        "name: Storage Room",  # the name of a thing
        "organization: National Soil Association",
        "Upgrade notes: Rudder 4.1 replaces Rudder 3.2, and rudder init is gone.",
        "smtp host is smtp.sendgrid.net",
        "CATALINA_HOME: /root/apache-maven-3.9.6",  # a path, no password behind `root/`
        "Server number:         9.0.71.0",
        "admin@example.com",
        'pass = "env(MAIL_API_KEY)"',
        "postgresql://USER:PASSWORD@db:5432/app",
        "RUN groupadd -r appgroup && useradd -r -g appgroup appuser",
        "https://github.com/acorn/docs/blob/main/2_Release-Checklist-For-Editors.md",
        "| 国际厂商 | Palo Alto | 网关 |",
        "股份有限公司",
        "参数说明：见下表。接口说明：略。",
        "- `npm run build` を Docker から実行し、Excel に出力する。",
        "マイグレーション手順とレスポンシブ対応",
        "店舗: 珈琲館ミモザ",
        "3 Outreach 4.1 版本说明",  # a version, and no house number
        "title: { children: '一站式数据运营' }, tag: { children: 'TABLET' }",
        "WHERE c.course_name = 'Pottery Basics'",
        "    - name: Restart service\n    - name: Create directories",
        "acquire lock=166121161, flags=0x1",  # a program's own number
        "stack @0x7fed806eb5d, handle @0xb6fd90",
        "http.middlewares=compress@file, service=noop@internal",
        'subtitle: "ssh series 2/N"',
        "open `http://your-ip:8161/`",
        "image: acornbase:2\n  DB_USER: acornbase\n  DB_HOST: acornbase",
        '  display_name = "public-subnet-2"',
        "一般的にはホストキーのフィンガープリントを確認する。",
        "启动后环境监听 61616 端口和 8161 端口",
        "the Securities Act of 1933 says",
        "spark://BlockScheduler@worker",
        "--character-set-server=utf8mb4",
        "        sender: 请求者\n        recipient: 接收者",
        'user: "1000:1000"',
        "苹果公司的市值，AI公司的岗位",
        "uncordon\n  cordon         Mark node as unschedulable",
        "share of people aged 60 or over",
        "the plan for 2024 versus 2025",
        "Login：ログイン画面",
        "REDIS_HOST: redis-primary",
        'GET /app "https://www.ferrymex.com/index.html" 304',  # a file on a site that ends in x.com
        "https://plot.me/service-worker.js https://chat.me/about",
        "smtp host: smtp.mailbox.org",
        "Quarry 2013 Holiday Air 180 QS in stock",  # a product, and no street
        "From: Slack <no-reply@slack.com>",
        "# LANTERNFISH ONBOARDING\nWelcome.",
        "From the minutes:\n- Item C. Continued discussion of the roof.",
        "See Appendix B. Detailed figures of the roof.",
        "ruby 2.5.0p0 (2017-12-25 revision 61468) [x86_64-linux]",
        "gcc 12.2.0 (2022-08-19 build 4411)",
        "井原市",
        "田辺市",
    ],
)
def test_what_is_no_evidence_stays(detector: TextDetector, text: str) -> None:
    assert masked(detector, text) == set()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("name: Arlene Whitcombe Scholarship", {"Arlene Whitcombe"}),
        ("The Arlene J. Whitcombe Memorial Lecture is funded.", {"Arlene J. Whitcombe"}),
        ("Ask Arlene Whitcombe + Priscilla Okafor.", {"Arlene Whitcombe", "Priscilla Okafor"}),
        ("- Coordinate with Ben on the new draft.", {"Ben"}),
        ("Discuss Priscilla's role in the project.", {"Priscilla"}),
    ],
)
def test_a_name_ends_where_the_person_does(
    detector: TextDetector, text: str, names: set[str]
) -> None:
    assert masked(detector, text) == names


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("name: Priya", {"Priya"}),
        ("昵称：糖豆，微信名：阿雅", {"糖豆", "阿雅"}),
        ("$ ssh kestrel-lt", {"kestrel-lt"}),
        ("children: Arlene Whitcombe", {"Arlene Whitcombe"}),
        ("cp /srv/2024-03-14/a /old/b_20240314.sql", {"2024-03-14", "20240314"}),
        ("mv app.2024-03-14.log app.log", {"2024-03-14"}),
        (
            "CREATE TABLE `t` (\n  `id` int(11) NOT NULL,\n  `sno` varchar(20) COMMENT '学号',\n"
            "  `nick` varchar(255) COMMENT '昵称',\n  PRIMARY KEY (`id`)\n);\n"
            "INSERT INTO `t` VALUES (1, '2019210456', '糖豆');",
            {"2019210456", "糖豆"},
        ),
    ],
)
def test_what_a_label_a_command_or_a_column_says_is_masked(
    detector: TextDetector, text: str, values: set[str]
) -> None:
    assert values <= masked(detector, text)


def test_a_family_name_that_is_a_word_follows_its_person(detector: TextDetector) -> None:
    text = "Martha Carver opened the call.\nCarver: will send the minutes.\n"
    assert masked(detector, text) == {"Martha Carver", "Carver"}
    text = "Martha Carver met the carver, a carver of wood, and every carver came."
    assert "Carver" not in masked(detector, text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("2. 一覧を送付\n   宛先：佐藤本部長・岡副本部長\n", "本部長"),
        ("2. 結果を倉橋専務に報告する。\n   宛先：倉橋専務\n", "専務"),
        ("**Address:** 32 N. Main Street, Kent, CT  \n**Addendum:** Addendum 05", "Addendum"),
        ("Ship to 14 Harbour Street, Rye\nContact: the office", "Contact"),
    ],
)
def test_a_title_or_a_label_beside_a_value_stays(
    detector: TextDetector, text: str, kept: str
) -> None:
    values = masked(detector, text)
    assert values and not any(kept in value for value in values)


def test_a_sender_that_is_a_person_has_a_login(detector: TextDetector) -> None:
    assert "mwright" in masked(detector, "From: mwright <mwright@harrow.co.uk>")


@pytest.mark.parametrize(
    "text",
    [
        "manufacturer_name: 金型",
        "product_name: 成形型",
        "住所: 東京都",
        "住所: 大阪府",
        "都道府県: 北海道",
    ],
)
def test_things_and_prefectures_are_no_evidence_below_strict(text: str) -> None:
    config = at_level(DetectionConfig(public_places=True), MaskingLevel.FULL)
    assert masked(TextDetector(config), text) == set()
