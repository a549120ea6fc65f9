"""What a question calls a line: the printed label, the concept's, or nothing that reads well."""

from __future__ import annotations

from typing import Any

import pytest

from construction.statements.questions.contracts import QuestionConfig, QuestionReason
from construction.statements.questions.make import make_questions
from tests.construction.statements.questions.small import Book, drawn


def question_text(label: str, printed: str, *, statement: str = "Income statement",
                  value: str = "5000000", others: tuple[str, ...] = (),
                  **more: Any) -> str | None:  # fmt: skip
    """The question about a line whose row prints `printed`; None if it has no clear name."""
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    negated = more.pop("negated", False)
    months = 0 if statement == "Balance sheet" else 12
    line = book.line(company, f"{statement} | {label}", **more)
    point = book.value(line, value, months=months)
    book.row(1, printed, line, company_id=company, statement=statement, negated=negated)
    for at, other in enumerate(others, 2):
        own = book.line(company, f"{statement} | Item {at}")
        book.row(at, other, own, company_id=company, statement=statement)
    batch = make_questions(drawn(point), book.close(), QuestionConfig(), 7)
    if batch.questions:
        return batch.questions[0].text
    assert [row.reason for row in batch.rejections] == [QuestionReason.NOT_PRINTED]
    return None


@pytest.mark.parametrize(
    ("label", "printed", "more", "inside"),
    [
        # the printed label, where the concept's says more or other things
        ("Milling, Drying, Storage and Haulage Costs", "Milling and haulage costs",
         {"balance": "debit"}, "milling and haulage costs"),
        ("Cost-method Mills, Realized Gain (Loss)", "Gain on mill shares", {"balance": "credit"},
         "gain on mill shares"),
        ("Income (Loss) from Continuing Operations before Income Taxes, Domestic",
         "Income before income taxes", {"balance": "credit"}, "income before income taxes"),
        ("Depreciation, Depletion and Amortization", "Depreciation and amortization",
         {"statement": "Cash flow statement", "balance": "debit"}, "depreciation and amortization"),
        ("Payments to Acquire Silos and Other Stores", "Purchases of grain silos",
         {"statement": "Cash flow statement", "balance": "credit", "negated": True},
         "purchases of grain silos"),
        # no total that the row does not print
        ("Operating Expenses", "Operating expenses", {"balance": "debit"}, "operating expenses "),
        ("Operating Expenses", "Total operating expenses", {"balance": "debit"},
         "total operating expenses"),
        # what the filer does, for what a taxonomy says that it pays
        ("Payments to Acquire Grain Silos", "Purchases of grain silos",
         {"statement": "Cash flow statement", "balance": "credit"}, "purchases of grain silos"),
        ("Payments for Repurchase of Mill Shares", "Repurchases of mill shares",
         {"statement": "Cash flow statement", "balance": "credit"}, "repurchases of mill shares"),
        ("Payments to Acquire Grain Silos", "Purchase of grain silos",
         {"statement": "Cash flow statement", "balance": "credit"}, "purchases of grain silos"),
        ("Payments to Acquire Grain Silos", "Payments for grain silos",
         {"statement": "Cash flow statement", "balance": "credit"},
         "payments for grain silos"),
        ("Payments to Acquire Grain Silos", "Purchases of grain silos",
         {"statement": "Cash flow statement", "balance": "credit",
          "others": ("Purchases of grain silos abroad",)}, "payments to acquire grain silos"),
        # the concept's, where the row prints all of it in its place
        ("Inventory, Net", "Inventories, net", {"statement": "Balance sheet"}, "net inventory"),
        ("Earnings Per Share, Basic", "Basic", {"unit": "USD/share", "value": "1.20"},
         "basic earnings per share"),
        ("Interest Expense", "Interest expense (Note 4)", {}, "interest expense"),
        ("Common Stock, Value, Issued",
         "Common stock, $0.01 par value; 600 shares authorized, 381 issued",
         {"statement": "Balance sheet"}, "How much did Ardent Mills Inc. report in common stock"),
        ("Net Income (Loss), Including Portion Attributable to Noncontrolling Interest",
         "Net income", {"others": ("Net income of Ardent Mills",)},
         "net income, including noncontrolling interests"),
        # one word for both sides, whatever the row has
        ("Milling Income (Loss)", "MILLING INCOME", {}, "milling income "),
        ("Milling Income (Loss)", "Milling income (loss)", {}, "milling income of"),
        ("Milling Income (Loss)", "Milling income", {"value": "-5"}, "milling income of"),
        ("Mill Tax Expense (Benefit)", "Mill tax expense (benefit)", {}, "mill tax expense"),
        ("Increase (Decrease) in Flour", "Change in flour", {"statement": "Cash flow statement"},
         "s change in flour"),
        # the filer's word for its owners, and no parent where the row names none
        ("Stockholders' Equity Attributable to Parent", "Total shareholders' equity",
         {"statement": "Balance sheet"}, "total shareholders' equity"),
        ("Stockholders' Equity Attributable to Parent", "Total stockholders' equity",
         {"statement": "Balance sheet"}, "total stockholders' equity"),
        ("Stockholders' Equity Attributable to Parent", "Total Ardent shareholders' equity",
         {"statement": "Balance sheet", "others": ("Total shareholders' equity",)},
         "shareholders' equity, excluding noncontrolling interests,"),
        # equity with and without noncontrolling interests, each a total
        ("Stockholders' Equity, Including Portion Attributable to Noncontrolling Interest",
         "TOTAL STOCKHOLDERS' EQUITY", {"statement": "Balance sheet",
          "others": ("Total Ardent Mills Stockholders' Equity", "Noncontrolling interest")},
         "total equity, including noncontrolling interests,"),
        ("Stockholders' Equity, Including Portion Attributable to Noncontrolling Interest",
         "Total equity", {"statement": "Balance sheet",
          "others": ("Total equity - controlling interests",)},
         "total equity, including noncontrolling interests,"),
        ("Stockholders' Equity Attributable to Parent", "Total shareholders' equity",
         {"statement": "Balance sheet", "others": ("Total equity",)},
         "shareholders' equity, excluding noncontrolling interests,"),
        ("Stockholders' Equity Attributable to Parent",
         "Total equity attributable to Ardent Mills", {"statement": "Balance sheet",
          "others": ("Total equity",)},
         "stockholders' equity, excluding noncontrolling interests,"),
        ("Stockholders' Equity Attributable to Parent", "Total common stockholders' equity",
         {"statement": "Balance sheet", "others": ("Total equity",)},
         "total common stockholders' equity "),
        ("Stockholders' Equity Attributable to Parent", "Total stockholders' equity",
         {"statement": "Balance sheet", "others": ("Total liabilities and equity",
          "Temporary equity", "Total equity securities")}, "total stockholders' equity "),
        ("Net Income (Loss) Attributable to Parent", "Net income", {}, "net income "),
        ("Net Income (Loss) Attributable to Parent", "Net income attributable to ARDENT",
         {}, "net income attributable to the parent company "),
        ("Net Income (Loss) Attributable to Parent",
         "Net earnings (loss) attributable to Ardent Mills shareholders", {},
         "net income attributable to Ardent Mills shareholders"),
        ("Net Income (Loss) Attributable to Parent",
         "NET INCOME ATTRIBUTABLE TO ARDENT COMMON STOCKHOLDERS", {},
         "net income attributable to Ardent common stockholders"),
        ("Net Income (Loss) Attributable to Parent", "Net income attributable to AM members", {},
         "net income attributable to AM members "),
        ("Net Income (Loss) Attributable to Parent", "Net income",
         {"others": ("Net income of Ardent Mills",)},
         "net income attributable to the parent company"),
        ("Stockholders' Equity, Including Portion Attributable to Noncontrolling Interest",
         "Total equity", {"statement": "Balance sheet"}, "total equity"),
        # no "net" that the row does not print
        ("Inventory, Net", "Inventories", {"statement": "Balance sheet"}, "inventories "),
        ("Inventory, Net", "Inventories", {"statement": "Balance sheet",
         "others": ("Inventories of others",)}, "net inventory"),
        # a row that holds more than its concept is asked by its own words
        ("Other Grain, Noncurrent", "Milled flour and other grains",
         {"statement": "Balance sheet"}, "milled flour and other grains"),
        ("Income (Loss) from Milling", "Income from discontinued operations", {},
         "income from discontinued operations"),
        # what was received is not asked as paid
        ("Cash Dividends Paid to Parent Company by Millers", "Dividends received from millers",
         {"statement": "Cash flow statement"}, "dividends received from millers"),
        ("Grain Assets Current", "Grain assets", {"statement": "Balance sheet"},
         "the grain assets"),
    ],
)  # fmt: skip
def test_lines_are_asked_by_what_readers_see(
    label: str, printed: str, more: dict[str, Any], inside: str
) -> None:
    text = question_text(label, printed, **more)
    assert text is not None and inside in text
    assert "line item" not in text
    assert "(loss)" not in text and "(benefit)" not in text
    assert "received" not in text or "paid" not in text


@pytest.mark.parametrize(
    ("label", "printed", "more"),
    [
        ("Cost of Goods Sold, Direct Materials", "Product", {}),
        ("Milling, Drying, Storage and Haulage Costs", "Milling and other", {}),
        ("Grain Benefit Deferred Storage Plan", "Grain benefit - deferred storage plan",
         {"concept": "GrainBenefitDeferredStoragePlan"}),
        ("Other Noncash Grain", "Other", {"statement": "Cash flow statement"}),
        ("General and Administrative Expense", "Administrative, excluding depreciation", {}),
        ("Increase (Decrease) in Deferred Grain", "Unearned flour",
         {"statement": "Cash flow statement"}),
        ("Milling, Storage and Haulage Costs", "Haulage costs",
         {"others": ("Haulage costs of others",)}),
        ("Profit of Other Mills", "Equity in ABM mills", {}),
        # a period of its own, an end without its noun, small words throughout
        ("Grain gains arising during the period", "Grain gains arising during the period", {}),
        ("Interest on grain and flour unpaid", "Interest on grain and flour unpaid", {}),
        ("Cost of grain in store at mills for sale to millers by the load",
         "Cost of grain in store at mills for sale to millers by the load", {}),
        ("Earnings Per Share Linked To Notes", "Earnings per share linked to notes", {}),
        ("Grain Income, Storage", "Loss of grain", {"balance": "credit"}),
        # a concept's two sides, turned round by the row, or for what the row calls other items
        ("Increase (Decrease) in Flour", "Decrease (increase) in flour",
         {"statement": "Cash flow statement", "negated": True}),
        ("Payments for (Proceeds from) Other Mills", "Other items, net",
         {"statement": "Cash flow statement", "negated": True}),
        ("Proceeds from (Payments for) Other Mills", "Issuance of shares and other, net",
         {"statement": "Cash flow statement"}),
        # what an income statement calls by the thing that it is paid for
        ("Milled Grain and Other", "Milled grain and other", {}),
        ("Other Liabilities, Noncurrent", "Employee benefits: pensions, and other liabilities",
         {"statement": "Balance sheet"}),
        ("Net Income (Loss)", "Comprehensive loss", {"statement": "Comprehensive income"}),
        # what says more than its concept, and cannot be said
        ("Flour and Grain", "Flour and grain includes grain of others",
         {"statement": "Balance sheet"}),
        # sides in brackets, headings' parts, balances called flows
        ("Proceeds from (Repayments of) Debt", "Net debt", {"statement": "Cash flow statement"}),
        ("Proceeds from Sales", "Proceeds from sales", {"statement": "Cash flow statement"}),
        ("Employee Benefits", "Employee benefits", {"statement": "Balance sheet"}),
        ("Silo Debt", "Silo debt, including $5 of mills", {"statement": "Balance sheet"}),
    ],
)  # fmt: skip
def test_lines_without_a_clear_name_are_not_asked(
    label: str, printed: str, more: dict[str, Any]
) -> None:
    assert question_text(label, printed, **more) is None


@pytest.mark.parametrize(
    ("printed", "is_asked"),
    [
        ("Proceeds from the sale of Celebrity Galaxy", False),
        ("Proceeds from Sale of Celebrity Galaxy", False),
        ("PROCEEDS FROM SALE OF CELEBRITY GALAXY", False),
        ("Proceeds from the Sale & Repair of grain ships", False),
        ("Proceeds from the sale of grain ships", True),
        ("Proceeds from the Sale of Grain Ships", True),
        ("PROCEEDS FROM SALE OF GRAIN SHIPS", True),
    ],
)
def test_labels_that_name_a_ship_are_not_asked(printed: str, is_asked: bool) -> None:
    text = question_text(
        "Proceeds from Sale of Mills", printed, statement="Cash flow statement",
        others=("Repairs of grain ships",),
    )  # fmt: skip
    assert (text is not None) == is_asked


@pytest.mark.parametrize(
    ("printed", "said"),
    [("Milling receivables", "milling receivables in its Printers segment"), (None, None)],
)
def test_a_part_is_asked_by_the_words_of_its_row(printed: str | None, said: str | None) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    label = "Notes Receivable after Allowance for Credit Loss"
    line = book.line(company, f"Balance sheet | {label}")
    name = f"Segments | Business Segments | Printers | {label}"
    part = book.line(company, name, dimensions="x=y", concept=label)
    point = book.value(part, "5000000", line=1 if printed else None)
    book.row(1, printed or "Milling receivables", line, company_id=company)
    questions = make_questions(drawn(point), book.close(), QuestionConfig(), 7).questions
    assert [said for one in questions if said and said in one.text] == [said] * bool(said)
    assert len(questions) == bool(said)


@pytest.mark.parametrize(
    ("printed", "said"),
    [("Notes payable and borrowings", "notes payable and borrowings"), ("Other", None)],
)
def test_parts_that_share_a_row_without_a_whole_are_asked(printed: str, said: str | None) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    points = []
    for at, part in enumerate(("Printers", "Silos")):
        name = f"Segments | Business Segments | {part} | Notes Payable"
        line = book.line(company, name, dimensions=f"x={part}", concept="NotesPayable")
        points.append(book.value(line, f"{5 + at}000000", months=0))
    book.row(1, printed, None, company_id=company)
    questions = make_questions(drawn(*points), book.close(), QuestionConfig(), 7).questions
    assert len(questions) == (2 if said else 0)
    assert all(f"{said} in its " in one.text for one in questions)


@pytest.mark.parametrize(
    ("axis", "member", "said"),
    [
        ("Geographical", "CN", "net sales in China"),
        ("Statement Geographical", "US", "net sales in the United States"),
        ("Geographic segments", "Europe", "net sales in Europe"),
        ("Geographic segments", "United Kingdom", "net sales in the United Kingdom"),
        ("Business Segments", "Print and Publishing", "net sales in its Print and Publishing seg"),
        ("Business Segments", "Mills Silos and Energy", None),
        ("Segment consolidation items", "Oat Mills", "net sales in its Oat Mills segment"),
        ("Geographical", "ZZ", None),
        ("Business Segments", "CN", None),
    ],
)
def test_countries_and_segments_are_named_as_people_do(
    axis: str, member: str, said: str | None
) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    line = book.line(company, f"Segments | {axis} | {member} | Sales", dimensions="x=y")
    point = book.value(line, "5000000")
    questions = make_questions(drawn(point), book.close(), QuestionConfig(), 7).questions
    assert [said in one.text for one in questions if said] == [True] * bool(said)
    assert len(questions) == bool(said)


@pytest.mark.parametrize(("months", "is_asked"), [(12, True), (0, False)])
def test_an_average_needs_a_period(months: int, is_asked: bool) -> None:
    book = Book()
    company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
    line = book.line(
        company, "Operating indicators | Average number of temporary employees", unit="count"
    )
    point = book.value(line, "490", months=months)
    questions = make_questions(drawn(point), book.close(), QuestionConfig(), 7).questions
    assert len(questions) == is_asked


def test_members_of_axes_that_readers_do_not_know_are_not_asked() -> None:
    cases = (("Geography", "USD", True), ("Equity Components", "USD", False),
             ("Customer", "USD", False), ("Product or service", "USD", False))  # fmt: skip
    for axis, unit, is_asked in (*cases, ("Geography", "USD/share", False)):
        book = Book()
        company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
        name = f"Segments | {axis} | Europe | Sales"
        line = book.line(company, name, dimensions="x=y", unit=unit)
        batch = make_questions(
            drawn(book.value(line, "5000000")), book.close(), QuestionConfig(), 7
        )
        assert len(batch.questions) == is_asked


def test_codes_and_eliminations_are_no_segments() -> None:
    odd = ("CN", "Country of Domicile", "Foreign Mills", "Operating Segments", "Total Mills",
           "Unallocated", "Inter Mill Eliminations", "Intersector", "Intersegment Sales",
           "Consolidation",
           "Segment Reconciling Items", "Corporate and Eliminated", "Consolidated",
           "Corporate and Other", "All Other Mills", "Operations")  # fmt: skip
    parts = ("Europe", "Consolidated Mills", "Interior", "Mill Operations")
    for member, is_asked in [*((one, True) for one in parts), *((one, False) for one in odd)]:
        book = Book()
        company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
        line = book.line(
            company, f"Segments | Business Sectors | {member} | Sales", dimensions="x=y"
        )
        batch = make_questions(
            drawn(book.value(line, "5000000")), book.close(), QuestionConfig(), 7
        )
        assert len(batch.questions) == is_asked


@pytest.mark.parametrize(
    ("section", "label", "said"),
    [
        ("Inventories", "Merchandise", "merchandise inventory"),
        ("Inventory", "Raw materials and supplies", "raw materials and supplies inventory"),
        ("Inventories", "Milled goods", "milled goods"),
        ("Current assets", "Merchandise", "merchandise inventory"),
    ],
)
def test_goods_of_a_balance_sheet_are_asked_with_their_noun(
    section: str, label: str, said: str
) -> None:
    book = Book()
    line = book.line(book.company("sec:1", "Ardent Mills"), f"Balance sheet | {section} | {label}")
    point = book.value(line, "5000000", months=0)
    (question,) = make_questions(drawn(point), book.close(), QuestionConfig(), 7).questions
    assert said in question.text
    assert question.text.count("inventory") == said.count("inventory")


_INVESTING = "Cash Provided by (Used in) Investing Activities, Discontinued Operations"
_SALES_TAG = "CashProvidedByUsedInInvestingActivitiesDiscontinuedOperationsFromSalesProceeds"


@pytest.mark.parametrize(
    ("label", "printed", "concept", "inside"),
    [
        (_INVESTING, "Net cash provided by investing activities", "Tag", "discontinued operations"),
        (_INVESTING, "Investing activities of discontinued operations", "Tag", "discontinued"),
        ("Discontinued operations | Mill proceeds", "Mill proceeds", "Tag", None),
        ("Mill Sale Proceeds", "Mill sale proceeds", _SALES_TAG, None),
        ("Mill Sale Proceeds", "Mill sale proceeds of discontinued operations", "Tag",
         "mill sale proceeds of discontinued operations"),
        ("Mill Sale Proceeds", "Mill sale proceeds", "DeferredContinuingAndDiscontinuedOperations",
         "mill sale proceeds"),
        ("Grain Assets of Group", "Grain assets of group", "GroupIncludingDiscontinuedOperation",
         "grain assets of group"),
    ],
)  # fmt: skip
def test_lines_of_discontinued_operations_say_so_or_are_not_asked(
    label: str, printed: str, concept: str, inside: str | None
) -> None:
    text = question_text(label, printed, statement="Cash flow statement", concept=concept)
    assert (text is None) == (inside is None)
    assert text is None or (inside is not None and inside in text)


def test_a_scenario_is_asked_only_if_it_is_a_forecast() -> None:
    cases = (("Guidance", "Forecast", True), ("Guidance", "Scenario Forecast", True),
             ("Income statement", "Predecessor", False), ("Income statement", "Mills", False),
             ("Income statement", "Scenario Previously Reported", False))  # fmt: skip
    for statement, member, is_asked in cases:
        book = Book()
        company = book.company("sec:1", "Ardent Mills Inc.", source="sec")
        name = f"{statement} | Scenario | {member} | Net sales"
        point = book.value(book.line(company, name, dimensions="x=y"), "5000000")
        batch = make_questions(drawn(point), book.close(), QuestionConfig(), 7)
        assert len(batch.questions) == is_asked


@pytest.mark.parametrize(
    ("label", "printed", "sibling", "is_asked"),
    [
        ("Payments of Dividends", "Dividends paid - grain", "Dividends paid - silos", False),
        ("Payments of Dividends", "Dividends paid - grain", "Dividends of silos", False),
        ("Payments of Dividends", "Dividends paid - grain", "Repurchases - silos", True),
        # the plain one of two
        ("Payments of Dividends", "Dividends paid", "Dividends paid - silos", True),
        # one label twice
        ("Grain Reserve", "Grain reserves", "Grain reserves", False),
        ("Grain Reserve, Noncurrent", "Grain reserves", "Grain reserves", True),
        ("Grain Reserve", "Grain reserves", "Grain due", True),
    ],
)  # fmt: skip
def test_one_of_two_lines_of_a_kind_is_asked_by_what_tells_it_apart_or_not_at_all(
    label: str, printed: str, sibling: str, is_asked: bool
) -> None:
    text = question_text(
        label, printed, statement="Cash flow statement", others=(sibling,), concept="MillFlow"
    )
    assert (text is not None) == is_asked


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Decrease (increase) in grain receivables", " decrease in grain receivables"),
        ("Loss (gain) on sale of mills", " loss on sale of mills"),
    ],
)
def test_the_side_in_brackets_is_left_to_the_sign(label: str, said: str) -> None:
    book = Book()
    line = book.line(book.company("sec:1", "Ardent Mills Inc."), f"Cash flow statement | {label}")
    point = book.value(line, "5000000")
    (question,) = make_questions(drawn(point), book.close(), QuestionConfig(), 7).questions
    text = question.text
    assert said in text
    assert "as a negative number" in text


def test_a_company_among_the_words_of_a_line_keeps_its_capitals() -> None:
    text = question_text("Net Income (Loss) Attributable to Parent",
                         "Net earnings attributable to Ardent Mills stockholders")  # fmt: skip
    assert text is not None and "attributable to Ardent Mills stockholders" in text


def test_a_refund_is_no_payment_and_a_disposition_tells_no_proceeds() -> None:
    refund = "Net cash refunded for income taxes"
    text = question_text("Income Taxes Paid, Net", refund, value="-5000000", balance="credit",
                         statement="Cash flow statement")  # fmt: skip
    assert text is None
    text = question_text("Proceeds from Sale of Mills", "Disposition of mills", concept="MillSale",
                         statement="Cash flow statement", balance="debit")  # fmt: skip
    assert text is None or "proceeds from sale of mills" in text


def test_a_result_is_asked_of_the_income_statement_alone() -> None:
    label = "Profit before income taxes"
    assert question_text(label, label, statement="Cash flow statement") is None
    text = question_text(label, label)
    assert text is not None and "statement" not in text
