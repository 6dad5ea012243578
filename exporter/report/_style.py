"""The style of report.html: one sheet, no fonts or pictures from elsewhere, light and dark, and fit for paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark;
  --page: #f4f5f8; --card: #ffffff; --ink: #1b2230; --soft: #5a6475; --line: #e1e5ec; --zone: #fbe9e7;
  --good: #17794a; --bad: #bf2f26; --open: #946200; --calm: #4c5fb5;
  --good-wash: #e6f4ec; --bad-wash: #fcebe9; --open-wash: #fbf2dc; --calm-wash: #e9ecf9; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12151b; --card: #1b2029; --ink: #e7eaf0; --soft: #9aa4b5; --line: #2e3542; --zone: #38201f;
  --good: #57c58c; --bad: #f2837a; --open: #e0b050; --calm: #98a7f0;
  --good-wash: #16301f; --bad-wash: #3a1d1b; --open-wash: #352a12; --calm-wash: #20264a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 36px 24px 64px; }
h1, h2, p, ul, dl, dd { margin: 0; }
h2 { font-size: 17px; font-weight: 650; margin: 40px 0 12px; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 12.5px;
  overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.good { --tone: var(--good); --wash: var(--good-wash); }
.bad { --tone: var(--bad); --wash: var(--bad-wash); }
.open { --tone: var(--open); --wash: var(--open-wash); }
.calm { --tone: var(--calm); --wash: var(--calm-wash); }
.banner { background: var(--wash); border: 1px solid var(--tone); border-left-width: 8px; border-radius: 10px;
  padding: 22px 26px; }
.banner .what { color: var(--soft); font-size: 15px; }
.banner .what b { color: var(--ink); font-weight: 650; }
.banner h1 { color: var(--tone); font-size: 34px; line-height: 1.25; letter-spacing: 0.02em; font-weight: 750; }
.banner p.why { margin-top: 8px; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(196px, 1fr)); gap: 14px; }
.card { background: var(--card); border: 1px solid var(--line); border-top: 3px solid var(--tone); border-radius: 10px;
  padding: 16px 18px; }
.card h3 { margin: 0; font-size: 13px; font-weight: 600; color: var(--soft); }
.card .figure { font-size: 27px; font-weight: 680; line-height: 1.35; font-variant-numeric: tabular-nums; }
.card .figure small { font-size: 14px; font-weight: 500; color: var(--soft); white-space: nowrap; }
.card p { font-size: 13.5px; line-height: 1.5; color: var(--soft); margin-top: 4px; overflow-wrap: anywhere; }
.sheet { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: 12.5px; white-space: nowrap; }
th, td { padding: 8px 14px; border-bottom: 1px solid var(--line); vertical-align: middle; }
tbody tr:last-child td { border-bottom: 0; }
.number { text-align: right; white-space: nowrap; }
th.chart, td.chart { padding: 0; width: 344px; }
th.chart span { padding-left: 16px; }
svg { display: block; }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
svg .allowed { fill: var(--bad); font-weight: 650; }
svg .grid { stroke: var(--line); }
svg .limit { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 4 3; }
svg .over { fill: var(--zone); }
svg .dot { fill: var(--tone); fill-opacity: 0.72; stroke: var(--card); }
.tag { display: inline-block; padding: 1px 9px; border-radius: 999px; font-size: 12px; font-weight: 600;
  white-space: nowrap; color: var(--tone); background: var(--wash); }
.group { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--tone);
  border-radius: 10px; padding: 14px 18px; margin-bottom: 12px; }
.group .reason { margin: 6px 0; font-weight: 550; overflow-wrap: anywhere; }
.group ul, ul.plain { padding-left: 20px; }
.group li { font-size: 13.5px; color: var(--soft); overflow-wrap: anywhere; }
dl.method { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 6px 18px;
  font-size: 14px; }
dl.method div { display: grid; grid-template-columns: 150px 1fr; gap: 16px; padding: 10px 0;
  border-bottom: 1px solid var(--line); }
dl.method div:last-child { border-bottom: 0; }
dl.method dt { font-weight: 600; }
details summary { cursor: pointer; font-weight: 600; padding: 12px 2px; }
footer { margin-top: 40px; padding-top: 16px; border-top: 1px solid var(--line); font-size: 13px; color: var(--soft); }
@media (max-width: 640px) { dl.method div { grid-template-columns: 1fr; gap: 2px; } .banner h1 { font-size: 27px; } }
@media print { body { background: #fff; } main { max-width: none; padding: 0; }
  .banner, .card, .group, tr { break-inside: avoid; } }
""".strip()
