// Where the tip went, from above, from the side and from the front, in the colours of time.

{
  const PIECES = 72, SIZE = 300, LEFT = 56, BOTTOM = 34, TOP = 8, RIGHT = 8;
  // Name, what goes right and what goes up: index into a point, sign, name of the axis.
  const VIEWS = [
    ["From above", [2, 1, "right"], [1, 1, "forward"]],
    ["From the right side", [1, 1, "forward"], [3, -1, "up"]],
    ["From behind", [2, 1, "right"], [3, -1, "up"]],
  ];
  const HUES = [250, 190, 130, 70, 10];

  function colour(part) {
    const place = Math.min(Math.max(part, 0), 1) * (HUES.length - 1);
    const from = Math.min(Math.floor(place), HUES.length - 2);
    return `hsl(${HUES[from] + (HUES[from + 1] - HUES[from]) * (place - from)} 65% 48%)`;
  }

  const points = dive.tip.points;
  const known = points.filter((point) => point);
  const holder = document.getElementById("views");
  if (known.length) {
    const bound = (index, pick) => known.reduce((best, point) => pick(best, point[index]), known[0][index]);
    const limits = [1, 2, 3].map((index) => [bound(index, Math.min), bound(index, Math.max)]);
    const span = Math.max(...limits.map(([low, high]) => high - low), 0.05) * 1.12;
    const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5].find((each) => span / each <= 7) || span / 5;

    for (const [title, across, up] of VIEWS) {
      const box = make(holder, "div");
      make(box, "h3", {}, title);
      const svg = make(box, "svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": title });
      const inner = SIZE - LEFT - RIGHT, high = SIZE - BOTTOM - TOP;
      const scale = Math.min(inner, high) / span;
      const middle = ([index, sign]) => (sign * (limits[index - 1][0] + limits[index - 1][1])) / 2;
      const x = (point) => LEFT + inner / 2 + (across[1] * point[across[0]] - middle(across)) * scale;
      const y = (point) => TOP + high / 2 - (up[1] * point[up[0]] - middle(up)) * scale;
      const digits = step < 0.1 ? 2 : 1;
      const around = (axis, length) => [middle(axis) - length / scale / 2, middle(axis) + length / scale / 2];
      const [west, east] = around(across, inner), [south, north] = around(up, high);
      for (let k = Math.ceil(west / step); k * step <= east; k++) {
        const at = LEFT + inner / 2 + (k * step - middle(across)) * scale;
        make(svg, "line", { class: "grid", x1: at, x2: at, y1: TOP, y2: TOP + high });
        make(svg, "text", { x: at, y: TOP + high + 14, "text-anchor": "middle" }, (k * step).toFixed(digits));
      }
      for (let k = Math.ceil(south / step); k * step <= north; k++) {
        const at = TOP + high / 2 - (k * step - middle(up)) * scale;
        make(svg, "line", { class: "grid", x1: LEFT, x2: LEFT + inner, y1: at, y2: at });
        make(svg, "text", { x: LEFT - 5, y: at + 4, "text-anchor": "end" }, (k * step).toFixed(digits));
      }
      make(svg, "text", { class: "name", x: LEFT + inner / 2, y: SIZE - 4, "text-anchor": "middle" }, `${across[2]} [m]`);
      make(svg, "text", { class: "name", x: 11, y: TOP + high / 2, "text-anchor": "middle",
        transform: `rotate(-90 11 ${TOP + high / 2})` }, `${up[2]} [m]`);
      const group = make(svg, "g");
      const trace = (chosen) => {
        let text = "", isNew = true;
        for (const point of chosen) {
          if (point) text += `${isNew ? "M" : "L"}${x(point).toFixed(1)} ${y(point).toFixed(1)}`;
          isNew = !point;
        }
        return text;
      };
      const whole = trace(points);
      view.drawers.push(() => {
        group.replaceChildren();
        make(group, "path", { class: "past", d: whole });
        const pieces = Array.from({ length: PIECES }, () => []);
        let before = null, first = null, last = null;
        for (const point of points) {
          if (point && point[0] >= view.from && point[0] <= view.to) {
            const part = (point[0] - view.from) / (view.to - view.from);
            const piece = pieces[Math.min(Math.floor(part * PIECES), PIECES - 1)];
            if (before) piece.push(null, before);
            else piece.push(null);
            piece.push(point);
            first = first || point;
            last = point;
          }
          before = point;
        }
        pieces.forEach((piece, number) => {
          if (piece.length) make(group, "path", { d: trace(piece), stroke: colour((number + 0.5) / PIECES) });
        });
        for (const [point, part, name] of first ? [[first, 0, "begin"], [last, 1, "end"]] : []) {
          make(group, "circle", { class: "mark", cx: x(point), cy: y(point), r: 5, fill: colour(part) });
          make(group, "text", { class: "name", x: x(point) + 8, y: y(point) + (part ? -6 : 13) }, name);
        }
      });
    }
    const scale = make(holder, "div", { class: "scale" });
    make(scale, "span", {}, "begin of what is shown");
    make(scale, "i");
    make(scale, "span", {}, "end; grey: the rest of the dive");
  }
}
view.draw();
