"use strict";
// Interactive figures. A script element next to each still picture contains the numbers; uPlot draws them.
// The still picture stays for printing and for readers without scripts.
(() => {
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const make = (tag, name, within, text) => {
    const one = document.createElement(tag);
    if (name) one.className = name;
    if (text !== undefined) one.textContent = text;
    if (within) within.append(one);
    return one;
  };
  const plain = (value) => {
    if (value === null || value === undefined) return "–";
    const size = Math.abs(value);
    return String(size !== 0 && (size >= 1e6 || size < 1e-4) ? value.toPrecision(4) : Number(value.toPrecision(4)));
  };
  const font = (size) => `${size}px ${getComputedStyle(document.body).fontFamily}`;
  const colourOf = (series) => style(series.colour) || series.fixed;
  const faint = (colour) => (/^#[0-9a-f]{6}$/i.test(colour) ? `${colour}2e` : colour);
  const HEIGHT = 250;
  const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6, 1e7, 1e8, 1e9];
  const LEAST = 300;

  function swatch(series, within) {
    const SVG = "http://www.w3.org/2000/svg";
    const picture = document.createElementNS(SVG, "svg");
    for (const [name, value] of Object.entries({ width: 26, height: 10, "aria-hidden": "true", focusable: "false" })) {
      picture.setAttribute(name, value);
    }
    const drawn = document.createElementNS(SVG, series.marks ? "circle" : "line");
    const shape = series.marks
      ? { cx: 13, cy: 5, r: 3.5, fill: colourOf(series) }
      : { x1: 0, x2: 26, y1: 5, y2: 5, stroke: colourOf(series), "stroke-width": 3, "stroke-dasharray": series.dash.join(" ") };
    for (const [name, value] of Object.entries(shape)) drawn.setAttribute(name, value);
    picture.append(drawn);
    within.prepend(picture);
  }

  // One table for all series of a panel: positions in order, and a column of heights per series. A height is undefined
  // if the series lacks this position, and null in a gap.
  function table(panel) {
    const columns = [];
    for (const series of panel.series) {
      columns.push({ series, part: "y", x: series.x, y: series.y });
      if (series.low.length) {
        columns.push({ series, part: "low", x: series.x, y: series.low });
        columns.push({ series, part: "high", x: series.x, y: series.high });
      }
    }
    // The table would merge several values at one position. So they get slightly different positions.
    const apart = columns.map(({ x, y }) => {
      let last = -Infinity;
      const places = x.map((one) => {
        last = one > last ? one : last + Math.max(Math.abs(last), 1) * 1e-9;
        return last;
      });
      return [places, y];
    });
    // A gap continues over the positions of other series, up to the next value.
    return { columns, data: uPlot.join(apart, apart.map(() => [0, 2])) };
  }

  // The nearest position at which a series has a value. A line has none in a gap, before its first and after its last.
  function nearest(places, values, at, isLine) {
    let before = at;
    let after = at;
    while (before >= 0 && (values[before] === undefined || (!isLine && values[before] === null))) before--;
    while (after < values.length && (values[after] === undefined || (!isLine && values[after] === null))) after++;
    const [left, right] = [values[before] ?? null, values[after] ?? null];
    if (isLine) {
      if (left === null || right === null) return -1;
    } else if (left === null || right === null) {
      return left !== null ? before : right !== null ? after : -1;
    }
    return places[at] - places[before] <= places[after] - places[at] ? before : after;
  }

  function draw(chart, panel, at, width, state) {
    const { columns, data } = table(panel);
    const ink = style("ink");
    const rule = style("rule");
    // An axis of whole numbers without a unit is a count, without values in between.
    const counts = !panel.x.log && !panel.x.label.includes("(") && panel.series.every((one) => one.x.every(Number.isInteger));
    const whole = counts ? { incrs: WHOLE } : {};
    const axis = (said, log) => ({
      label: log ? `${said}${said ? ", " : ""}log scale` : said,
      labelFont: font(13),
      labelSize: 22,
      font: font(12),
      stroke: ink,
      grid: { stroke: rule, width: 1 },
      ticks: { stroke: rule, width: 1 },
      values: (_, splits) => splits.map((one) => (one === null ? "" : plain(one))),
    });
    const series = [{}];
    const bands = [];
    columns.forEach(({ series: one, part }, number) => {
      const colour = colourOf(one);
      if (part === "high") bands.push({ series: [number + 1, number], fill: faint(colour) });
      series.push({
        label: one.label,
        show: !state.hidden.has(one.label),
        stroke: part === "y" ? colour : "transparent",
        width: part === "y" ? 2 : 0,
        dash: part === "y" ? one.dash : undefined,
        paths: one.marks ? () => null : undefined,
        points: { show: part === "y" && one.points, size: one.marks ? 4 : 6, fill: colour, stroke: colour },
      });
    });
    const [least, most] = panel.y.ends;
    const range = (_, low, high) => {
      if (low === null || high === null) return [least ?? 0, most ?? 1];
      const ends = Object.values(panel.lines).map((one) => one[1]);
      const from = Math.min(low, ...ends);
      const to = Math.max(high, ...ends);
      const room = 0.06 * (to - from) || Math.abs(to) * 0.1 || 1;
      return [least ?? from - room, most ?? to + room];
    };
    const plot = new uPlot(
      {
        width,
        height: HEIGHT,
        cursor: {
          y: false,
          drag: { x: true, y: false, setScale: true },
          sync: chart.linked ? { key: state.key, scales: ["x", null] } : undefined,
          points: { size: 7 },
        },
        legend: { show: false },
        scales: {
          x: { time: false, distr: panel.x.log ? 3 : 1, auto: false, min: state.ends[at.number][0], max: state.ends[at.number][1] },
          y: panel.y.log ? { distr: 3, range: (_, low, high) => [least ?? low, most ?? high] } : { range },
        },
        axes: [{ ...axis(panel.x.label, panel.x.log), ...whole, size: 32 }, { ...axis(panel.y.label, panel.y.log), size: 62 }],
        series,
        bands,
        hooks: {
          drawClear: [(u) => behind(u, panel)],
          draw: [(u) => over(u, panel)],
          setCursor: [(u) => say(u, panel, columns, state, at)],
          setScale: [(u, key) => zoomed(u, key, state)],
        },
      },
      data,
      at.canvas,
    );
    plot.whole = state.ends[at.number];
    return plot;
  }

  function behind(u, panel) {
    shade(u, panel.shades);
    if (!panel.span) return;
    const [, from, to] = panel.span;
    const [left, right] = [u.valToPos(from, "x", true), u.valToPos(to, "x", true)];
    u.ctx.save();
    u.ctx.fillStyle = faint(style("orange"));
    u.ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
    u.ctx.restore();
  }

  const STRIP = 6;

  // Stretches of the time: over the whole height, or as a strip at the foot. Each is at least a pixel wide.
  function shade(u, shades) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const one of shades) {
      const [left, right] = [u.valToPos(one.from, "x", true), u.valToPos(one.to, "x", true)];
      const high = one.strip ? STRIP * devicePixelRatio : bbox.height;
      ctx.fillStyle = one.strip ? colourOf(one) : faint(colourOf(one));
      ctx.fillRect(left, bbox.top + bbox.height - high, Math.max(right - left, devicePixelRatio), high);
    }
    ctx.restore();
  }

  function over(u, panel) {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = style("ink");
    ctx.lineWidth = devicePixelRatio;
    ctx.font = font(12 * devicePixelRatio);
    for (const one of panel.shades) {
      if (!one.label) continue;
      const left = Math.max(u.valToPos(one.from, "x", true), bbox.left);
      ctx.textAlign = "left";
      const wide = ctx.measureText(one.label).width + 6 * devicePixelRatio;
      const x = Math.min(left + 3 * devicePixelRatio, bbox.left + bbox.width - wide);
      write(ctx, one.label, x, bbox.top + (14 + 15 * one.row) * devicePixelRatio);
    }
    for (const [label, value] of panel.lines) {
      const y = u.valToPos(value, "y", true);
      ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.textAlign = "right";
      write(ctx, label, bbox.left + bbox.width - 4, y - 4 * devicePixelRatio);
    }
    panel.marks.forEach(([place, label], row) => {
      const x = u.valToPos(place, "x", true);
      ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.textAlign = "left";
      write(ctx, label, x + 3 * devicePixelRatio, bbox.top + (12 + 13 * (row % 4)) * devicePixelRatio);
    });
    ctx.restore();
  }

  // Text in front of lines.
  function write(ctx, label, x, y) {
    ctx.save();
    ctx.setLineDash([]);
    ctx.strokeStyle = style("ground");
    ctx.lineWidth = 4 * devicePixelRatio;
    ctx.lineJoin = "round";
    ctx.strokeText(label, x, y);
    ctx.restore();
    ctx.fillText(label, x, y);
  }

  // The tooltip next to the pointer.
  function say(u, panel, columns, state, at) {
    const index = u.cursor.idx;
    const left = u.cursor.left;
    if (index === null || index === undefined || left < 0) {
      at.tip.hidden = true;
      return;
    }
    at.tip.replaceChildren();
    let place = null;
    const rows = [];
    columns.forEach(({ series, part }, number) => {
      if (part !== "y" || state.hidden.has(series.label)) return;
      const found = nearest(u.data[0], u.data[number + 1], index, !series.marks);
      if (found < 0) return;
      if (place === null || Math.abs(found - index) < Math.abs(place - index)) place = found;
      rows.push([series, number, found]);
    });
    if (place === null) {
      at.tip.hidden = true;
      return;
    }
    make("strong", "", at.tip, `${panel.x.label.replace(/ \(.*\)$/, "") || "at"} ${plain(u.data[0][place])}`);
    for (const [series, number, found] of rows) {
      const low = columns[number + 1]?.part === "low" ? u.data[number + 2][found] : null;
      const high = low !== null && low !== undefined ? u.data[number + 3][found] : null;
      const sure = high !== null && high !== undefined && high > low ? ` (95 %: ${plain(low)} to ${plain(high)})` : "";
      const row = make("span", "", at.tip, `${series.label} ${plain(u.data[number + 1][found])}${sure}`);
      swatch(series, row);
    }
    at.tip.hidden = false;
    const room = u.over.clientWidth;
    const wide = at.tip.offsetWidth;
    const begin = u.over.offsetLeft + (left > room / 2 ? left - wide - 14 : left + 14);
    at.tip.style.left = `${Math.max(0, Math.min(begin, at.canvas.clientWidth - wide))}px`;
    at.tip.style.top = `${u.over.offsetTop + 6}px`;
  }

  function zoomed(u, key, state) {
    if (key !== "x" || !u.whole || state.busy) return;
    const { min, max } = u.scales.x;
    const room = 0.01 * (u.whole[1] - u.whole[0]);
    const isWhole = min <= u.whole[0] + room && max >= u.whole[1] - room;
    state.zoom = isWhole ? null : [min, max];
    state.reset.hidden = isWhole;
    if (!state.linked) return;
    state.busy = true;
    for (const other of state.plots) if (other !== u) other.setScale("x", { min, max });
    state.busy = false;
  }

  let charts = 0;
  function build(source) {
    const chart = JSON.parse(source.textContent);
    const figure = source.parentElement;
    const state = { hidden: new Set(), plots: [], key: `chart-${charts++}`, linked: chart.linked, zoom: null, busy: false };
    // Linked panels share the ends of their horizontal axis.
    const ends = chart.panels.map((panel) => {
      if (panel.x.ends) return panel.x.ends;
      const each = panel.series.flatMap((one) => one.x);
      return [each.reduce((a, b) => Math.min(a, b), Infinity), each.reduce((a, b) => Math.max(a, b), -Infinity)];
    });
    const outer = [Math.min(...ends.map((one) => one[0])), Math.max(...ends.map((one) => one[1]))];
    state.ends = ends.map((one) => {
      const [low, high] = chart.linked ? outer : one;
      return low < high ? [low, high] : [low - 0.5, low + 0.5];
    });
    const live = make("div", "live");
    source.before(live);
    const bar = make("p", "legend", live);
    const grid = make("div", "panels", live);
    const names = (panel) => panel.series.map((one) => one.label).join("\n");
    // One legend if all panels show the same series, else one per panel with several series.
    const isShared = chart.panels.every((panel) => names(panel) === names(chart.panels[0]));
    const buttons = [];
    const legend = (panel, within) => {
      if (panel.series.length < 2) return;
      for (const one of panel.series) {
        const button = make("button", "", within, one.label);
        button.type = "button";
        button.title = "Show or hide";
        button.setAttribute("aria-pressed", "true");
        button.addEventListener("click", () => toggle(one.label));
        buttons.push([button, one]);
      }
    };
    const toggle = (label) => {
      const show = state.hidden.delete(label);
      if (!show) state.hidden.add(label);
      for (const [button, one] of buttons) if (one.label === label) button.setAttribute("aria-pressed", String(show));
      state.plots.forEach((plot, at) => {
        table(chart.panels[at]).columns.forEach(({ series }, number) => {
          if (series.label === label) plot.setSeries(number + 1, { show });
        });
      });
    };
    if (isShared) legend(chart.panels[0], bar);
    state.reset = make("button", "reset", bar, "Whole range");
    state.reset.type = "button";
    state.reset.hidden = true;
    state.reset.addEventListener("click", () => {
      for (const plot of state.plots) plot.setScale("x", { min: plot.whole[0], max: plot.whole[1] });
      state.reset.hidden = true;
    });
    const places = chart.panels.map((panel, number) => {
      const box = make("div", "panel", grid);
      if (panel.title) make("p", "name", box, panel.title);
      if (!isShared && panel.series.length > 1) legend(panel, make("p", "legend", box));
      const canvas = make("div", "canvas", box);
      canvas.tabIndex = 0;
      canvas.setAttribute("role", "group");
      canvas.setAttribute("aria-label", `${panel.title || panel.y.label}: left and right arrow keys move along the values`);
      const tip = make("div", "tip-box", canvas);
      tip.setAttribute("role", "status");
      tip.hidden = true;
      return { box, canvas, tip, number };
    });
    const layout = () => {
      const across = live.clientWidth;
      if (!across) return 0;
      const columns = Math.max(1, Math.min(chart.columns, Math.floor(across / LEAST)));
      grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
      return Math.floor((across - (columns - 1) * 16) / columns);
    };
    let width = 0;
    const redraw = () => {
      const zoom = state.zoom;
      for (const plot of state.plots) plot.destroy();
      state.plots = [];
      for (const [button, one] of buttons) {
        button.querySelector("svg")?.remove();
        swatch(one, button);
      }
      state.plots = chart.panels.map((panel, at) => draw(chart, panel, places[at], width, state));
      if (zoom) for (const plot of state.plots) plot.setScale("x", { min: zoom[0], max: zoom[1] });
    };
    const fit = () => {
      const now = layout();
      if (!now || now === width) return;
      const first = !state.plots.length;
      width = now;
      if (first) redraw();
      else for (const plot of state.plots) plot.setSize({ width, height: HEIGHT });
    };
    figure.classList.add("answers");
    // The still picture is hidden on screens, so the chart takes over its description.
    const said = figure.querySelector(".still [role=img]")?.getAttribute("aria-label");
    if (said) {
      grid.setAttribute("role", "group");
      grid.setAttribute("aria-label", said);
    }
    // A chart in a closed section of the page has no width yet, so it is drawn when the section opens.
    new ResizeObserver(fit).observe(live);
    fit();
    // A canvas keeps the font of its drawing: the system's, until the page's font has loaded.
    if (document.fonts.status === "loading") document.fonts.ready.then(() => state.plots.length && redraw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.plots.length && redraw());
    places.forEach(({ canvas, tip }, at) => {
      let step = -1;
      canvas.addEventListener("keydown", (event) => {
        const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        const plot = state.plots[at];
        if (event.key === "Escape") {
          tip.hidden = true;
          plot?.setCursor({ left: -10, top: -10 });
        }
        if (!way || !plot) return;
        event.preventDefault();
        const last = plot.data[0].length - 1;
        step = step < 0 ? (way > 0 ? 0 : last) : Math.min(last, Math.max(0, step + way));
        plot.setCursor({ left: plot.valToPos(plot.data[0][step], "x"), top: 10 });
      });
      canvas.addEventListener("blur", () => {
        step = -1;
        state.plots[at]?.setCursor({ left: -10, top: -10 });
      });
    });
  }

  for (const source of document.querySelectorAll("script.chart")) build(source);

  // Bars and cells of still pictures show their tooltip immediately, instead of after a second.
  const box = make("div", "tip-box afloat", document.body);
  box.hidden = true;
  for (const part of document.querySelectorAll(".picture .tip")) {
    const title = part.querySelector("title");
    part.dataset.says = title?.textContent ?? "";
    title?.remove();
  }
  const under = { x: -1, y: -1 };
  const show = (target) => {
    const part = target instanceof Element ? target.closest(".picture .tip") : null;
    box.hidden = !part;
    if (!part) return;
    box.textContent = part.dataset.says;
    const left = under.x + 14 + box.offsetWidth > innerWidth ? under.x - box.offsetWidth - 14 : under.x + 14;
    box.style.left = `${Math.max(4, left)}px`;
    box.style.top = `${Math.max(4, under.y - box.offsetHeight - 10)}px`;
  };
  const point = (event) => {
    under.x = event.clientX;
    under.y = event.clientY;
    show(event.target);
  };
  addEventListener("pointermove", point, { passive: true });
  addEventListener("pointerdown", point, { passive: true });
  // Scrolling moves another part, or none, under a resting pointer. A scrolling finger points at nothing.
  addEventListener("scroll", () => { show(document.elementFromPoint(under.x, under.y)); }, { passive: true });
  addEventListener("pointercancel", () => { under.x = -1; under.y = -1; box.hidden = true; }, { passive: true });
})();
