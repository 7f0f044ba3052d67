// The lanes, and the list of events that are shown.

{
  const ROW = 24, AXIS = 22, NARROWEST = 3, MOST_ROWS = 300;
  const holder = document.getElementById("lanes");
  const svg = make(holder, "svg", { role: "img", "aria-label": "Time line", height: dive.lanes.length * ROW + AXIS });
  const gutter = () => (holder.clientWidth < 560 ? 88 : 124);
  const area = () => [gutter(), Math.max(holder.clientWidth - gutter() - 18, 50)];
  const palette = new Map();

  function tone(lane, label) {
    if (lane.tone === "activity" || lane.tone === "arm") return label.includes("fault") || label === "no arm" ? "bad" : label;
    if (lane.tone !== "owner") return lane.tone;
    if (!palette.has(label)) palette.set(label, `c${palette.size % 8}`);
    return palette.get(label);
  }

  function about(lane, item) {
    const [begin, end, label, source, text, count, ways] = item;
    const lines = [`${lane.title}: ${label}${count > 1 ? ` ×${count}` : ""}`];
    if (source) lines.push(`of ${source}`);
    if (text) lines.push(text);
    if (ways.length) lines.push(`and ${ways.join(", ")}`);
    lines.push(end > begin ? `${clock(begin)} – ${clock(end)} (${duration(end - begin)})` : clock(begin, 0.01));
    return lines;
  }

  /** The entries in view; those that would be drawn upon each other are drawn as one. */
  function drawn(lane, left, scale) {
    const shown = [];
    for (const item of lane.items) {
      if (item[1] < view.from || item[0] > view.to) continue;
      const x = left + (Math.max(item[0], view.from) - view.from) * scale;
      const width = Math.max((Math.min(item[1], view.to) - Math.max(item[0], view.from)) * scale, NARROWEST);
      const last = shown[shown.length - 1];
      if (last && x < last.x + last.width && width <= NARROWEST && last.width <= NARROWEST * 2) {
        last.width = Math.max(last.width, x + width - last.x);
        last.items.push(item);
      } else shown.push({ x, width, items: [item] });
    }
    return shown;
  }

  const cursor = { line: null };
  function draw() {
    const [left, width] = area();
    const scale = width / (view.to - view.from);
    svg.replaceChildren();
    const bottom = dive.lanes.length * ROW;
    for (const [at, text] of timeTicks(width)) {
      const x = left + (at - view.from) * scale;
      make(svg, "line", { class: "grid", x1: x, x2: x, y1: 0, y2: bottom });
      make(svg, "text", { x, y: bottom + 15, "text-anchor": "middle" }, text);
    }
    dive.lanes.forEach((lane, row) => {
      if (row % 2 === 0) make(svg, "rect", { class: "stripe", x: 0, y: row * ROW, width: "100%", height: ROW });
      make(svg, "text", { class: "name", x: 2, y: row * ROW + 16 }, lane.title);
      for (const { x, width: wide, items } of drawn(lane, left, scale)) {
        const [begin, end, label] = items[0];
        const count = items.reduce((sum, item) => sum + item[5], 0);
        const mark = make(svg, "rect", {
          class: `entry ${tone(lane, label)}`, x, y: row * ROW + 4, width: wide, height: ROW - 8, rx: 2,
          "data-label": label, "data-count": count,
        });
        const lines = items.slice(0, 6).flatMap((item) => about(lane, item));
        if (items.length > 6) lines.push(`… ${items.length - 6} more: zoom in`);
        mark.addEventListener("pointermove", (event) => tell(event, lines));
        mark.addEventListener("pointerleave", (event) => tell(event, null));
        mark.addEventListener("pointerdown", (event) => tell(event, lines));
        const name = items.length > 1 ? `×${count}` : label;
        if (wide > name.length * 6.2 + 8) make(svg, "text", { class: "on", x: x + 5, y: row * ROW + 16 }, name);
      }
    });
    cursor.line = make(svg, "line", { class: "cursor", y1: 0, y2: bottom, visibility: "hidden" });
    list();
  }

  function point(x) {
    if (!cursor.line) return;
    cursor.line.setAttribute("visibility", x === null || x < gutter() ? "hidden" : "visible");
    if (x !== null) { cursor.line.setAttribute("x1", x); cursor.line.setAttribute("x2", x); }
  }

  const LISTED = new Set(["stop", "refusal", "bad", "held"]);
  const all = dive.lanes.filter((lane) => LISTED.has(lane.tone))
    .flatMap((lane) => lane.items.map((item) => ({ lane, item })))
    .sort((a, b) => a.item[0] - b.item[0]);
  const events = document.getElementById("events");

  function list() {
    const shown = all.filter(({ item }) => item[1] >= view.from && item[0] <= view.to);
    const rest = shown.length - MOST_ROWS;
    document.getElementById("events-count").textContent =
      `${shown.length} in view${rest > 0 ? `, the first ${MOST_ROWS} listed: zoom in for the others` : ""}`;
    events.replaceChildren();
    const table = make(events, "table");
    const head = make(make(table, "thead"), "tr");
    for (const title of ["time", "what", "code or cause", "of", "why", "for", "count"]) make(head, "th", {}, title);
    const body = make(table, "tbody");
    for (const { lane, item } of shown.slice(0, MOST_ROWS)) {
      const [begin, end, label, source, text, count, ways] = item;
      const row = make(body, "tr");
      make(row, "td", {}, clock(begin, 0.01));
      make(row, "td", {}, lane.title);
      make(make(row, "td"), "code", {}, [label, ...ways].join(", "));
      make(row, "td", {}, source);
      make(row, "td", {}, text);
      make(row, "td", {}, end > begin ? duration(end - begin) : "");
      make(row, "td", {}, String(count));
      row.addEventListener("click", () => view.set(begin - 5, Math.max(end, begin) + 5));
    }
  }

  const folded = dive.lanes.filter((lane) => lane.folded);
  document.getElementById("folded").textContent = folded.length
    ? `Folded into neighbours, and counted there: ${folded.map((lane) => `${lane.folded} of ${lane.title}`).join(", ")}.` : "";
  if (!dive.lanes.length) make(holder, "p", {}, "Nothing is known of owner, states, stops and refusals.");
  interact(svg, area, point);
  view.drawers.push(draw);
}
