// One decoding, and how a step of it is drawn. Joined between parts.js and player.js, whose Player has one or two of them.

const GLIDE = 420; // ms in which lines move to their next place
const LINES_HEIGHT = 7.5; // this and what follows: rem
const GUTTER = 2.75;
const WIDEST_CELL = 4;
const TYPE = { most: 1.25, least: 0.875, crowded: 0.75 };
const MANY = 12; // tokens in a row from which its type may be smaller

class Run {
  // `press`: a letter was clicked. `resized`: there is another width.
  constructor(press, resized) {
    this.press = press;
    this.stage = make("div", "stage");
    const head = add(this.stage, "div", "run-head");
    this.title = add(head, "span", "quiet");
    this.answer = add(head, "span", "answer");
    this.upper = add(this.stage, "div", "quiet");
    this.letters = add(this.stage, "div", "letters");
    this.picture = add(this.stage, "div", "picture");
    this.picture.tabIndex = 0;
    this.picture.setAttribute("role", "img");
    this.lines = this.picture.appendChild(makeSvg("svg"));
    this.lines.setAttribute("aria-hidden", "true");
    this.sounds = add(this.stage, "div", "sounds");
    this.lower = add(this.stage, "div", "quiet");
    this.details = make("div", "details");
    this.whose = add(this.details, "div", "whose");
    this.rowsTitle = add(this.details, "h2");
    this.rows = add(this.details, "div", "rows");
    this.rows.setAttribute("role", "img");
    this.note = add(this.details, "div", "quiet note");
    this.candidates = panel(this.details, "candidates");
    this.observer = new ResizeObserver(resized);
  }

  // `hidden`: the letters that are, where a click changes it; otherwise null.
  build(data, words, hidden) {
    [this.data, this.words, this.hidden] = [data, words, hidden];
    this.weights = floats(data.weights);
    this.steps = data.said.length;
    this.columns = [...data.source, ...data.own];
    setText(this.title, data.title);
    setText(this.whose, data.title);
    setText(this.answer, data.answer);
    setText(this.upper, hidden ? words.hint : words.source);
    setText(this.lower, words.target);
    setText(this.candidates.title, words.candidates);
    const tag = hidden ? "button" : "span";
    if (this.letters.firstChild?.localName !== tag) this.letters.replaceChildren();
    fill(this.letters, this.columns.length, (column) => this.makeLetter(tag, column));
    if (hidden) {
      this.letters.setAttribute("role", "group");
      this.letters.setAttribute("aria-label", words.hidden);
    } else for (const name of ["role", "aria-label"]) this.letters.removeAttribute(name);
    fill(this.sounds, this.steps, () => make("span", "tile"));
    fill(this.rows, this.steps, () => {
      const row = make("div", "row");
      row.parts = { label: add(row, "span", "label"), cells: add(row, "span", "row-cells") };
      return row;
    });
    for (const row of this.rows.children) fill(row.parts.cells, this.columns.length, () => make("span", "cell"));
    this.columns.forEach((text, i) => {
      const tile = this.letters.children[i];
      setText(tile, text);
      tile.classList.toggle("theirs", i >= data.source.length);
      tile.title = i < data.source.length ? "" : text; // longer than a letter
      tile.classList.toggle("end", i === data.source.length - 1);
    });
    this.showHidden();
    this.observer.observe(this.stage);
  }

  makeLetter(tag, column) {
    const tile = make(tag, "tile");
    if (tag === "button") {
      tile.type = "button";
      tile.addEventListener("click", () => this.press(this.place(column)));
    }
    return tile;
  }

  place(column) {
    return column === this.data.source.length - 1 ? "end" : column + 1;
  }

  showHidden() {
    if (!this.hidden) return;
    [...this.letters.children].forEach((tile, i) => {
      const [place, off] = [this.place(i), this.hidden.includes(this.place(i))];
      tile.disabled = i >= this.data.source.length; // the decoder's own column
      tile.classList.toggle("hidden", off);
      tile.setAttribute("aria-pressed", off);
      tile.setAttribute("aria-label", `${this.words.hide} ${this.columns[i]}${place === "end" ? "" : ` ${place}`}`);
    });
  }

  // The weights of a step (from 1) in each column: of the chosen head, or the mean of all.
  row(step) {
    const shown = this.shownHeads();
    return this.columns.map((_, i) => shown.reduce((sum, h) => sum + this.weight(h, step, i), 0) / shown.length);
  }

  // The chosen head where this run has it; otherwise all.
  shownHeads() {
    return this.head ? [this.head - 1] : [...Array(this.data.heads).keys()];
  }

  weight(head, step, column) {
    return this.weights[(head * this.steps + step - 1) * this.columns.length + column];
  }

  // A run that has ended stays at its last step.
  draw(step, head, glide) {
    this.step = Math.min(step, this.steps);
    this.head = head <= this.data.heads ? head : 0;
    const width = this.picture.clientWidth;
    if (!width) return; // in a closed tab; the observer calls again
    this.spread(width);
    this.drawTokens(step > this.steps);
    this.fit();
    this.drawRows();
    this.drawCandidates();
    this.drawLines(glide);
    this.say();
  }

  spread(width) {
    this.gutter = rem(GUTTER);
    this.cell = Math.min(rem(WIDEST_CELL), (width - this.gutter) / this.columns.length);
    const span = this.cell * this.columns.length;
    this.at = (column) => this.gutter + (column + 0.5) * this.cell;
    this.soundAt = (step) => this.gutter + ((step - 0.5) * span) / this.steps;
    for (const node of [this.stage, this.details]) {
      node.style.setProperty("--cell", `${this.cell}px`);
      node.style.setProperty("--sound", `${span / this.steps}px`);
      node.style.setProperty("--gutter", `${this.gutter}px`);
    }
  }

  // A long label such as "</s>" has to fit too.
  fit() {
    for (const [row, room] of [[this.letters, this.cell], [this.sounds, (this.cell * this.columns.length) / this.steps]]) {
      const least = rem(row.children.length > MANY ? TYPE.crowded : TYPE.least);
      for (const tile of row.children) {
        const fitting = Math.min(rem(TYPE.most), 0.5 * room, (1.35 * room) / tile.textContent.length);
        tile.style.fontSize = `${Math.max(least, fitting)}px`;
      }
    }
  }

  drawTokens(over) {
    const { said, gold, ownGrows, source } = this.data;
    const row = this.row(this.step);
    [...this.letters.children].forEach((tile, i) => {
      tile.style.setProperty("--weight", `${Math.round(100 * row[i])}%`);
      tile.classList.toggle("gold", gold[this.step - 1].includes(i));
      tile.classList.toggle("later", ownGrows && i >= source.length + this.step);
    });
    [...this.sounds.children].forEach((tile, i) => {
      setText(tile, i < this.step ? said[i] : "·");
      tile.classList.toggle("now", i === this.step - 1 && !over);
      tile.classList.toggle("later", i >= this.step);
    });
  }

  drawRows() {
    const { said, gold } = this.data;
    const { words } = this;
    setText(this.rowsTitle, this.head ? `${words.rows}, ${words.head} ${this.head}` : `${words.rows}, ${words.mean}`);
    setText(this.note, gold.some((columns) => columns.length) ? words.gold : "");
    [...this.rows.children].forEach((row, i) => {
      const known = i < this.step;
      setText(row.parts.label, known ? said[i] : "");
      row.classList.toggle("now", i === this.step - 1);
      row.classList.toggle("later", !known);
      const weights = known ? this.row(i + 1) : null;
      const none = known && !weights.some((weight) => weight > 0);
      row.classList.toggle("none", none);
      row.title = none ? words.no_keys : "";
      [...row.parts.cells.children].forEach((cell, column) => {
        cell.style.setProperty("--weight", known ? `${Math.round(100 * weights[column])}%` : "0%");
        cell.classList.toggle("gold", known && gold[i].includes(column));
      });
    });
  }

  drawCandidates() {
    const rows = this.data.candidates[this.step - 1];
    fill(this.candidates.body, rows.length, makeBar);
    rows.forEach(([token, share], i) => {
      const { parts } = this.candidates.body.children[i];
      setText(parts.token, token);
      parts.bar.style.width = `${100 * share}%`;
      setText(parts.share, percent(share));
    });
  }

  // Each head is a strand; all heads together are a bundle whose thickness is the mean of their weights.
  drawLines(glide) {
    const shown = this.shownHeads();
    const count = shown.length * this.columns.length;
    this.lines.setAttribute("width", this.picture.clientWidth);
    this.lines.setAttribute("height", rem(LINES_HEIGHT));
    fill(this.lines, count, () => makeSvg("path"));
    const target = { x: this.soundAt(this.step), weights: new Float32Array(count) };
    shown.forEach((head, s) =>
      this.columns.forEach((_, i) => (target.weights[s * this.columns.length + i] = this.weight(head, this.step, i))),
    );
    const from = glide && this.shown?.weights.length === count ? this.shown : target;
    cancelAnimationFrame(this.frame);
    const begin = performance.now();
    const paint = (now) => {
      const done = from === target ? 1 : Math.min(1, Math.max(0, now - begin) / GLIDE);
      const eased = 1 - (1 - done) ** 3;
      const weights = target.weights.map((weight, i) => from.weights[i] + eased * (weight - from.weights[i]));
      this.shown = { x: from.x + eased * (target.x - from.x), weights };
      this.paintLines(shown.length);
      if (done < 1) this.frame = requestAnimationFrame(paint);
    };
    paint(begin);
  }

  paintLines(strands) {
    const { x, weights } = this.shown;
    const spread = Math.min(3.2, 22 / strands);
    const thickest = strands === 1 ? 18 : Math.max(1.6, 26 / strands);
    const columns = this.columns.length;
    const h = rem(LINES_HEIGHT);
    [...this.lines.children].forEach((path, index) => {
      const [strand, column, weight] = [Math.floor(index / columns), index % columns, weights[index]];
      const aside = (strand - (strands - 1) / 2) * spread;
      const [from, to] = [x + aside, this.at(column) + aside];
      path.setAttribute("d", `M${from} ${h} C${from} ${0.45 * h} ${to} ${0.55 * h} ${to} 0`);
      path.setAttribute("stroke-width", (weight * thickest).toFixed(2));
      path.style.display = weight < 0.01 ? "none" : "";
    });
  }

  // What a picture says, for those who do not see it.
  say() {
    const { said, candidates, title } = this.data;
    const { words } = this;
    const row = this.row(this.step);
    const order = row.map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]);
    const looks = order.filter(([weight]) => weight >= 0.05).slice(0, 3);
    const where = looks.map(([weight, i]) => `${this.columns[i]} (${i + 1}) ${Math.round(100 * weight)}\u00a0%`).join(", ");
    const head = this.head ? `${words.head} ${this.head}` : words.mean;
    const chance = percent(candidates[this.step - 1].find(([token]) => token === said[this.step - 1])?.[1] ?? 0);
    this.said = `${title}. ${words.step} ${this.step} / ${this.steps}: ${said[this.step - 1]}, ${chance}. ` +
      `${head}: ${where || words.no_keys}.`;
    this.picture.setAttribute("aria-label", this.said);
    this.rows.setAttribute("aria-label", this.said);
  }

  stop() {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }
}
