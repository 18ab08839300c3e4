// The grid of heads as an SVG: all heads and labels, rectangles and texts, drawn from the numbers that the grid was sent.
// Where the grid on the screen leaves labels out, this one has more room; one large head has its numbers. Joined in front
// of images.js.

const SVG = "http://www.w3.org/2000/svg";
const TYPE = { label: 12, title: 14 };
const WIDEST = 1240;
const MAP = { most: 260, cell: 26, least: 5, lines: 150, numbered: 36 };

function gridSvg(grid, { title: headline, ink, ground, font }) {
  const { sections, rows, cols, rowTitle, colTitle, lines, words } = grid.data;
  const measure = (text, size = TYPE.label) => ((pen.font = `${size}px ${font}`), pen.measureText(text).width);
  const fitting = Math.max(MAP.least, Math.min(MAP.cell, Math.floor(MAP.most / Math.max(rows.length, cols.length))));
  const cell = grid.data.numbers.length ? MAP.numbered : fitting;
  const wide = lines ? cell * Math.max(rows.length, cols.length) : cell * cols.length;
  const tall = lines ? MAP.lines : cell * rows.length;
  const across = alongAxis(cols, wide / cols.length, measure);
  const below = lines ? alongAxis(rows, wide / rows.length, measure) : { height: 0 };
  const down = Math.ceil(TYPE.label / cell);
  const gutter = lines ? 0 : Math.ceil(Math.max(...rows.map((row) => measure(row)))) + 8;
  const texts = sections.flatMap(({ tiles }) => tiles.flatMap(({ title, captions }) => [title, ...captions.map(told)]));
  const tile = Math.max(gutter + wide, ...texts.map((text) => measure(text, TYPE.title))) + 24;
  const heads = Math.max(...sections.map(({ tiles }) => tiles.length));
  const most = inRows(heads, Math.max(1, Math.min(8, Math.floor(WIDEST / tile))));
  const captions = Math.max(...sections.flatMap(({ tiles }) => tiles.map((one) => one.captions.length)));
  const height = TYPE.title + 8 + across.height + tall + below.height + captions * (TYPE.label + 4) + 18;

  const svg = node(null, "svg", { "font-family": font, "font-size": TYPE.label, fill: ink, color: ink });
  const page = node(svg, "rect", { fill: ground });
  closedPattern(node(svg, "defs"), ink);
  let [y, right, number] = [16, 0, 0];
  if (headline) {
    text(svg, headline, 16, y + TYPE.title, { "font-size": TYPE.title });
    right = 32 + measure(headline, TYPE.title);
    y += TYPE.title + 16;
  }
  for (const section of sections) {
    if (section.title) text(svg, section.title, 16, y + TYPE.title, { "font-size": TYPE.title, "font-weight": 650 });
    if (section.title) y += TYPE.title + 12;
    section.tiles.forEach((shown, place) => {
      const x = 16 + (place % most) * tile;
      const top = y + Math.floor(place / most) * height;
      const group = node(svg, "g", { transform: `translate(${x} ${top})`, ...(shown.away && { opacity: 0.4 }) });
      const struck = shown.away && { "text-decoration": "line-through" };
      text(group, shown.title, gutter, TYPE.title, { "font-size": TYPE.title, "font-weight": 650, ...struck });
      const map = node(group, "g", { transform: `translate(${gutter} ${TYPE.title + 8 + across.height})` });
      labels(map, cols, across, wide / cols.length, -6, "start");
      if (lines) labels(map, rows, below, wide / rows.length, tall + TYPE.label + 4, "end");
      else rows.forEach((row, i) => i % down || text(map, row, -6, (i + 0.5) * cell + 4, { "text-anchor": "end" }));
      (lines ? linesOf : squaresOf)(map, grid, number++, { cell, wide, tall });
      shown.captions.forEach((caption, i) =>
        text(map, told(caption), 0, tall + below.height + (i + 1) * (TYPE.label + 4)));
      right = Math.max(right, x + tile);
    });
    y += Math.ceil(section.tiles.length / most) * height + 8;
  }
  let end = 16;
  for (const title of [`${lines ? "↑" : "↓"} ${rowTitle}`, `${lines ? "↓" : "→"} ${colTitle}`]) {
    text(svg, title, end, y + TYPE.label);
    end += measure(title) + 20;
  }
  right = Math.max(right, lines ? end : scale(svg, grid, end, y, words.scale, measure));
  const size = { width: Math.ceil(right), height: Math.ceil(y + TYPE.label + 16) };
  for (const [name, value] of Object.entries(size)) [svg, page].forEach((one) => one.setAttribute(name, value));
  svg.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  return { text: new XMLSerializer().serializeToString(svg), ...size };
}

const told = (caption) => caption.join(" ");

function node(parent, name, attributes = {}) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return parent ? parent.appendChild(made) : made;
}

// As text, whatever is in it.
function text(parent, content, x, y, attributes = {}) {
  const made = node(parent, "text", { x, y, ...attributes });
  made.textContent = content;
}

// How many heads stand side by side, at most so many: as many in each row, where that does not take many more rows.
function inRows(heads, most) {
  for (let even = Math.min(heads, most); even >= 0.6 * most; even--) if (heads % even === 0) return even;
  return most;
}

// Every how manieth label of an axis is written, which stand upright as they are too wide, and how tall they are.
function alongAxis(names, room, measure) {
  const step = Math.ceil((TYPE.label + 1) / room);
  const widths = names.map((name) => measure(name));
  const upright = widths.map((width) => width > step * room - 2 && width > TYPE.label);
  const tallest = Math.max(0, ...widths.filter((_, i) => upright[i]));
  return { upright, step, height: Math.max(TYPE.label + 8, Math.ceil(tallest) + 10) };
}

function labels(parent, names, { upright, step }, room, y, side) {
  names.forEach((name, i) => {
    if (i % step) return;
    const x = (i + 0.5) * room;
    const at = { x: x + 4, y: side === "end" ? y - TYPE.label : y };
    if (upright[i]) text(parent, name, at.x, at.y, { transform: `rotate(-90 ${at.x} ${at.y})`, "text-anchor": side });
    else text(parent, name, x, y, { "text-anchor": "middle" });
  });
}

// Cells that may not be attended to.
function closedPattern(defs, ink) {
  const pattern = node(defs, "pattern", { id: "closed", width: 5, height: 5, patternUnits: "userSpaceOnUse" });
  node(pattern, "path", { d: "M0 5L5 0", stroke: ink, "stroke-opacity": 0.35, "stroke-width": 0.8 });
}

function colorOf(entry) {
  const [red, green, blue] = [entry & 255, (entry >> 8) & 255, (entry >> 16) & 255];
  return `#${[red, green, blue].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function squaresOf(map, grid, number, { cell, wide, tall }) {
  const { rows, cols, thousandths } = grid.data;
  const { offset } = grid.tiles[number];
  const none = colorOf(grid.table[0]);
  node(map, "rect", { width: wide, height: tall, fill: none });
  for (let i = 0; i < rows.length * cols.length; i++) {
    const open = grid.isOpen(offset, i);
    const fill = open ? colorOf(grid.table[thousandths[offset + i]]) : "url(#closed)";
    if (fill === none) continue;
    const [x, y] = [(i % cols.length) * cell, Math.floor(i / cols.length) * cell];
    node(map, "rect", { x, y, width: cell, height: cell, fill });
  }
  grid.data.numbers.forEach((number, i) => {
    if (!grid.isOpen(offset, i)) return;
    const fill = grid.inkOn(thousandths[offset + i]);
    const [x, y] = [((i % cols.length) + 0.5) * cell, (Math.floor(i / cols.length) + 0.5) * cell + 4];
    text(map, number, x, y, { "text-anchor": "middle", fill });
  });
  node(map, "rect", { width: wide, height: tall, fill: "none", stroke: "currentColor", "stroke-opacity": 0.25 });
}

function linesOf(map, grid, number, { wide, tall }) {
  const { rows, cols } = grid.data;
  const group = node(map, "g", { stroke: grid.color, "stroke-opacity": 0.72, fill: "none" });
  const thickest = Math.min(14, wide / Math.max(rows.length, cols.length));
  rows.forEach((_, row) =>
    cols.forEach((_, col) => {
      const tile = grid.tiles[number];
      const weight = grid.isOpen(tile.offset, grid.place(row, col)) ? grid.weightAt(tile, row, col) : 0;
      if (weight < 0.01) return;
      const [from, to] = [((row + 0.5) * wide) / rows.length, ((col + 0.5) * wide) / cols.length];
      const d = `M${from} ${tall}C${from} ${0.45 * tall} ${to} ${0.55 * tall} ${to} 0`;
      node(group, "path", { d, "stroke-width": weight * thickest });
    }),
  );
}

// The colours from 0 to 1; gives where it ends.
function scale(svg, grid, x, y, name, measure) {
  const steps = 50;
  const from = x + measure(`${name} 0`) + 10;
  text(svg, `${name} 0`, x, y + TYPE.label);
  for (let i = 0; i < steps; i++) {
    const fill = colorOf(grid.table[Math.round((1000 * i) / (steps - 1))]);
    node(svg, "rect", { x: from + 2 * i, y: y + 2, width: 2, height: TYPE.label, fill });
  }
  text(svg, "1", from + 2 * steps + 6, y + TYPE.label);
  return from + 2 * steps + 40;
}
