"""The style of report.html: one sheet, no fonts or pictures from elsewhere, light and dark, and fit for paper.

Colours are the same in both, by name; text on each has a contrast of 4.5 and more (tests/report/test_browser.py).
"""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark;
  --page: #f4f5f8; --card: #ffffff; --ink: #1b2230; --soft: #525c6d; --line: #dfe3ea; --zone: #fbe9e7; --code: #eef0f5;
  --good: #126b40; --bad: #b3261e; --open: #835600; --calm: #4353a8; --focus: #1a5fd0;
  --good-wash: #e6f4ec; --bad-wash: #fcebe9; --open-wash: #fbf2dc; --calm-wash: #e9ecf9; --plain-wash: #eef0f5;
  --own: 179 38 30; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12151b; --card: #1b2029; --ink: #e7eaf0; --soft: #a3adbd; --line: #333b49; --zone: #38201f; --code: #272e3a;
  --good: #5fcc93; --bad: #f5918a; --open: #e4b75c; --calm: #a5b3f5; --focus: #8ab4ff;
  --good-wash: #16301f; --bad-wash: #3a1d1b; --open-wash: #352a12; --calm-wash: #20264a; --plain-wash: #272e3a;
  --own: 245 145 138; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main, .inside, footer { max-width: 1240px; margin: 0 auto; padding: 0 28px; }
h1, h2, h3, p, ul, ol, dl, dd, figure { margin: 0; }
h2 { font-size: 17px; font-weight: 650; margin: 30px 0 10px; }
h3 { font-size: 14.5px; font-weight: 650; margin: 0 0 8px; overflow-wrap: anywhere; }
.lead { color: var(--soft); font-size: 13.5px; margin-bottom: 10px; }
code { font: 12.5px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  background: var(--code); color: var(--ink); border-radius: 4px; padding: 1px 5px; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.small { font-size: 12.5px; font-weight: 400; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
.good { --tone: var(--good); --wash: var(--good-wash); }
.bad { --tone: var(--bad); --wash: var(--bad-wash); }
.off { --tone: var(--bad); --wash: var(--card); }
.open { --tone: var(--open); --wash: var(--open-wash); }
.calm { --tone: var(--calm); --wash: var(--calm-wash); }
.plain { --tone: var(--soft); --wash: var(--plain-wash); }
.banner { background: var(--wash); border-top: 8px solid var(--tone); border-bottom: 1px solid var(--tone); }
.banner .inside { padding-top: 18px; padding-bottom: 20px; }
.banner .what { color: var(--soft); }
.banner .what b { color: var(--ink); font-weight: 650; }
.banner h1 { color: var(--tone); font-size: 32px; line-height: 1.25; letter-spacing: 0.01em; font-weight: 750; }
.banner .answer { color: var(--ink); font-weight: 600; font-size: 22px; letter-spacing: 0; }
.banner p { overflow-wrap: anywhere; }
.cause { font-size: 16.5px; font-weight: 600; margin-top: 10px; max-width: 100ch; overflow-wrap: anywhere; }
.failure { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); gap: 8px 28px;
  margin-top: 10px; }
.failure dt { font-size: 12.5px; font-weight: 650; color: var(--soft); }
.failure dd { overflow-wrap: anywhere; }
.failure ol { padding-left: 20px; }
.more, .banner .reason { margin-top: 10px; font-size: 13.5px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 250px), 1fr)); gap: 12px; }
.card { background: var(--card); border: 1px solid var(--line); border-top: 3px solid var(--tone); border-radius: 8px;
  padding: 12px 16px; }
.card h3 { margin: 0; font-size: 13px; font-weight: 600; color: var(--soft); }
.card .figure { font-size: 27px; font-weight: 680; line-height: 1.35; font-variant-numeric: tabular-nums; }
.card .figure small { font-size: 14px; font-weight: 500; color: var(--soft); white-space: nowrap; }
.card .figure .soft { font-size: 17px; font-weight: 500; }
.card p:not(.figure), .card ul { font-size: 13.5px; color: var(--soft); overflow-wrap: anywhere; }
.card ul { padding-left: 18px; margin-top: 4px; }
dl.facts { display: grid; grid-template-columns: auto 1fr; gap: 3px 12px; font-size: 13.5px; margin-top: 4px; }
dl.facts dt { color: var(--soft); }
dl.facts dd { overflow-wrap: anywhere; }
@media (min-width: 1100px) { .cards { grid-template-columns: 1fr 1fr 1.1fr 2.2fr; } }
.sheet { background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; }
thead th { color: var(--soft); font-size: 12.5px; white-space: nowrap; }
tbody th { font-weight: 500; overflow-wrap: anywhere; }
th, td { padding: 7px 14px; border-bottom: 1px solid var(--line); vertical-align: middle; }
tbody tr:last-child > * { border-bottom: 0; }
.number { text-align: right; white-space: nowrap; }
.tag, .mark { display: inline-block; padding: 1px 9px; border-radius: 999px; font-size: 12px; font-weight: 600;
  white-space: nowrap; color: var(--tone); background: var(--wash); }
.mark { --tone: var(--good); --wash: var(--good-wash); border: 1px solid var(--good); margin: 1px 0; }
ul.open { columns: 2 420px; column-gap: 36px; padding-left: 20px; }
ul.open li { break-inside: avoid; margin-bottom: 5px; color: var(--ink); overflow-wrap: anywhere; font-size: 14px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 430px), 1fr)); gap: 14px;
  align-items: start; margin-bottom: 14px; }
figure { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 14px; min-width: 0; }
figcaption { font-size: 13px; color: var(--soft); margin-top: 8px; overflow-wrap: anywhere; }
svg { display: block; max-width: 100%; height: auto; }
svg.plot, svg.graph { width: 100%; }
svg.plot { max-width: 560px; } svg.graph { max-width: 600px; }
svg text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: var(--soft); }
svg .ink { fill: var(--ink); }
svg .allowed { fill: var(--bad); font-weight: 650; }
svg .grid { stroke: var(--line); }
svg .limit { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 4 3; }
svg .over { fill: var(--zone); }
svg .dot { fill: var(--tone); fill-opacity: 0.72; stroke: var(--card); }
svg .bar { fill: var(--tone); }
svg .off .bar { fill: var(--bad-wash); stroke: var(--bad); }
svg .spot { fill: var(--wash); stroke: var(--tone); stroke-width: 1.5; }
svg .spot.best { stroke-width: 3; }
svg .label { fill: var(--tone); font-weight: 650; font-size: 11px; }
svg .front { fill: none; stroke: var(--good); stroke-width: 1.5; }
svg .edge { fill: none; stroke: var(--soft); stroke-width: 1.5; }
svg .node rect { fill: var(--wash); stroke: var(--tone); }
svg .node.bad rect { stroke-width: 3; }
svg .node.off rect { stroke-dasharray: 4 3; }
svg .node.open rect { fill: none; stroke: none; }
svg .node.open text { fill: var(--soft); font-weight: 650; }
svg .node text { fill: var(--ink); font-size: 12.5px; }
svg .node .kind { fill: var(--soft); font-weight: 400; }
svg .node .said { fill: var(--tone); font-weight: 600; }
svg .own rect { fill: rgb(var(--own) / 0); stroke: var(--soft); }
svg .own.shade-1 rect { fill: rgb(var(--own) / 0.05); } svg .own.shade-2 rect { fill: rgb(var(--own) / 0.12); }
svg .own.shade-3 rect { fill: rgb(var(--own) / 0.2); } svg .own.shade-4 rect { fill: rgb(var(--own) / 0.28); }
svg .own.solid rect { fill: rgb(var(--own)); stroke: var(--ink); stroke-width: 2.5; }
svg .own.none rect { stroke-dasharray: 4 3; }
svg .own text { fill: var(--ink); font-size: 12.5px; }
svg .own .kind, svg .own .said { font-weight: 650; }
svg .own .where { font-size: 11.5px; }
svg .own.solid text { fill: var(--card); }
svg .own.solid .said { fill: var(--bad); }
.group { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--tone);
  border-radius: 8px; padding: 12px 16px; margin-bottom: 12px; }
.group > .reason { margin: 6px 0; font-weight: 550; overflow-wrap: anywhere; }
.group ul, ul.plain { padding-left: 20px; }
.group li, ul.plain li { font-size: 13.5px; color: var(--soft); overflow-wrap: anywhere; }
dl.method { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 6px 18px;
  font-size: 14px; }
dl.method div { display: grid; grid-template-columns: 130px 1fr; gap: 16px; padding: 9px 0;
  border-bottom: 1px solid var(--line); }
dl.method div:last-child { border-bottom: 0; }
dl.method dt { font-weight: 600; }
details summary { cursor: pointer; font-weight: 600; padding: 8px 2px; font-size: 13.5px; }
footer { margin-top: 36px; padding-top: 14px; padding-bottom: 40px; border-top: 1px solid var(--line); font-size: 13px;
  color: var(--soft); }
@media (max-width: 700px) {
  main, .inside, footer { padding-left: 14px; padding-right: 14px; }
  .banner h1 { font-size: 26px; } .banner .answer { font-size: 19px; }
  dl.method div { grid-template-columns: 1fr; gap: 2px; }
  .cardsheet thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .cardsheet table, .cardsheet tbody, .cardsheet tr, .cardsheet th, .cardsheet td { display: block; }
  .cardsheet tr { border-bottom: 1px solid var(--line); padding: 10px 14px; }
  .cardsheet tr:last-child { border-bottom: 0; }
  .cardsheet tbody th, .cardsheet td { border: 0; padding: 2px 0; text-align: left; white-space: normal;
    overflow-wrap: anywhere; }
  .cardsheet td[data-name]::before { content: attr(data-name) ": "; color: var(--soft); } }
@media print { body { background: #fff; } main, .inside { max-width: none; padding: 0; }
  .banner, .card, .group, figure, tr { break-inside: avoid; } }
""".strip()
