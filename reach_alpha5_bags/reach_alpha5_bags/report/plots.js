// Quantities over time. Each bucket has the smallest and the largest sample in it, and so has each pixel.

{
  const HEIGHT = 168, LEFT = 52, RIGHT = 18, TOP = 6, BOTTOM = 20;
  const GAP = 2.5; // seconds without a sample over which no line is drawn

  function niceStep(span, count) {
    const raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].find((each) => each * power >= raw) * power;
  }

  /** Smallest and largest value per pixel: [x, low, high, time of the last]. */
  function pixels(series, scale) {
    const found = [];
    const first = Math.max(Math.floor((view.from - series.begin) / series.width) - 1, 0);
    const last = Math.min(Math.ceil((view.to - series.begin) / series.width) + 1, series.low.length - 1);
    for (let bucket = first; bucket <= last; bucket++) {
      if (series.low[bucket] === null) continue;
      const at = series.begin + (bucket + 0.5) * series.width;
      const x = Math.round((at - view.from) * scale);
      const end = found[found.length - 1];
      if (end && end[0] === x) {
        end[1] = Math.min(end[1], series.low[bucket]);
        end[2] = Math.max(end[2], series.high[bucket]);
        end[3] = at;
      } else found.push([x, series.low[bucket], series.high[bucket], at]);
    }
    return found;
  }

  function path(points, gap, toY) {
    let text = "", before = null;
    for (const [x, low, high, at] of points) {
      const joined = before !== null && at - before <= gap;
      // A lone point still shows: a line of no length has round ends.
      text += `${joined ? "L" : "M"}${x} ${toY(low).toFixed(1)}L${x} ${toY(high).toFixed(1)}`;
      before = at;
    }
    return text;
  }

  function plot(holder, data) {
    const box = make(holder, "div", { class: "plot" });
    make(box, "h3", {}, `${data.title} [${data.unit}]`);
    const svg = make(box, "svg", { height: HEIGHT, role: "img", "aria-label": data.title });
    const legend = make(box, "div", { class: "legend" });
    const hidden = new Set();
    const values = data.series.map((series, number) => {
      const button = make(legend, "button", { type: "button", style: "" }, series.name);
      button.style.setProperty("--own", `var(--c${number % 8})`);
      button.addEventListener("click", () => {
        if (!hidden.delete(number)) hidden.add(number);
        button.classList.toggle("off", hidden.has(number));
        draw();
      });
      return button;
    });
    const area = () => [LEFT, Math.max(box.clientWidth - LEFT - RIGHT, 50)];
    let line = null, isSeen = false, isOld = true;

    function draw() {
      const [left, width] = area();
      const scale = width / (view.to - view.from);
      const found = data.series.map((series, number) => (hidden.has(number) ? [] : pixels(series, scale)));
      let low = Infinity, high = -Infinity;
      for (const points of found) for (const point of points) {
        low = Math.min(low, point[1]);
        high = Math.max(high, point[2]);
      }
      svg.replaceChildren();
      if (!(low <= high) || (low === 0 && high === 0)) { low = 0; high = 1; }
      const margin = (high - low || Math.abs(high) * 0.1 || 1) * 0.06;
      low -= margin; high += margin;
      const bottom = HEIGHT - BOTTOM;
      const toY = (value) => bottom - ((value - low) / (high - low)) * (bottom - TOP);
      const step = niceStep(high - low, 6);
      // A page draws whatever a bag says, and toFixed has at most 100 digits.
      const digits = Math.min(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), 100);
      for (let value = Math.ceil(low / step) * step; value <= high; value += step) {
        make(svg, "line", { class: "grid", x1: left, x2: left + width, y1: toY(value), y2: toY(value) });
        make(svg, "text", { x: left - 6, y: toY(value) + 4, "text-anchor": "end" }, value.toFixed(digits).replace(/^-(0\.?0*)$/, "$1"));
      }
      for (const [at, text] of timeTicks(width)) {
        const x = left + (at - view.from) * scale;
        make(svg, "line", { class: "grid", x1: x, x2: x, y1: TOP, y2: bottom });
        make(svg, "text", { x, y: HEIGHT - 5, "text-anchor": "middle" }, text);
      }
      const clip = make(svg, "svg", { x: left, y: 0, width, height: HEIGHT });
      found.forEach((points, number) => {
        const gap = Math.max(GAP, data.series[number].width * 2.5);
        make(clip, "path", { class: `trace s${number % 8}`, "stroke-linecap": "round", d: path(points, gap, toY) });
      });
      line = make(svg, "line", { class: "cursor", y1: TOP, y2: bottom, visibility: "hidden" });
      isOld = false;
    }

    function point(x, at) {
      const isInside = x !== null && x >= LEFT;
      if (line) line.setAttribute("visibility", isInside ? "visible" : "hidden");
      data.series.forEach((series, number) => {
        let text = series.name;
        if (isInside) {
          const bucket = Math.floor((at - series.begin) / series.width);
          const low = series.low[bucket], high = series.high[bucket];
          if (low !== undefined && low !== null) text += ` ${low === high ? low : `${low} … ${high}`}`;
        }
        values[number].textContent = text;
      });
      if (line && isInside) { line.setAttribute("x1", x); line.setAttribute("x2", x); }
    }

    interact(svg, area, point);
    // What is out of sight is drawn when it comes into sight.
    new IntersectionObserver((entries) => {
      isSeen = entries[entries.length - 1].isIntersecting;
      if (isSeen && isOld) draw();
    }, { rootMargin: "300px" }).observe(box);
    view.drawers.push(() => { isOld = true; if (isSeen || matchMedia("print").matches) draw(); });
    draw();
  }

  for (const data of dive.plots) plot(document.querySelector(`#${data.section} .plots`), data);
}
