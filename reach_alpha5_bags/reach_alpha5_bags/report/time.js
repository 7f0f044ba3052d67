"use strict";
// What all drawings share: the dive, the span of it that is shown, and how time is told.

const dive = JSON.parse(document.getElementById("dive").textContent);
const SVG = document.getElementById("ours").namespaceURI;
const SHORTEST = 0.2; // seconds that can be zoomed into

/** Make an element and put it into another; text from a bag is never read as markup. */
function make(parent, name, attributes = {}, text = null) {
  const drawn = parent instanceof SVGElement || name === "svg";
  const element = drawn ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  parent.append(element);
  return element;
}

const view = {
  from: dive.begin, to: dive.end, utc: false, drawers: [],
  set(from, to) {
    const whole = dive.end - dive.begin;
    const span = Math.min(Math.max(to - from, Math.min(SHORTEST, whole)), whole);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - span / 2, dive.begin), dive.end - span);
    this.to = this.from + span;
    this.draw();
  },
  zoom(factor, at = (this.from + this.to) / 2) {
    this.set(at - (at - this.from) * factor, at + (this.to - at) * factor);
  },
  pan(seconds) { this.set(this.from + seconds, this.to + seconds); },
  all() { this.set(dive.begin, dive.end); },
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      document.getElementById("window").textContent =
        `${clock(this.from)} – ${clock(this.to)}   (${duration(this.to - this.from)})`;
      for (const drawer of this.drawers) drawer();
    });
  },
};

function pad(number, digits = 2) { return String(number).padStart(digits, "0"); }

/** A moment as the page tells it now: since the begin, or UTC. */
function clock(at, step = (view.to - view.from) / 100) {
  const digits = step >= 1 ? 0 : step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3;
  const scale = 10 ** digits;
  if (view.utc) {
    const date = new Date(Math.round((dive.wall / 1000 + at) * scale) / scale * 1000);
    const part = digits ? "." + pad(date.getUTCMilliseconds(), 3).slice(0, digits) : "";
    return `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())}${part}`;
  }
  const ticks = Math.round(at * scale);
  const seconds = Math.floor(ticks / scale);
  const part = digits ? "." + pad(ticks % scale, digits) : "";
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return `${hours ? hours + ":" + pad(minutes) : minutes}:${pad(seconds % 60)}${part}`;
}

function duration(seconds) {
  if (seconds < 60) return `${seconds.toPrecision(3)} s`;
  if (seconds < 3600) return `${(seconds / 60).toFixed(1)} min`;
  return `${(seconds / 3600).toFixed(2)} h`;
}

const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
  14400, 43200, 86400];

/** The marks of the time axis in a width of so many pixels. */
function timeTicks(width) {
  const least = (view.to - view.from) / Math.max(width / 90, 2);
  const step = STEPS.find((each) => each >= least) || least;
  const shift = view.utc ? (dive.wall / 1000) % step : 0;
  const ticks = [];
  for (let at = Math.ceil((view.from + shift) / step) * step - shift; at <= view.to; at += step) {
    ticks.push([at, clock(Math.max(at, 0), step)]);
  }
  return ticks;
}

/** Let a drawing be dragged, zoomed and pointed at. `area` gives its [left, width] in pixels. */
function interact(svg, area, hover) {
  const pointers = new Map();
  let choice = null;
  const timeAt = (x) => view.from + ((x - area()[0]) / area()[1]) * (view.to - view.from);
  const local = (event) => event.clientX - svg.getBoundingClientRect().left;
  svg.tabIndex = 0;
  svg.addEventListener("pointerdown", (event) => {
    pointers.set(event.pointerId, local(event));
    if (event.shiftKey) choice = { from: local(event), box: make(svg, "rect", { class: "choice", y: 0, height: "100%" }) };
  });
  svg.addEventListener("pointermove", (event) => {
    const x = local(event);
    const before = pointers.get(event.pointerId);
    if (before === undefined) { hover(x, timeAt(x)); return; }
    // Captured only now, so that a mere click reaches what is under it.
    if (!svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
    if (choice) {
      choice.box.setAttribute("x", Math.min(x, choice.from));
      choice.box.setAttribute("width", Math.abs(x - choice.from));
    } else if (pointers.size === 1) {
      view.pan(((before - x) / area()[1]) * (view.to - view.from));
      pointers.set(event.pointerId, x);
    } else {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const middle = timeAt((x + other) / 2);
      const spread = Math.max(Math.abs(x - other), 8);
      view.zoom(Math.max(Math.abs(before - other), 8) / spread, middle);
      pointers.set(event.pointerId, x);
    }
  });
  const end = (event) => {
    if (choice && Math.abs(local(event) - choice.from) > 4) {
      const times = [timeAt(choice.from), timeAt(local(event))].sort((a, b) => a - b);
      view.set(times[0], times[1]);
    }
    if (choice) choice.box.remove();
    choice = null;
    pointers.delete(event.pointerId);
  };
  svg.addEventListener("pointerup", end);
  svg.addEventListener("pointercancel", end);
  svg.addEventListener("pointerleave", () => hover(null, null));
  svg.addEventListener("dblclick", () => view.all());
  svg.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      view.zoom(Math.exp(event.deltaY * 0.003), timeAt(local(event)));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      view.pan(((event.deltaX || event.deltaY) / area()[1]) * (view.to - view.from));
    }
  }, { passive: false });
}

const tooltip = document.getElementById("tooltip");

/** Show lines of text at the pointer, or nothing. */
function tell(event, lines) {
  tooltip.hidden = !lines;
  if (!lines) return;
  tooltip.textContent = lines.join("\n");
  const box = tooltip.getBoundingClientRect();
  tooltip.style.left = `${Math.max(Math.min(event.clientX + 14, innerWidth - box.width - 8), 4)}px`;
  tooltip.style.top = `${event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18}px`;
}

const DEEDS = {
  back: () => view.pan((view.from - view.to) / 4),
  on: () => view.pan((view.to - view.from) / 4),
  in: () => view.zoom(0.5),
  out: () => view.zoom(2),
  all: () => view.all(),
  clock: () => { view.utc = !view.utc; view.draw(); },
};
const KEYS = { ArrowLeft: "back", ArrowRight: "on", "+": "in", "=": "in", "-": "out", 0: "all" };
for (const button of document.querySelectorAll("[data-do]")) {
  button.addEventListener("click", () => {
    DEEDS[button.dataset.do]();
    if (button.dataset.do === "clock") button.textContent = view.utc ? "since begin" : "UTC";
  });
}
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  DEEDS[KEYS[event.key]]();
});
addEventListener("resize", () => view.draw());
addEventListener("beforeprint", () => { for (const drawer of view.drawers) drawer(); });
