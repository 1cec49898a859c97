/** The style of the panel, light and dark. It is a constructed style sheet, because a page's policy may forbid inline styles. */
const TEXT = `
:host { all: initial; position: fixed; inset: auto 0 0 auto; z-index: 2147483647; color-scheme: light dark;
  --paper: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --tint: #f3f5f7; --pick: #ddeefc; --focus: #0550ae;
  --good: #0f6b2f; --bad: #b3261e; --warn: #7a4a00; --move: #0550ae; }
@media (prefers-color-scheme: dark) {
  :host { --paper: #16191d; --ink: #e8ebee; --soft: #a3adb8; --line: #3a424b; --tint: #20252b; --pick: #17344f; --focus: #7cc0ff;
    --good: #6fd58d; --bad: #ff9b92; --warn: #f2c069; --move: #7cc0ff; } }
* { box-sizing: border-box; }
.panel, .toggle { font: 13px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
button, input, textarea { font: inherit; color: inherit; background: var(--tint); border: 1px solid var(--soft); border-radius: 5px; padding: 3px 9px; min-height: 26px; }
button { cursor: pointer; } button:disabled { cursor: default; color: var(--soft); border-style: dashed; }
button[aria-pressed=true] { background: var(--pick); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: -2px; }
.toggle { position: fixed; right: 12px; bottom: calc(12px + 40px * var(--place, 0)); border-radius: 16px; padding: 4px 12px; box-shadow: 0 1px 6px #0006; }
.toggle.faulty, .danger { border-color: var(--bad); color: var(--bad); }
.panel { position: fixed; left: 0; right: 0; bottom: 0; height: min(460px, 60vh); display: grid; grid: auto 1fr auto / minmax(220px, 34%) 1fr; border-top: 2px solid var(--line); }
.tools { grid-column: 1 / -1; display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; padding: 6px 12px; border-bottom: 1px solid var(--line); }
fieldset { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: center; flex: 1; }
legend { float: left; padding: 0; color: var(--soft); } input[type=checkbox] { min-height: 0; accent-color: var(--focus); }
h2, h3, h4 { margin: 0; font-size: 14px; } h3 { font-size: 16px; } h4 { margin: 14px 0 4px; }
.list { overflow: auto; border-right: 1px solid var(--line); padding: 8px 0; }
.list input { margin: 0 8px 6px; width: calc(100% - 16px); }
ul, ol { list-style: none; margin: 0; padding: 0; }
.heading { padding: 6px 12px 2px; color: var(--soft); font-weight: 600; }
.row { display: grid; grid-template-columns: 18px 1fr auto; gap: 0 6px; padding: 4px 12px; cursor: pointer; }
.row .name { overflow-wrap: anywhere; } .row .small { grid-column: 2 / -1; }
.row[aria-selected=true] { background: var(--pick); }
.small, .means, time, dt, .empty { color: var(--soft); } .small { margin: 2px 0; font-size: 12px; }
.row[aria-selected=true] .small { color: var(--ink); } .empty { padding: 0 12px; }
.done .mark, .done .status, .badge.done { color: var(--good); } .none .mark, .none .status, .badge.none { color: var(--bad); }
.unsettled .mark, .unsettled .status, .badge.unsettled { color: var(--warn); font-weight: 600; }
.sending .mark, .sending .status, .waiting .mark, .waiting .status, .elsewhere .mark, .elsewhere .status { color: var(--move); }
.badge { font-size: 12px; border: 1px solid currentColor; border-radius: 9px; padding: 0 8px; font-weight: 600; }
.detail { overflow: auto; padding: 10px 16px; overflow-wrap: anywhere; } .detail p { margin: 2px 0; }
.action { display: flex; flex-wrap: wrap; gap: 2px 10px; align-items: baseline; margin: 5px 0; } .means { flex: 1 1 260px; }
.steps { border-left: 2px solid var(--line); } .step { display: flex; gap: 10px; padding: 2px 0 2px 10px; } time { flex: none; font-variant-numeric: tabular-nums; }
.step.end { font-weight: 500; } code { font: 12px ui-monospace, monospace; background: var(--tint); padding: 0 3px; border-radius: 3px; }
dl { margin: 0; } .fact { display: flex; gap: 10px; } dt { flex: 0 0 170px; } dd { margin: 0; flex: 1; }
textarea { width: 100%; height: 220px; font: 12px ui-monospace, monospace; }
.said { grid-column: 1 / -1; min-height: 0; padding: 0 12px; } .said:not(:empty) { padding: 4px 12px; border-top: 1px solid var(--line); }
@media (max-width: 640px) { .tools h2 { flex: 1; } fieldset { order: 1; flex: 1 0 100%; } .panel { grid: auto minmax(120px, 2fr) 3fr auto / 1fr; height: 80vh; } .list { border-right: 0; border-bottom: 1px solid var(--line); } dt { flex-basis: 110px; } }
@media (forced-colors: active) { .row[aria-selected=true] { outline: 2px solid Highlight; } }
`;

/** Adds the style to a shadow root. */
export function dress(shadow: ShadowRoot): void {
  const page = shadow.ownerDocument;
  try {
    // Use the class of the page's own window, because a sheet made by another window is refused.
    const made = new ((page.defaultView ?? globalThis) as typeof globalThis).CSSStyleSheet();
    made.replaceSync(TEXT);
    shadow.adoptedStyleSheets = [made];
  } catch {
    // Safari before 16.4 and jsdom have no constructed style sheets, so use an element.
    shadow.append(Object.assign(page.createElement('style'), { textContent: TEXT }));
  }
}
