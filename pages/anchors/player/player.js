// Plays one or two decodings in step: all of them are here, so a step is only a matter of drawing.
//
// Streamlit calls the default function again at each change of data or theme, with no clean-up in between. So one Player
// is kept per mount point; its nodes are updated in place. What the visitor has chosen since wins over what is sent.
// Python joins parts.js, run.js and this file into one module.

const BEAT = 1300; // ms between two steps while playing
// Letters of the Material Symbols that Streamlit brings along.
const ICONS = { first: "\ue5dc", back: "\ue5cb", play: "\ue037", pause: "\ue034", next: "\ue5cc" };
const REST = 350; // ms without a further touch before Python is told

export default function ({ data: [data], parentElement, setStateValue }) {
  const player = (parentElement.player ??= new Player(parentElement));
  player.update(data, setStateValue);
  return () => player.stop();
}

class Player {
  constructor(parent) {
    this.root = add(parent, "div", "root");
    this.root.addEventListener("keydown", (event) => this.press(event));
    this.makeControls();
    this.stages = add(this.root, "div", "columns");
    this.details = add(this.root, "div", "columns");
    const stores = add(this.root, "div", "stores");
    this.anchor = panel(stores, "anchor");
    this.cache = panel(stores, "cache");
    for (const store of [this.anchor, this.cache]) {
      store.cells = add(store.body, "div", "cells");
      store.lines = add(store.body, "div");
    }
    this.sharing = panel(stores, "sharing");
    const table = add(this.sharing.body, "table");
    this.sharingHead = add(add(table, "thead"), "tr");
    this.sharingRows = add(table, "tbody");
    this.status = add(this.root, "div", "unseen");
    this.status.setAttribute("role", "status");
    this.timers = { play: null, rest: null };
    this.runs = [];
  }

  makeControls() {
    const bar = add(this.root, "div", "controls");
    const act = (change) => () => (this.pause(), this.go(change()));
    this.buttons = {
      first: makeButton(bar, ICONS.first, act(() => 1)),
      back: makeButton(bar, ICONS.back, act(() => this.step - 1)),
      play: makeButton(bar, ICONS.play, () => (this.timers.play ? this.pause(true) : this.play())),
      next: makeButton(bar, ICONS.next, act(() => this.step + 1)),
    };
    this.buttons.back.dataset.step = "back";
    this.buttons.next.dataset.step = "next";
    this.buttons.play.classList.add("main");
    this.slider = add(bar, "input", "slider");
    this.slider.type = "range";
    this.slider.min = 1;
    this.slider.addEventListener("input", () => (this.pause(), this.go(+this.slider.value)));
    this.count = add(bar, "span", "count");
    const lines = add(bar, "div", "heads");
    this.headTitle = add(lines, "span", "quiet");
    this.headBar = add(lines, "div", "heads");
    this.headBar.setAttribute("role", "group");
  }

  stop() {
    for (const run of this.runs) run.stop();
    this.pause();
  }

  update(data, send) {
    const control = data.runs[0];
    const name = control.weights + control.said.join(" ") + control.source.join(" ");
    const busy = name === this.name && (this.timers.play || this.timers.rest);
    if (name !== this.name) {
      this.pause();
      this.wanted = null;
    }
    this.send = send;
    this.data = data;
    this.name = name;
    this.steps = Math.max(...data.runs.map((run) => run.said.length));
    if (!busy) [this.step, this.head] = [data.step, data.head];
    this.step = Math.min(this.step, this.steps);
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

  // A letter is hidden, or shown again. Until Python has sent the run that belongs to it, the letters say what is wanted.
  hide(place) {
    const before = this.wanted ?? this.data.hidden;
    this.wanted = before.includes(place) ? before.filter((other) => other !== place) : [...before, place];
    this.runs[1].hidden = this.wanted;
    this.runs[1].showHidden();
    this.send("hide", { places: this.wanted, at: Date.now() });
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
    else if (event.key === " " && event.target.classList.contains("picture")) this.timers.play ? this.pause(true) : this.play();
    else return;
    event.preventDefault();
  }

  // ---- what is drawn ----

  build() {
    const { words, sharing, runs, hidden } = this.data;
    const dark = isDark(getComputedStyle(this.root).getPropertyValue("--st-background-color"));
    this.root.style.setProperty("--blue", this.data.blue[dark ? "dark" : "light"]);
    for (const name of ["first", "back", "next"]) {
      this.buttons[name].setAttribute("aria-label", words[name]);
      this.buttons[name].title = words[name];
    }
    this.slider.max = this.steps;
    this.slider.setAttribute("aria-label", words.slider);
    setText(this.headTitle, words.heads);
    this.headBar.setAttribute("aria-label", words.heads);
    fill(this.headBar, runs[0].heads + 1, (head) => {
      const button = makeButton(this.headBar, "", () => this.choose(head));
      button.className = "head";
      return button;
    });
    [...this.headBar.children].forEach((button, head) => {
      setText(button.parts.text, head ? String(head) : words.all);
      button.setAttribute("aria-label", head ? `${words.head} ${head}` : words.all);
    });
    setText(this.anchor.title, words.anchor);
    setText(this.cache.title, words.cache);
    setText(this.sharing.title, words.sharing);
    fill(this.sharingHead, 4, () => make("th"));
    [words.heads_shared, words.kv_heads, words.anchor_short, words.cache_short].forEach((text, i) => {
      setText(this.sharingHead.children[i], text);
      this.sharingHead.children[i].scope = "col";
    });
    fill(this.sharingRows, sharing.length, makeShare);
    this.buildRuns(runs, hidden);
  }

  buildRuns(runs, hidden) {
    for (const run of this.runs.splice(runs.length)) run.stop();
    while (this.runs.length < runs.length) {
      this.runs.push(new Run((place) => this.hide(place), () => this.data && this.draw(false)));
    }
    for (const [parent, part] of [[this.stages, "stage"], [this.details, "details"]]) {
      const nodes = this.runs.map((run) => run[part]);
      if (nodes.some((node, i) => node !== parent.children[i]) || parent.children.length > nodes.length) {
        parent.replaceChildren(...nodes);
      }
    }
    if (!hidden || (this.wanted && sameMembers(this.wanted, hidden))) this.wanted = null;
    runs.forEach((run, i) => this.runs[i].build(run, this.data.words, i && hidden ? this.wanted ?? hidden : null));
  }

  draw(glide) {
    const { words } = this.data;
    this.root.classList.toggle("narrow", this.root.clientWidth < 760);
    this.root.classList.toggle("playing", !!this.timers.play);
    for (const run of this.runs) run.draw(this.step, this.head, glide);
    this.slider.value = this.step;
    setText(this.count, `${words.step} ${this.step} / ${this.steps}`);
    const newest = new Set(this.runs.map((run) => run.data.said[this.step - 1]).filter(Boolean));
    this.slider.setAttribute("aria-valuetext", `${words.step} ${this.step} / ${this.steps}: ${[...newest].join(" | ")}`);
    this.buttons.first.disabled = this.buttons.back.disabled = this.step === 1;
    this.buttons.next.disabled = this.step === this.steps;
    this.showPlaying();
    [...this.headBar.children].forEach((button, head) => button.setAttribute("aria-pressed", head === this.head));
    this.drawStores();
    setText(this.status, this.runs.map((run) => run.said ?? "").join(" "));
  }

  // Those of the control: what is kept does not depend on what it holds.
  drawStores() {
    const { stores, sharing, words } = this.data;
    const { source, read } = this.data.runs[0];
    const step = Math.min(this.step, read.length);
    for (const [store, grows, labels] of [[this.anchor, false, source], [this.cache, true, read]]) {
      const shown = stores.filter((entry) => entry.grows === grows);
      fill(store.cells, labels.length, () => make("span"));
      labels.forEach((label, i) => {
        const filled = !grows || i < step;
        setText(store.cells.children[i], filled ? label : "");
        store.cells.children[i].className = filled ? "full" : "empty";
      });
      fill(store.lines, shown.length, makeLine);
      shown.forEach((entry, i) => {
        const { label, shape, bytes } = store.lines.children[i].parts;
        // The number of tokens is the last but one of a shape; it is 1 in what is sent of a store that grows.
        const sizes = entry.shape.map((size, d) => (grows && d === entry.shape.length - 2 ? step : size));
        setText(label, entry.label);
        setText(shape, `${entry.copies > 1 ? `${entry.copies} × ` : ""}(${sizes.join(" × ")})`);
        setText(bytes, `${thousands(entry.bytes * (grows ? step : 1))} ${words.bytes}`);
      });
    }
    sharing.forEach(([name, heads, anchor, each], i) => {
      const { parts } = this.sharingRows.children[i];
      [name, heads, thousands(anchor), thousands(each * step)].forEach((text, c) => setText(parts[c], String(text)));
      this.sharingRows.children[i].classList.toggle("here", heads === this.data.kvHeads);
    });
  }

  showPlaying() {
    const { words } = this.data;
    const [icon, name] = this.timers.play ? [ICONS.pause, words.pause] : [ICONS.play, words.play];
    setText(this.buttons.play.parts.icon, icon);
    setText(this.buttons.play.parts.text, name);
    this.buttons.play.setAttribute("aria-label", name);
  }
}
