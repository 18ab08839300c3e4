// Plays a decoding: the whole of it is here, so a step is only a matter of drawing.
//
// Streamlit calls the default function again at each change of data or theme, with no clean-up in between. So one Player
// is kept per mount point; its nodes are updated in place. What the visitor has chosen since wins over what is sent.
// Python joins parts.js, picture.js and this file into one module.

const BEAT = 1300; // ms between two steps while playing
// Letters of the Material Symbols that Streamlit brings along.
const ICONS = { first: "\ue5dc", back: "\ue5cb", play: "\ue037", pause: "\ue034", next: "\ue5cc" };
const REST = 350; // ms without a further touch before Python is told

export default function ({ data, parentElement, setStateValue }) {
  const player = (parentElement.player ??= new Player(parentElement));
  player.update(data, setStateValue);
  return () => player.stop();
}

class Player extends Picture {
  constructor(parent) {
    super();
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
    this.rowsTitle = add(left, "h2");
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
    const dark = isDark(getComputedStyle(this.root).getPropertyValue("--st-background-color"));
    this.root.style.setProperty("--blue", this.data.blue[dark ? "dark" : "light"]);
    for (const name of ["first", "back", "next"]) {
      this.buttons[name].setAttribute("aria-label", words[name]);
      this.buttons[name].title = words[name];
    }
    this.slider.max = this.steps;
    this.slider.setAttribute("aria-label", words.slider);
    this.headBar.setAttribute("aria-label", words.heads);
    fill(this.headBar, heads + 1, (head) => {
      const button = makeButton(this.headBar, "", () => this.choose(head));
      button.className = "head";
      return button;
    });
    [...this.headBar.children].forEach((button, head) => {
      setText(button.parts.text, head ? String(head) : words.all);
      button.setAttribute("aria-label", head ? `${words.head} ${head}` : words.all);
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
    const [icon, name] = this.timers.play ? [ICONS.pause, words.pause] : [ICONS.play, words.play];
    setText(this.buttons.play.parts.icon, icon);
    setText(this.buttons.play.parts.text, name);
    this.buttons.play.setAttribute("aria-label", name);
  }
}
