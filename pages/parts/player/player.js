// Plays a decoding: the whole of it is here, so a step is only a matter of drawing.
//
// Streamlit calls the default function again at each change of data or theme, with no clean-up in between. So one Player
// is kept per mount point; its nodes are updated in place. What the visitor has chosen since wins over what is sent.
// Python joins parts.js and this file into one module.

const BEAT = 1300; // ms between two steps while playing
const GLIDE = 420; // ms in which lines move to their next place
const REST = 350; // ms without a further touch before Python is told
const LINES_HEIGHT = 150;

export default function ({ data, parentElement, setStateValue }) {
  const player = (parentElement.player ??= new Player(parentElement));
  player.update(data, setStateValue);
  return () => player.stop();
}

class Player {
  constructor(parent) {
    this.root = add(parent, "div", "root");
    this.root.addEventListener("keydown", (event) => this.press(event));
    this.makeControls();
    const columns = add(this.root, "div", "columns");
    this.makeStage(add(columns, "div", "left"));
    const right = add(columns, "div", "right");
    this.candidates = panel(right, "candidates");
    this.anchor = panel(right, "anchor");
    this.cache = panel(right, "cache");
    for (const store of [this.anchor, this.cache]) {
      store.cells = add(store.body, "div", "cells");
      store.lines = add(store.body, "div");
    }
    this.sharing = panel(right, "sharing");
    const table = add(this.sharing.body, "table");
    this.sharingHead = add(add(table, "thead"), "tr");
    this.sharingRows = add(table, "tbody");
    this.status = add(this.root, "div", "unseen");
    this.status.setAttribute("role", "status");
    this.timers = { play: null, rest: null };
    this.observer = new ResizeObserver(() => this.data && this.draw(false));
    this.observer.observe(this.stage);
  }

  makeControls() {
    const bar = add(this.root, "div", "controls");
    const act = (change) => () => (this.pause(), this.go(change()));
    this.buttons = {
      first: makeButton(bar, "❘◀", "", act(() => 1)),
      back: makeButton(bar, "◀", "", act(() => this.step - 1)),
      play: makeButton(bar, "▶ Play", "", () => (this.timers.play ? this.pause(true) : this.play())),
      next: makeButton(bar, "▶❘", "", act(() => this.step + 1)),
    };
    this.buttons.play.classList.add("main");
    this.slider = add(bar, "input", "slider");
    this.slider.type = "range";
    this.slider.min = 1;
    this.slider.addEventListener("input", () => (this.pause(), this.go(+this.slider.value)));
    this.count = add(bar, "span", "count");
    this.headBar = add(this.root, "div", "heads");
    this.headBar.setAttribute("role", "group");
  }

  makeStage(left) {
    this.stage = add(left, "div", "stage");
    this.stage.tabIndex = 0;
    this.stage.setAttribute("role", "img");
    this.upper = add(this.stage, "div", "caption");
    this.letters = add(this.stage, "div", "letters");
    this.lines = this.stage.appendChild(makeSvg("svg"));
    this.lines.setAttribute("aria-hidden", "true");
    this.sounds = add(this.stage, "div", "sounds");
    this.lower = add(this.stage, "div", "caption");
    this.rowsTitle = add(left, "h3");
    this.rows = add(left, "div", "rows");
    this.rows.setAttribute("role", "img");
    this.note = add(left, "div", "quiet note");
  }

  stop() {
    this.observer.disconnect();
    this.pause();
    cancelAnimationFrame(this.frame);
  }

  update(data, send) {
    const name = data.weights + data.said.join(" ") + data.source.join(" ");
    const busy = name === this.name && (this.timers.play || this.timers.rest);
    if (name !== this.name) this.pause();
    this.send = send;
    this.data = data;
    this.name = name;
    this.weights = floats(data.weights);
    this.steps = data.said.length;
    this.columns = [...data.source, ...data.own];
    if (!busy) [this.step, this.head] = [data.step, data.head];
    this.observer.observe(this.stage);
    this.build();
    this.draw(false);
  }

  // ---- moving through the decoding ----

  play() {
    if (this.step === this.steps) this.go(1);
    const beat = () => {
      this.go(this.step + 1, false);
      if (this.step < this.steps) this.timers.play = setTimeout(beat, BEAT);
      else this.pause(true);
    };
    this.timers.play = setTimeout(beat, BEAT);
    this.showPlaying();
  }

  pause(tell = false) {
    clearTimeout(this.timers.play);
    this.timers.play = null;
    if (this.data) this.showPlaying();
    if (tell) this.rest();
  }

  go(step, tell = true) {
    const next = Math.max(1, Math.min(this.steps, step));
    if (next === this.step) return;
    this.step = next;
    this.draw(!matchMedia("(prefers-reduced-motion: reduce)").matches);
    if (tell) this.rest();
  }

  choose(head) {
    this.head = head;
    this.draw(false);
    if (!this.timers.play) this.rest();
  }

  rest() {
    clearTimeout(this.timers.rest);
    this.timers.rest = setTimeout(() => {
      this.timers.rest = null;
      this.send("rest", { step: this.step, head: this.head });
    }, REST);
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === this.slider) return; // it knows its own keys
    const to = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 1, End: this.steps }[event.key];
    if (to !== undefined) (this.pause(), this.go(to));
    else if (event.key === " " && event.target === this.stage) this.timers.play ? this.pause(true) : this.play();
    else return;
    event.preventDefault();
  }

  // ---- nodes ----

  build() {
    const { words, heads, sharing } = this.data;
    this.root.classList.toggle("dark", isDark(getComputedStyle(this.root).getPropertyValue("--st-background-color")));
    const theme = this.root.classList.contains("dark") ? "dark" : "light";
    this.root.style.setProperty("--blue", this.data.blue[theme]);
    for (const name of ["first", "back", "next"]) {
      this.buttons[name].setAttribute("aria-label", words[name]);
      this.buttons[name].title = words[name];
    }
    this.slider.max = this.steps;
    this.slider.setAttribute("aria-label", words.slider);
    this.headBar.setAttribute("aria-label", words.heads);
    fill(this.headBar, heads + 1, (head) => {
      const button = makeButton(this.headBar, "", "", () => this.choose(head));
      button.className = "head";
      return button;
    });
    [...this.headBar.children].forEach((button, head) => {
      setText(button, head ? String(head) : words.all);
      button.setAttribute("aria-label", head ? `${words.head} ${head}` : words.all);
      button.title = "";
    });
    setText(this.upper, words.source);
    setText(this.lower, words.target);
    setText(this.candidates.title, words.candidates);
    setText(this.anchor.title, words.anchor);
    setText(this.cache.title, words.cache);
    setText(this.sharing.title, words.sharing);
    fill(this.sharingHead, 4, () => make("th"));
    [words.heads_shared, words.kv_heads, words.anchor_short, words.cache_short].forEach((text, i) => {
      setText(this.sharingHead.children[i], text);
      this.sharingHead.children[i].scope = "col";
    });
    fill(this.sharingRows, sharing.length, makeShare);
    fill(this.letters, this.columns.length, () => make("span", "tile"));
    fill(this.sounds, this.steps, () => make("span", "tile"));
    fill(this.rows, this.steps, () => {
      const row = make("div", "row");
      row.parts = { label: add(row, "span", "label"), cells: add(row, "span", "row-cells") };
      return row;
    });
    this.columns.forEach((text, i) => {
      setText(this.letters.children[i], text);
      this.letters.children[i].classList.toggle("theirs", i >= this.data.source.length);
    });
    for (const row of this.rows.children) fill(row.parts.cells, this.columns.length, () => make("span", "cell"));
  }

  showPlaying() {
    const { words } = this.data;
    setText(this.buttons.play, this.timers.play ? `❚❚ ${words.pause}` : `▶ ${words.play}`);
    this.buttons.play.setAttribute("aria-label", this.timers.play ? words.pause : words.play);
    this.buttons.play.title = "";
  }

  // The weights of a step (from 1) in each column: of the chosen head, or the mean of all.
  row(step) {
    const { heads } = this.data;
    const shown = this.head ? [this.head - 1] : [...Array(heads).keys()];
    return this.columns.map((_, i) => shown.reduce((sum, h) => sum + this.weight(h, step, i), 0) / shown.length);
  }

  weight(head, step, column) {
    return this.weights[(head * this.steps + step - 1) * this.columns.length + column];
  }

  // ---- drawing ----

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
    this.gutter = 44;
    this.cell = Math.min(64, (width - this.gutter) / this.columns.length);
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
      for (const tile of row.children) {
        tile.style.fontSize = `${Math.max(9, Math.min(20, 0.5 * room, (1.5 * room) / tile.textContent.length))}px`;
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
        store.cells.children[i].classList.toggle("long", label.length > 3);
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
    this.lines.setAttribute("height", LINES_HEIGHT);
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
    [...this.lines.children].forEach((path, index) => {
      const [strand, column, weight] = [Math.floor(index / columns), index % columns, weights[index]];
      const aside = (strand - (strands - 1) / 2) * spread;
      const [from, to, h] = [x + aside, this.at(column) + aside, LINES_HEIGHT];
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
