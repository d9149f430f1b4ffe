// SPDX-License-Identifier: Apache-2.0
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const SIZE = { width: 640, height: 380, left: 62, right: 14, top: 10, bottom: 40 };
const COLOURS = 8;
const DASHES = ["", "6 3", "2 3"];
const tip = document.getElementById("tip");

function element(parent, name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function short(value) {
  const scales = [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]];
  for (const [scale, prefix] of scales) {
    if (Math.abs(value) >= scale) return `${Number((value / scale).toPrecision(3))}${prefix}`;
  }
  return String(Number(value.toPrecision(3)));
}

// Where a value lies between two ends, and where ticks are. Logarithmic axes have ticks at powers of ten, or
// at 1, 2 and 5 times these where there are few; those of widths in bits and of batches at powers of two.
function axis(values, from, to, settings) {
  const logarithmic = settings.log;
  let low = Math.min(...values), high = Math.max(...values);
  if (!logarithmic) {
    low = 0;
    high = Math.max(high * 1.05, 1);
  } else if (low === high) {
    low /= 2;
    high *= 2;
  } else {
    const pad = Math.pow(high / low, 0.03);
    low /= pad;
    high *= pad;
  }
  const f = logarithmic ? Math.log : (value) => value;
  const at = (value) => from + ((f(value) - f(low)) / (f(high) - f(low))) * (to - from);
  const ticks = [];
  if (!logarithmic) {
    const step = [5, 10, 20, 25, 50].find((size) => high / size <= 8) || 100;
    for (let value = 0; value <= high; value += step) ticks.push(value);
  } else if (/bits|items/.test(settings.label)) {
    const every = Math.log2(high / low) > 12 ? 2 : 1;
    for (let power = Math.ceil(Math.log2(low)); 2 ** power <= high; power += every) ticks.push(2 ** power);
  } else {
    const decades = Math.log10(high / low);
    const every = Math.ceil(decades / 7);
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += every) {
      for (const factor of decades < 3 ? [1, 2, 5] : [1]) {
        const value = factor * 10 ** power;
        if (value >= low && value <= high) ticks.push(value);
      }
    }
  }
  return { at, ticks, low, high };
}

function showTip(text, event) {
  tip.textContent = text;
  tip.hidden = false;
  const right = event.clientX + 14 + tip.offsetWidth > window.innerWidth;
  tip.style.left = `${right ? event.clientX - 14 - tip.offsetWidth : event.clientX + 14}px`;
  tip.style.top = `${event.clientY + 14}px`;
}

function drawAxes(svg, x, y, plot) {
  const { width, height, left, right, top, bottom } = SIZE;
  for (const value of x.ticks) {
    element(svg, "line", { class: "grid", x1: x.at(value), x2: x.at(value), y1: top, y2: height - bottom });
    const place = { x: x.at(value), y: height - bottom + 14, "text-anchor": "middle" };
    element(svg, "text", place, /bits|items/.test(plot.x.label) ? String(value) : short(value));
  }
  for (const value of y.ticks) {
    element(svg, "line", { class: "grid", x1: left, x2: width - right, y1: y.at(value), y2: y.at(value) });
    element(svg, "text", { x: left - 6, y: y.at(value) + 4, "text-anchor": "end" }, short(value));
  }
  element(svg, "text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, plot.x.label);
  const middle = (top + height - bottom) / 2;
  const turned = { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` };
  element(svg, "text", turned, plot.y.label);
}

function drawSeries(svg, x, y, plot, number) {
  const series = plot.series[number];
  const colour = `var(--c${number % COLOURS})`;
  const dash = DASHES[Math.floor(number / COLOURS) % DASHES.length];
  const group = element(svg, "g", { class: "series", "data-name": series.name });
  if (!plot.dots) {
    const path = series.points.map((point, index) => `${index ? "L" : "M"}${x.at(point.x)} ${y.at(point.y)}`);
    element(group, "path", { d: path.join(""), stroke: colour, "stroke-dasharray": dash });
  }
  for (const point of series.points) {
    const circle = element(group, "circle", { cx: x.at(point.x), cy: y.at(point.y), r: 4, fill: colour });
    const text = `${series.name}: ${point.text}`;
    element(circle, "title", {}, text);
    circle.addEventListener("pointermove", (event) => showTip(text, event));
    circle.addEventListener("pointerleave", () => { tip.hidden = true; });
  }
  return { group, colour };
}

function drawPlot(plot, parent) {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = plot.title;
  const { width, height, left, right, top, bottom } = SIZE;
  const svg = element(figure, "svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": plot.title });
  figure.prepend(caption);
  const points = plot.series.flatMap((series) => series.points);
  const x = axis(points.map((point) => point.x), left, width - right, plot.x);
  const y = axis(points.map((point) => point.y), height - bottom, top, plot.y);
  drawAxes(svg, x, y, plot);
  if (plot.dots) {  // the line on which both axes are equal
    const low = Math.max(x.low, y.low), high = Math.min(x.high, y.high);
    if (low < high) element(svg, "line", { class: "equal", x1: x.at(low), x2: x.at(high), y1: y.at(low), y2: y.at(high) });
  }
  const legend = document.createElement("div");
  legend.className = "legend";
  plot.series.forEach((series, number) => {
    const { group, colour } = drawSeries(svg, x, y, plot, number);
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    box.addEventListener("change", () => group.classList.toggle("off", !box.checked));
    const mark = document.createElement("i");
    mark.style.background = colour;
    label.append(box, mark, series.name);
    legend.append(label);
  });
  figure.append(legend);
  parent.append(figure);
}

// Numbers by their keys, texts by themselves; rows without a number stay at the end.
function compareCells(column, numeric, sign) {
  return (a, b) => {
    const one = a.cells[column], other = b.cells[column];
    if (!numeric) return sign * one.textContent.localeCompare(other.textContent, "en", { numeric: true });
    const first = one.dataset.key, second = other.dataset.key;
    if (first === undefined || second === undefined) return (first === undefined) - (second === undefined);
    return sign * (Number(first) - Number(second));
  };
}

function makeSortable(table) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.firstElementChild.addEventListener("click", () => {
      const sign = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows];
      rows.sort(compareCells(column, heading.classList.contains("number"), sign));
      table.tBodies[0].append(...rows);
    });
  });
}

function makeFilter(input) {
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of document.querySelectorAll("tbody tr")) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
}

const data = JSON.parse(document.getElementById("data").textContent);
for (const plot of data.plots) drawPlot(plot, document.querySelector(".plots"));
document.querySelectorAll("table").forEach(makeSortable);
const filter = document.getElementById("filter");
if (filter) makeFilter(filter);
for (const button of document.querySelectorAll("td button")) {
  button.addEventListener("click", () => {
    if (navigator.clipboard) navigator.clipboard.writeText(button.title).catch(() => {});
  });
}
window.addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
});
document.body.dataset.drawn = String(document.querySelectorAll("figure svg .series").length);
