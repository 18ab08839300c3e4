// Draws attention heads as small maps, lights one cell in all of them, and lets the visitor pick a head.
//
// Streamlit calls the default function again at each change of data or theme, with no clean-up in between. So one
// HeadGrid object is kept per mount point; its listeners are attached once and its nodes are reused by position.
//
// Each map is a canvas with one pixel per cell, which CSS enlarges without smoothing (image-rendering: pixelated).
// Cells that may not be attended to are transparent, and the hatching behind the canvas shows through.
// Python joins the common nodes.js, sizes.js, tiles.js and this file into one module.

export default function ({ data, parentElement, setStateValue }) {
  const grid = (parentElement.headGrid ??= new HeadGrid(parentElement));
  grid.update(data, setStateValue);
  return () => grid.stop();
}

class HeadGrid {
  constructor(parent) {
    this.root = add(parent, "div", "root");
    const header = add(this.root, "div", "header");
    this.readout = add(header, "div", "readout");
    this.readout.setAttribute("role", "status");
    const key = add(header, "div", "key");
    this.rowTitle = add(key, "span", "axis down");
    this.colTitle = add(key, "span", "axis right");
    const scale = add(key, "span", "scale");
    this.scaleName = add(scale, "span", "name");
    add(scale, "span").textContent = "0";
    this.scaleBar = add(scale, "canvas");
    add(scale, "span").textContent = "1";
    this.help = add(this.root, "div", "unseen");
    this.help.id = "help";
    this.body = add(this.root, "div", "body");
    this.body.setAttribute("role", "radiogroup");
    this.body.setAttribute("aria-describedby", "help");

    this.tiles = []; // all heads in reading order: { node, parts, layer, head, … }
    this.cell = null; // the lit cell: { row, col, tile under the pointer }
    this.lit = []; // labels that are lit
    this.widths = new Map(); // label -> width
    this.timer = null; // a pick that is about to be sent

    this.body.addEventListener("pointermove", (event) => this.point(event));
    this.body.addEventListener("pointerdown", (event) => this.point(event));
    this.body.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && this.light(null));
    this.body.addEventListener("click", (event) => this.choose(this.tileOf(event)));
    this.body.addEventListener("keydown", (event) => this.press(event));
    this.observer = new ResizeObserver(() => this.root.clientWidth !== this.width && this.layout());
    this.observing = false;
  }

  stop() {
    this.observer.disconnect();
    this.observing = false;
  }

  update(data, setStateValue) {
    const focused = this.tiles.findIndex((tile) => tile.node === this.root.getRootNode().activeElement);
    this.data = data;
    this.send = setStateValue;
    this.weights = new Float32Array(bytes(data.weights).buffer);
    this.allowed = data.allowed && bytes(data.allowed);
    if (this.timer === null) this.chosen = data.selected;
    this.body.setAttribute("aria-label", data.words.group);
    setText(this.help, `${data.words.hint} ${data.words.keys_hint}`);
    setText(this.rowTitle, data.rowTitle);
    setText(this.colTitle, data.colTitle);
    setText(this.scaleName, data.words.scale);
    this.root.classList.toggle("compact", data.compact);

    this.build();
    this.paint();
    this.layout();
    this.markChosen();
    if (focused >= this.tiles.length) this.tiles.at(-1).node.focus({ preventScroll: true });
    const { row, col, tile } = this.cell ?? {};
    const stays = row < data.rows.length && col < data.cols.length;
    this.light(stays ? { row, col, tile: this.tiles.find(({ node }) => node === tile?.node) } : null);
    if (!this.observing) this.observer.observe(this.root);
    this.observing = true;
  }

  // ---- nodes and pixels ----

  build() {
    const { sections, rows, cols, compact } = this.data;
    this.tiles = [];
    fill(this.body, sections.length, makeSection);
    sections.forEach((section, s) => {
      const { title, grid } = this.body.children[s].parts;
      setText(title, section.title);
      title.hidden = !section.title;
      fill(grid, section.tiles.length, makeTile);
      section.tiles.forEach((tile, place) => {
        const node = grid.children[place];
        const { parts } = node;
        setText(parts.title, tile.title);
        fill(parts.captions, compact ? 0 : tile.captions.length, makeCaption);
        [...parts.captions.children].forEach((line, i) => {
          setText(line.children[0], tile.captions[i][0]);
          setText(line.children[1], tile.captions[i][1]);
        });
        setLabels(parts.rows, compact ? [] : rows);
        setLabels(parts.cols, compact ? [] : cols);
        const name = [section.title, tile.title].filter(Boolean).join(", ");
        node.setAttribute("aria-label", [name, ...tile.captions.map((line) => line.join(" "))].join(", "));
        node.title = compact ? name : "";
        const offset = this.tiles.length * rows.length * cols.length;
        this.tiles.push({ node, parts, place, name, layer: section.layer, head: tile.head, offset });
      });
    });
  }

  paint() {
    const { rows, cols, tables } = this.data;
    const dark = isDark(getComputedStyle(this.root).getPropertyValue("--st-background-color"));
    this.root.classList.toggle("dark", dark);
    // The colour table as 256 numbers that hold the four bytes red, green, blue and opacity.
    const rgb = bytes(dark ? tables.dark : tables.light);
    const rgba = new Uint8Array(4 * 256).fill(255);
    for (let i = 0; i < 256; i++) rgba.set(rgb.subarray(3 * i, 3 * i + 3), 4 * i);
    const table = new Uint32Array(rgba.buffer);
    putPixels(this.scaleBar, table, 256, 1);

    const pixels = new Uint32Array(rows.length * cols.length);
    for (const { parts, offset } of this.tiles) {
      for (let i = 0; i < pixels.length; i++) {
        const level = Math.max(0, Math.min(255, Math.round(255 * this.weights[offset + i])));
        pixels[i] = this.isOpen(offset, i) ? table[level] : 0;
      }
      putPixels(parts.canvas, pixels, cols.length, rows.length);
    }
  }

  layout() {
    const { rows, cols, sections, compact } = this.data;
    const width = (this.width = this.root.clientWidth);
    if (!width) return; // in a closed tab or expander; the observer calls again once there is room
    const heads = Math.max(...sections.map((section) => section.tiles.length));
    const titles = sections.map((section) => section.title);
    const measure = (text, bold) => this.measure(text, bold);
    const sizes = (compact ? compactSizes : fullSizes)({ width, heads, rows, cols, titles, measure });
    const lengths = {
      "cell-width": sizes.cellWidth,
      "cell-height": sizes.cellHeight,
      "map-width": sizes.cellWidth * cols.length,
      "map-height": sizes.cellHeight * rows.length,
      gap: sizes.gap,
      gutter: sizes.gutter ?? 0,
      "tile-width": sizes.tileWidth ?? 0,
      "labels-height": sizes.labelsHeight ?? 0,
      label: sizes.label ?? 0,
      "title-width": sizes.titleWidth ?? 0,
    };
    for (const [name, px] of Object.entries(lengths)) this.setVariable(`--${name}`, `${px}px`);
    this.setVariable("--columns", String(sizes.columns));
    this.root.classList.toggle("narrow", width < NARROW);
    this.root.classList.toggle("fine", Math.min(sizes.cellWidth, sizes.cellHeight) < 9);
    this.root.classList.toggle("tight", sizes.tileWidth < 112);
    this.root.classList.toggle("every-labelled", !!sizes.everyLabelled);
    this.sizes = sizes;
    for (const { node, parts, place } of this.tiles) {
      node.classList.toggle("labelled", sizes.everyLabelled || place % sizes.columns === 0);
      [...parts.rows.children].forEach((label, i) => (label.hidden = i % sizes.rowStep > 0));
      [...parts.cols.children].forEach((label, i) => {
        label.hidden = i % sizes.colStep > 0;
        label.classList.toggle("upright", sizes.upright[i]);
      });
    }
    this.placeMarks();
  }

  setVariable(name, value) {
    if (this.root.style.getPropertyValue(name) !== value) this.root.style.setProperty(name, value);
  }

  measure(text, bold = false) {
    const key = `${bold} ${text}`;
    if (this.widths.size > 2000) this.widths.clear();
    if (!this.widths.has(key)) {
      pen.font = `${bold ? 700 : 400} ${LABEL.most}px ${getComputedStyle(this.root).fontFamily}`;
      this.widths.set(key, pen.measureText(text).width);
    }
    return this.widths.get(key);
  }

  // ---- the lit cell ----

  point(event) {
    const tile = this.tileOf(event);
    if (!tile || !event.target.closest(".map")) {
      if (event.pointerType !== "touch") this.light(null);
      return;
    }
    const box = tile.parts.map.getBoundingClientRect();
    const { rows, cols } = this.data;
    const row = within(Math.floor((event.clientY - box.top) / this.sizes.cellHeight), rows.length);
    const col = within(Math.floor((event.clientX - box.left) / this.sizes.cellWidth), cols.length);
    const now = this.cell;
    if (now?.row !== row || now.col !== col || now.tile !== tile) this.light({ row, col, tile });
  }

  light(cell) {
    this.cell = cell;
    for (const label of this.lit) label.classList.remove("lit");
    this.lit = [];
    for (const tile of this.tiles) {
      setText(tile.parts.value, cell ? this.valueAt(tile, cell) : "");
      if (cell) this.lit.push(tile.parts.rows.children[cell.row], tile.parts.cols.children[cell.col]);
    }
    this.lit = this.lit.filter(Boolean); // the overview has no labels
    for (const label of this.lit) label.classList.add("lit");
    this.root.classList.toggle("pointing", !!cell);
    this.placeMarks();
    this.write();
  }

  // Set on each mark: a variable on the root would make the browser restyle every label at each move.
  placeMarks() {
    if (!this.cell || !this.sizes) return;
    const [x, y] = [this.cell.col * this.sizes.cellWidth, this.cell.row * this.sizes.cellHeight];
    for (const { parts } of this.tiles) parts.mark.style.transform = `translate(${x}px, ${y}px)`;
  }

  // Whether a head may look at a cell, by its place in the map. The mask is one for all heads, or one for each.
  isOpen(offset, place) {
    if (!this.allowed) return true;
    const own = this.allowed.length === this.weights.length;
    return !!this.allowed[own ? offset + place : place];
  }

  placeOf({ row, col }) {
    return row * this.data.cols.length + col;
  }

  valueAt(tile, cell) {
    const place = this.placeOf(cell);
    return this.isOpen(tile.offset, place) ? this.weights[tile.offset + place].toFixed(3) : "–";
  }

  write() {
    const { rows, cols, rowTitle, colTitle, words } = this.data;
    const groups = []; // each stays on one line: [[kind, text], …]
    if (!this.cell) groups.push([["hint", words.hint]]);
    else {
      const { row, col, tile } = this.cell;
      groups.push([["name", rowTitle], ["token", rows[row]], ["place", `${row + 1}/${rows.length}`]]);
      groups.push([["name", colTitle], ["token", cols[col]], ["place", `${col + 1}/${cols.length}`]]);
      const { offset } = tile ?? this.tiles[0];
      if (this.isOpen(offset, this.placeOf(this.cell))) {
        if (tile) groups.push([["name", tile.name], ["number", this.valueAt(tile, this.cell)]]);
      } else {
        const anyKey = cols.some((_, other) => this.isOpen(offset, this.placeOf({ row, col: other })));
        groups.push([["closed", anyKey ? words.masked : words.no_keys]]);
      }
    }
    fill(this.readout, groups.length, () => make("span", "group"));
    groups.forEach((group, g) => {
      fill(this.readout.children[g], group.length, () => make("span"));
      group.forEach(([kind, text], i) => {
        this.readout.children[g].children[i].className = kind;
        setText(this.readout.children[g].children[i], text);
      });
    });
  }

  // ---- picking a head ----

  tileOf(event) {
    const node = event.target.closest(".tile");
    return node && this.tiles.find((tile) => tile.node === node);
  }

  markChosen() {
    const chosen = this.tiles.find(({ layer, head }) => layer === this.chosen?.[0] && head === this.chosen?.[1]);
    for (const tile of this.tiles) {
      tile.node.setAttribute("aria-checked", String(tile === chosen));
      tile.node.tabIndex = tile === (chosen ?? this.tiles[0]) ? 0 : -1; // the one tile that Tab reaches
    }
  }

  choose(tile, wait = 0) {
    if (!tile) return;
    this.chosen = [tile.layer, tile.head];
    this.markChosen(); // at once, before Python answers
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = null;
      // The time makes each pick a new value, so that picking the same head again also reaches Python.
      this.send("selected", { layer: tile.layer, head: tile.head, at: Date.now() });
    }, wait);
  }

  press(event) {
    const tile = this.tileOf(event);
    if (!tile || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const end = { Home: this.tiles[0], End: this.tiles.at(-1) }[event.key];
    if (event.key === "Escape") this.light(null);
    else if (event.key === "Enter" || event.key === " ") this.choose(tile);
    else if (step && event.shiftKey) this.moveCell(tile, ...step);
    else if (step || end) {
      const next = end ?? (step[0] ? this.neighbour(tile, step[0]) : this.tiles[this.tiles.indexOf(tile) + step[1]]);
      next?.node.focus();
      this.choose(next, 150); // while a key is held down, only the last head is sent
    } else return;
    event.preventDefault();
  }

  moveCell(tile, down, right) {
    const from = this.cell ?? { row: -down, col: -right }; // the first press lights the first cell
    const { rows, cols } = this.data;
    this.light({ row: within(from.row + down, rows.length), col: within(from.col + right, cols.length), tile });
  }

  // The tile in the next row of the picture, above (-1) or below (1), that stands nearest to this one.
  neighbour(tile, direction) {
    const here = tile.node.getBoundingClientRect();
    let [best, least] = [undefined, Infinity];
    for (const other of this.tiles) {
      const there = other.node.getBoundingClientRect();
      const down = direction * (there.top - here.top);
      const distance = 1e4 * down + Math.abs(there.left - here.left);
      if (down > 4 && distance < least) [best, least] = [other, distance];
    }
    return best;
  }
}
