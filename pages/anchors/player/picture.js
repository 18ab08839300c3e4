// How a step of the decoding is drawn. Joined between parts.js and player.js, whose Player makes the nodes used here.

const GLIDE = 420; // ms in which lines move to their next place
const LINES_HEIGHT = 9.375; // this and what follows: rem
const GUTTER = 2.75;
const WIDEST_CELL = 4;
const TYPE = { most: 1.25, least: 0.875, crowded: 0.75 };
const MANY = 12; // tokens in a row from which its type may be smaller

class Picture {
  // The weights of a step (from 1) in each column: of the chosen head, or the mean of all.
  row(step) {
    const { heads } = this.data;
    const shown = this.head ? [this.head - 1] : [...Array(heads).keys()];
    return this.columns.map((_, i) => shown.reduce((sum, h) => sum + this.weight(h, step, i), 0) / shown.length);
  }

  weight(head, step, column) {
    return this.weights[(head * this.steps + step - 1) * this.columns.length + column];
  }

  draw(glide) {
    const width = this.stage.clientWidth;
    if (!width) return; // in a closed tab; the observer calls again
    this.place(width);
    this.drawTokens();
    this.fit();
    this.drawRows();
    this.drawCandidates();
    this.drawStores();
    this.drawLines(glide);
    this.say();
  }

  place(width) {
    this.gutter = rem(GUTTER);
    this.cell = Math.min(rem(WIDEST_CELL), (width - this.gutter) / this.columns.length);
    const span = this.cell * this.columns.length;
    this.at = (column) => this.gutter + (column + 0.5) * this.cell;
    this.soundAt = (step) => this.gutter + ((step - 0.5) * span) / this.steps;
    this.root.style.setProperty("--cell", `${this.cell}px`);
    this.root.style.setProperty("--sound", `${span / this.steps}px`);
    this.root.style.setProperty("--gutter", `${this.gutter}px`);
    this.root.classList.toggle("narrow", this.root.clientWidth < 760);
  }

  // A long label such as "</s>" has to fit too.
  fit() {
    for (const [row, room] of [[this.letters, this.cell], [this.sounds, (this.cell * this.columns.length) / this.steps]]) {
      const least = rem(row.children.length > MANY ? TYPE.crowded : TYPE.least);
      for (const tile of row.children) {
        const fitting = Math.min(rem(TYPE.most), 0.5 * room, (1.5 * room) / tile.textContent.length);
        tile.style.fontSize = `${Math.max(least, fitting)}px`;
      }
    }
  }

  drawTokens() {
    const { said, gold, own, source, words } = this.data;
    this.root.classList.toggle("playing", !!this.timers.play);
    const row = this.row(this.step);
    [...this.letters.children].forEach((tile, i) => {
      tile.style.setProperty("--weight", `${Math.round(100 * row[i])}%`);
      tile.classList.toggle("gold", gold[this.step - 1].includes(i));
      tile.classList.toggle("later", i >= source.length + this.step && own.length > 0 && own.length === this.steps);
    });
    [...this.sounds.children].forEach((tile, i) => {
      setText(tile, i < this.step ? said[i] : "·");
      tile.classList.toggle("now", i === this.step - 1);
      tile.classList.toggle("later", i >= this.step);
    });
    this.slider.value = this.step;
    setText(this.count, `${words.step} ${this.step} / ${this.steps}`);
    this.slider.setAttribute("aria-valuetext", `${words.step} ${this.step} / ${this.steps}: ${said[this.step - 1]}`);
    this.buttons.first.disabled = this.buttons.back.disabled = this.step === 1;
    this.buttons.next.disabled = this.step === this.steps;
    this.showPlaying();
    [...this.headBar.children].forEach((button, head) => button.setAttribute("aria-pressed", head === this.head));
  }

  drawRows() {
    const { said, words, gold } = this.data;
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

  drawStores() {
    const { stores, source, read, sharing, words } = this.data;
    for (const [store, grows, labels] of [[this.anchor, false, source], [this.cache, true, read]]) {
      const shown = stores.filter((entry) => entry.grows === grows);
      fill(store.cells, labels.length, () => make("span"));
      labels.forEach((label, i) => {
        const filled = !grows || i < this.step;
        setText(store.cells.children[i], filled ? label : "");
        store.cells.children[i].className = filled ? "full" : "empty";
      });
      fill(store.lines, shown.length, makeLine);
      shown.forEach((entry, i) => {
        const { label, shape, bytes } = store.lines.children[i].parts;
        // The number of tokens is the last but one of a shape; it is 1 in what is sent of a store that grows.
        const sizes = entry.shape.map((size, d) => (grows && d === entry.shape.length - 2 ? this.step : size));
        setText(label, entry.label);
        setText(shape, `${entry.copies > 1 ? `${entry.copies} × ` : ""}(${sizes.join(" × ")})`);
        setText(bytes, `${thousands(entry.bytes * (grows ? this.step : 1))} ${words.bytes}`);
      });
    }
    sharing.forEach(([name, heads, anchor, each], i) => {
      const { parts } = this.sharingRows.children[i];
      [name, heads, thousands(anchor), thousands(each * this.step)].forEach((text, c) => setText(parts[c], String(text)));
      this.sharingRows.children[i].classList.toggle("here", heads === this.data.kvHeads);
    });
  }

  // Each head is a strand; all heads together are a bundle whose thickness is the mean of their weights.
  drawLines(glide) {
    const { heads } = this.data;
    const shown = this.head ? [this.head - 1] : [...Array(heads).keys()];
    const count = shown.length * this.columns.length;
    this.lines.setAttribute("width", this.stage.clientWidth);
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
    const { said, words, candidates } = this.data;
    const row = this.row(this.step);
    const order = row.map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]);
    const looks = order.filter(([weight]) => weight >= 0.05).slice(0, 3);
    const where = looks.map(([weight, i]) => `${this.columns[i]} (${i + 1}) ${Math.round(100 * weight)} %`).join(", ");
    const head = this.head ? `${words.head} ${this.head}` : words.mean;
    const chance = percent(candidates[this.step - 1].find(([token]) => token === said[this.step - 1])?.[1] ?? 0);
    const text = `${words.step} ${this.step} / ${this.steps}: ${said[this.step - 1]}, ${chance}. ` +
      `${head}: ${where || words.no_keys}.`;
    this.stage.setAttribute("aria-label", text);
    this.rows.setAttribute("aria-label", text);
    setText(this.status, text);
  }
}
