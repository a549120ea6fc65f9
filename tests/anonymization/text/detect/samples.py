"""One value per recognizer, with the words before it that the recognizer needs.

The values are made up; those with checksums hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from anonymization.text.contracts import EntityType as T


@dataclass(frozen=True, slots=True)
class Sample:
    """`lead` and `tail` stand around the value, part of the pattern or its context."""

    rule: str
    type: T
    value: str
    lead: str = ""
    tail: str = ""


SAMPLES = (
    Sample("email", T.EMAIL, "lin.hui@corp-mail.cn"),
    Sample("url_with_secret", T.URL, "a8Fj2kLm9Qx0", "https://files.acme.io/get?id=7&token="),
    Sample("url_secret_path", T.URL, "aB3dE5gH7jK9mN1pQ3rS5t", "https://share.acme.io/s/"),
    Sample("url_user", T.URL, "deploy:Sommer2024", "https://", "@git.acme.io/x"),
    Sample("url_in_prose", T.URL, "https://intra.acme-holding.io/wiki/Plan"),
    Sample("website_said", T.URL, "https://lin-hui-bakery.cn/", "网站："),
    Sample("user_path_posix", T.USER_PATH, "linhui", "/home/", "/work"),
    Sample("user_path_windows", T.USER_PATH, "LinHui", "C:\\Users\\", "\\Desktop"),
    Sample("user_path_dashed", T.USER_PATH, "linhui", "-home-", "-project"),
    Sample("ls_owner", T.USER_PATH, "linhui", "-rw-r--r-- 1 ", " staff 812"),
    Sample("ipv4", T.IP_ADDRESS, "81.187.45.201"),
    Sample("ipv6", T.IP_ADDRESS, "2001:db8:85a3::8a2e:370:7334"),
    Sample("mac_address", T.IP_ADDRESS, "3c:22:fb:9a:01:7e"),
    Sample("resident_id", T.NATIONAL_ID, "11010519491231002X"),
    Sample("resident_id_said", T.NATIONAL_ID, "110105491231002", "身份证 "),
    Sample("credit_code", T.COMPANY_CODE, "91350100M000100Y43"),
    Sample("credit_code_said", T.COMPANY_CODE, "350100100010043", "税号 "),
    Sample("stock_code_said", T.COMPANY_CODE, "600519", "股票代码 "),
    Sample("bank_card", T.BANK_CARD, "6222021234567890128"),
    Sample("bank_card_amex", T.BANK_CARD, "3782 822463 10005"),
    Sample("bank_card_said", T.BANK_CARD, "501800000009", "卡 "),
    Sample("bank_account_said", T.BANK_ACCOUNT, "0200 3341 0902 4871 135", "收款账户 "),
    Sample("iban", T.BANK_ACCOUNT, "GB29NWBK60161331926819"),
    Sample("crypto_wallet", T.BANK_ACCOUNT, "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"),
    Sample("us_social_security", T.NATIONAL_ID, "536-22-8714"),
    Sample("us_social_security_said", T.NATIONAL_ID, "536228714", "SSN "),
    Sample("licence_said", T.NATIONAL_ID, "440301198", "驾照 "),
    Sample("passport", T.PASSPORT, "K1234567", "护照 "),
    Sample("passport_chinese", T.PASSPORT, "E12345678", "护照 "),
    Sample("plate", T.PLATE, "粤B5K2M8"),
    Sample("plate_letters", T.PLATE, "沪BUAXWUK", "车牌 "),
    Sample("mobile_chinese", T.PHONE, "13812345678"),
    Sample("landline_chinese", T.PHONE, "010-62345678"),
    Sample("landline_chinese_said", T.PHONE, "62345678", "电话 "),
    Sample("phone_plus", T.PHONE, "+44 20 7946 0958"),
    Sample("phone_us", T.PHONE, "415-555-2671"),
    Sample("phone_said", T.PHONE, "083 564 9312", "电话 "),
    Sample("wechat_id", T.ACCOUNT, "wxid_a1b2c3d4e5f6"),
    Sample("wechat_said", T.ACCOUNT, "linhui_88", "微信号："),
    Sample("qq_said", T.ACCOUNT, "482910375", "QQ："),
    Sample("feishu_id", T.ACCOUNT, "ou_7d8a6e6df7621556ce0d21922b676706"),
    Sample("feishu_said", T.ACCOUNT, "linhui.fs", "飞书号："),
    Sample("chat_user_id", T.ACCOUNT, "U024BE7LH", "<@", ">"),
    Sample("account_said", T.ACCOUNT, "linhui88", "用户名："),
    Sample("person_number_said", T.PERSON_NUMBER, "EMP-004217", "员工编号："),
    Sample("application_number", T.CASE_NUMBER, "47289/99"),
    Sample("application_number_short", T.CASE_NUMBER, "812/04", "no. "),
    Sample("case_chinese", T.CASE_NUMBER, "（2021）京01民初123号"),
    Sample("document_chinese", T.CASE_NUMBER, "沪府发〔2023〕17号"),
    Sample("case_said", T.CASE_NUMBER, "LN-2023-1189", "案号："),
    Sample("us_case", T.CASE_NUMBER, "1:21-cv-04321"),
    Sample("date_words", T.DATE, "14 March 1987"),
    Sample("date_numbers", T.DATE, "1987-03-14"),
    Sample("date_chinese", T.DATE, "1987年3月14日"),
    Sample("year_said", T.DATE, "1998", "since "),
    Sample("weekday", T.DATE, "Thursday", "on "),
    Sample("age", T.AGE, "46", "aged "),
    Sample("age_chinese", T.AGE, "46", "", "岁"),
    Sample("zip_said", T.ADDRESS, "200120", "邮编："),
    Sample("postcode_uk", T.ADDRESS, "S10 2TN"),
    Sample("zip_us", T.ADDRESS, "CA 94107", "Oakland, "),
    Sample("address_chinese", T.ADDRESS, "浙江省杭州市西湖区文三路90号", "住址："),
    Sample("company_chinese", T.ORGANIZATION, "恒远精密仪器有限公司", "备注："),
    Sample("name_chinese_said", T.PERSON, "欧阳文静", "联系人："),
    Sample("name_chinese_title", T.PERSON, "周海涛", "，", "经理"),
    Sample("title", T.TITLE, "Mrs.", "", " Ellsworth"),
    Sample("title_lower", T.TITLE, "mrs.", "", " ellsworth"),
    Sample("name_after_title", T.PERSON, "Ellsworth", "Mrs. "),
    Sample("name_with_initial", T.PERSON, "Margaret K. Ellsworth"),
    Sample("initials_and_name", T.PERSON, "M. Ellsworth"),
    Sample("name_said", T.PERSON, "Margaret Ellsworth", "my name is "),
    Sample("name_said_one", T.PERSON, "Margaret", "my name is "),
    Sample("name_possessive_place", T.PERSON, "Ellsworth", "", "'s address"),
    Sample("name_before_address", T.PERSON, "Margaret Ellsworth", "Ship to: ", "\n"),
    Sample("military_address", T.ADDRESS, "PSC 1437, Box 3833\nAPO AA 66791"),
    Sample("employer", T.ORGANIZATION, "Brightwater", "I work for ", ", "),
    Sample("job_at", T.TITLE, "Midwife", "I work for Brightwater as ", ", "),
    Sample("job_held", T.TITLE, "district nurse", "she worked as a "),
    Sample("english_people", T.NATIONALITY, "English", "", " teachers"),
    Sample("money", T.QUANTITY, "EUR 4,684.40"),
    Sample("money_chinese", T.QUANTITY, "3,200万元"),
    Sample("share", T.QUANTITY, "12.4%"),
    Sample("span_of_time", T.QUANTITY, "three years"),
)
