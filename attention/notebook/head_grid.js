// Draws attention heads as small pictures, lights one cell in all of them, and lets the visitor pick a head.
//
// Streamlit calls the default function again at each change of data or theme, with no clean-up in between. So one
// HeadGrid object is kept per mount point; its listeners are attached once and its nodes are reused by position.
// Python joins the common nodes.js, sizes.js, tiles.js, squares.js, large.js, lines.js and this file into one module.

export default function draw({ data, parentElement, setStateValue }) {
  const grid = (parentElement.headGrid ??= new HeadGrid(parentElement));
  grid.update(readMessage(data), setStateValue);
  return () => grid.stop();
}

class HeadGrid {
  constructor(parent) {
    this.root = add(parent, "div", "root");
    this.body = add(this.root, "div", "body");
    this.body.setAttribute("aria-describedby", "help");
    const footer = add(this.root, "div", "footer");
    this.readout = add(footer, "div", "readout");
    this.readout.setAttribute("role", "status");
    const key = add(footer, "div", "key");
    this.rowTitle = add(key, "span", "axis down");
    this.colTitle = add(key, "span", "axis right");
    const scale = add(key, "span", "scale");
    this.scaleName = add(scale, "span", "name");
    add(scale, "span").textContent = "0";
    this.scaleBar = add(scale, "canvas");
    add(scale, "span").textContent = "1";
    this.help = add(this.root, "div", "unseen");
    this.help.id = "help";

    this.tiles = []; // all heads in reading order: { node, parts, layer, head, … }
    this.cell = null; // what is lit: { row, col, tile under the pointer }
    this.lit = []; // labels that are lit
    this.widths = new Map(); // label -> width
    this.fit = null; // whether names have room beside numbers, where that is known
    this.timer = null; // a pick that is about to be sent

    this.body.addEventListener("pointermove", (event) => this.point(event));
    this.body.addEventListener("pointerdown", (event) => this.point(event));
    this.body.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && this.light(null));
    this.body.addEventListener("click", (event) => this.enlarge(this.tileOf(event)));
    this.body.addEventListener("keydown", (event) => this.press(event));
    this.observer = new ResizeObserver(() => this.root.clientWidth !== this.width && this.resize());
    this.observing = false;
  }

  stop() {
    this.observer.disconnect();
    this.observing = false;
  }

  update(data, setStateValue) {
    const focused = this.tiles.findIndex((tile) => tile.node === this.root.getRootNode().activeElement);
    const before = this.picture;
    this.data = data;
    this.picture = data.large ? large : data.lines ? lines : squares;
    this.send = setStateValue;
    if (this.timer === null) this.chosen = data.selected;
    this.body.setAttribute("role", data.large ? "group" : "radiogroup");
    this.body.setAttribute("aria-label", data.words.group);
    setText(this.help, `${this.hint} ${data.lines ? data.words.lines_keys_hint : data.words.keys_hint}`);
    setText(this.rowTitle, data.rowTitle);
    setText(this.colTitle, data.colTitle);
    setText(this.scaleName, data.words.scale);
    this.root.classList.toggle("compact", data.compact);
    this.root.classList.toggle("joined", data.lines);
    this.root.classList.toggle("large", data.large);

    this.build();
    this.mix();
    this.layout();
    this.picture.paint(this);
    this.markChosen();
    if (focused >= this.tiles.length) this.tiles.at(-1).node.focus({ preventScroll: true });
    const { row = 0, col = 0, tile } = this.cell ?? {};
    const stays = this.cell && this.picture === before && row < data.rows.length && col < data.cols.length;
    this.light(stays ? { ...this.cell, tile: this.tiles.find(({ node }) => node === tile?.node) } : null);
    if (!this.observing) this.observer.observe(this.root);
    this.observing = true;
  }

  get hint() {
    return this.data.lines ? this.data.words.lines_hint : this.data.words.hint;
  }

  // ---- nodes, colours and sizes ----

  build() {
    const { sections, rows, cols, compact, words, large: alone, alt } = this.data;
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
        const off = tile.away ? words.away : "";
        const name = [section.title, tile.title, off].filter(Boolean).join(", ");
        node.classList.toggle("away", !!tile.away);
        node.setAttribute("role", alone ? "img" : "radio");
        node.setAttribute("aria-label", alt || [name, ...tile.captions.map((line) => line.join(" "))].join(", "));
        node.title = compact ? name : off;
        const offset = this.tiles.length * rows.length * cols.length;
        this.tiles.push({ node, parts, place, name, title: tile.title, layer: section.layer, head: tile.head, offset });
      });
    });
  }

  // The colours of the theme: one for each thousandth as a number that holds the four bytes red, green, blue and
  // opacity, and one for lines.
  mix() {
    const { tables, colors } = this.data;
    const theme = isDark(getComputedStyle(this.root).getPropertyValue("--st-background-color")) ? "dark" : "light";
    const rgb = bytes(tables[theme]);
    const rgba = new Uint8Array(4 * 256).fill(255);
    for (let i = 0; i < 256; i++) rgba.set(rgb.subarray(3 * i, 3 * i + 3), 4 * i);
    const table = new Uint32Array(rgba.buffer);
    this.table = new Uint32Array(1001).map((_, thousandth) => table[Math.round((255 * thousandth) / 1000)]);
    this.color = colors[theme];
    this.theme = theme;
    putPixels(this.scaleBar, table, 256, 1);
  }

  layout() {
    const { rows, cols, sections, compact } = this.data;
    const width = (this.width = this.root.clientWidth);
    if (!width) return; // in a closed tab or expander; the observer calls again once there is room
    const heads = Math.max(...sections.map((section) => section.tiles.length));
    const titles = sections.map((section) => section.title);
    const measure = (text, bold) => this.measure(text, bold);
    const unit = parseFloat(getComputedStyle(this.root).fontSize) / LABEL.usual; // more than 1 where all type is larger
    const height = window.innerHeight / unit;
    const sizesOf = compact ? compactSizes : this.picture.sizes;
    const sizes = enlarged(sizesOf({ width: width / unit, height, heads, rows, cols, titles, measure }), unit);
    const lengths = {
      "cell-width": sizes.cellWidth,
      "cell-height": sizes.cellHeight,
      "map-width": sizes.mapWidth,
      "map-height": sizes.mapHeight,
      gap: sizes.gap,
      gutter: sizes.gutter ?? 0,
      "tile-width": sizes.tileWidth ?? 0,
      "labels-height": sizes.labelsHeight ?? 0,
      "rows-height": sizes.rowsHeight ?? 0,
      label: sizes.label ?? 0,
      "title-width": sizes.titleWidth ?? 0,
    };
    for (const [name, px] of Object.entries(lengths)) this.setVariable(`--${name}`, `${px}px`);
    this.setVariable("--columns", String(sizes.columns));
    this.setVariable("--unit", String(unit));
    this.root.classList.toggle("narrow", width < NARROW * unit);
    this.root.classList.toggle("fine", Math.min(sizes.cellWidth, sizes.cellHeight) < 9);
    this.root.classList.toggle("tight", sizes.tileWidth < TIGHT * unit);
    this.root.classList.toggle("every-labelled", !!sizes.everyLabelled);
    this.sizes = sizes;
    this.fit = null;
    for (const { node, parts, place } of this.tiles) {
      const labelled = sizes.everyLabelled || place % sizes.columns === 0;
      node.classList.toggle("labelled", labelled);
      setLabels(parts.rows, labelled && !compact ? rows : [], sizes.ofRows);
      setLabels(parts.cols, compact ? [] : cols, sizes.ofCols);
    }
  }

  resize() {
    this.layout();
    this.picture.paint(this);
    this.picture.light(this, this.cell);
  }

  setVariable(name, value) {
    if (this.root.style.getPropertyValue(name) !== value) this.root.style.setProperty(name, value);
  }

  // How wide a label is at the usual size.
  measure(text, bold = false) {
    const key = `${bold} ${text}`;
    if (this.widths.size > 2000) this.widths.clear();
    if (!this.widths.has(key)) {
      pen.font = `${bold ? 700 : 400} ${LABEL.usual}px ${getComputedStyle(this.root).fontFamily}`;
      this.widths.set(key, pen.measureText(text).width);
    }
    return this.widths.get(key);
  }

  // ---- weights ----

  place(row, col) {
    return row * this.data.cols.length + col;
  }

  weightAt(tile, row, col) {
    return this.data.thousandths[tile.offset + this.place(row, col)] / 1000;
  }

  // What can be read on the colour of a weight, as Python has found for each entry of the scale.
  inkOn(thousandth) {
    const { colors, ...on } = this.data.inks;
    return colors[on[this.theme][Math.round((255 * thousandth) / 1000)]];
  }

  // Whether a head may look at a cell, by its place in the map. The mask is one for all heads, or one for each.
  isOpen(offset, place) {
    const { allowed, thousandths } = this.data;
    return !allowed || !!allowed[allowed.length === thousandths.length ? offset + place : place];
  }

  // ---- the lit cell ----

  point(event) {
    const tile = this.tileOf(event);
    const cell = tile && this.sizes ? this.picture.cellAt(this, tile, event) : null;
    if (!cell) {
      if (event.pointerType !== "touch") this.light(null);
      return;
    }
    const now = this.cell;
    if (now?.row !== cell.row || now?.col !== cell.col || now?.tile !== tile) this.light(cell);
  }

  light(cell) {
    const same = !cell && !this.cell;
    this.cell = cell;
    for (const label of this.lit) label.classList.remove("lit");
    this.lit = [];
    for (const tile of this.tiles) {
      setText(tile.parts.title, cell && !this.namesFit ? `${tile.head + 1}` : tile.title);
      setText(tile.parts.value, cell ? this.picture.valueAt(this, tile, cell) : "");
      if (cell && this.sizes) {
        this.lit.push(labelOf(tile.parts.rows, cell.row, this.sizes.ofRows));
        this.lit.push(labelOf(tile.parts.cols, cell.col, this.sizes.ofCols));
      }
    }
    this.lit = this.lit.filter(Boolean); // not every token has a label, and none in the overview
    for (const label of this.lit) label.classList.add("lit");
    this.root.classList.toggle("pointing", !!cell);
    if (!same) this.picture.light(this, cell);
    this.write();
  }

  // Whether all heads' names have room beside a number, measured where they stand: once, until sizes or names change.
  get namesFit() {
    if (this.fit === null) {
      for (const { parts, title } of this.tiles) {
        setText(parts.title, title);
        setText(parts.value, "0.000");
      }
      this.fit = this.tiles.every(({ parts: { title } }) => title.scrollWidth <= title.clientWidth);
    }
    return this.fit;
  }

  // The name of an axis, a token of it, and where that stands.
  named(name, at) {
    const { rows, cols, rowTitle, colTitle } = this.data;
    const [title, labels] = name === "row" ? [rowTitle, rows] : [colTitle, cols];
    return [["name", title], ["token", labels[at]], ["place", `${at + 1}/${labels.length}`]];
  }

  write() {
    const groups = this.cell ? this.picture.told(this, this.cell) : [[["hint", this.hint]]];
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
      if (this.data.large) tile.node.removeAttribute("aria-checked");
      else tile.node.setAttribute("aria-checked", String(tile === chosen));
      tile.node.tabIndex = tile === (chosen ?? this.tiles[0]) ? 0 : -1; // the one tile that Tab reaches
    }
  }

  // On a phone, and with many heads, the large one is out of sight.
  enlarge(tile) {
    if (!tile) return;
    this.choose(tile);
    const large = this.data.enlarged && document.querySelector(`.${this.data.enlarged}`);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    large?.scrollIntoView({ behavior: still ? "auto" : "smooth", block: "nearest" });
  }

  choose(tile, wait = 0) {
    if (!tile) return;
    this.chosen = [tile.layer, tile.head];
    this.markChosen(); // at once, before Python answers
    clearTimeout(this.timer);
    const { row = null, col = null } = this.cell?.tile === tile ? this.cell : {};
    if (this.data.cell && row !== null) this.picture.frame(this, ...(this.data.cell = [row, col]));
    this.timer = setTimeout(() => {
      this.timer = null;
      // The time makes each pick a new value, so that picking the same head again also reaches Python.
      this.send("selected", { layer: tile.layer, head: tile.head, row, col, at: Date.now() });
    }, wait);
  }

  press(event) {
    const tile = this.tileOf(event);
    if (!tile || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const end = { Home: this.tiles[0], End: this.tiles.at(-1) }[event.key];
    if (event.key === "Escape") this.light(null);
    else if (event.key === "Enter" || event.key === " ") this.enlarge(tile);
    else if (step && (event.shiftKey || this.data.large)) {
      this.light({ ...this.picture.next(this, this.cell, ...step), tile });
      this.choose(tile, 150);
    }
    else if (step || end) {
      const next = end ?? (step[0] ? this.neighbour(tile, step[0]) : this.tiles[this.tiles.indexOf(tile) + step[1]]);
      next?.node.focus();
      this.choose(next, 150); // while a key is held down, only the last head is sent
    } else return;
    event.preventDefault();
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
