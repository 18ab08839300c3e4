// Marks each term where it first occurs on the page, and says what it means on hover, on focus and on a tap.
//
// The nodes of a text belong to Streamlit and stay as they are. Over the word lies a button of ours, the last child of
// its paragraph: so the keyboard comes by in the order of the texts. Where a text is drawn again its button may go with
// it; whatever changes on the page, the marks are put right a moment later.
//
// No "less than" stands before a letter, a slash or an exclamation mark: Streamlit would take this for markup.

(data) => {
  const WAIT = 250; // ms after a change, so that the page itself comes first
  const LINGER = 200; // ms in which the pointer may go from the term to its meaning
  const GAP = 6; // px between them, and to the edges of the screen

  class Terms {
    constructor() {
      this.buttons = new Map(); // by the name of the term
      this.bubble = document.body.appendChild(document.createElement("div"));
      this.bubble.className = "term-meaning";
      this.bubble.popover = "manual";
      this.bubble.setAttribute("aria-hidden", "true"); // the button's description says the same
      this.name = this.bubble.appendChild(document.createElement("b"));
      this.text = this.bubble.appendChild(document.createElement("span"));
      this.bubble.addEventListener("pointerenter", () => clearTimeout(this.closing));
      this.bubble.addEventListener("pointerleave", () => this.closeSoon());
      const drawings = ".js-plotly-plot, .term-meaning";
      const isText = ({ target }) => !(target.closest ? target : target.parentElement)?.closest(drawings);
      const observer = new MutationObserver((records) => records.some(isText) && this.later());
      observer.observe(document.body, { childList: true, characterData: true, subtree: true });
      new ResizeObserver(() => this.later()).observe(document.body);
      document.addEventListener("pointerdown", (event) => this.isOutside(event) && this.close());
      document.addEventListener("scroll", () => this.isOpen() && this.put(), { capture: true, passive: true });
      // Before anybody else: what is open is closed first, and nothing more happens at this press.
      addEventListener("keydown", (event) => this.press(event), { capture: true });
    }

    update(data) {
      this.data = data;
      this.byForm = new Map(data.terms.flatMap((term) => term.forms.map((form) => [form.toLowerCase(), term])));
      const longestFirst = [...this.byForm.keys()].sort((a, b) => b.length - a.length);
      const anyForm = longestFirst.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
      this.pattern = new RegExp(`(?<=^|[^\\p{L}\\p{N}_])(?:${anyForm})(?![\\p{L}\\p{N}_])`, "giu");
      this.later();
    }

    later() {
      clearTimeout(this.timer);
      const mark = () => this.mark();
      const inAnIdleMoment = window.requestIdleCallback ? () => requestIdleCallback(mark, { timeout: WAIT }) : mark;
      this.timer = setTimeout(inAnIdleMoment, WAIT);
    }

    mark() {
      const seen = new Set();
      for (const paragraph of document.querySelectorAll(`${this.data.page} ${this.data.read}`)) {
        if (paragraph.closest(this.data.notRead) || !paragraph.checkVisibility()) continue;
        for (const [term, range] of this.found(paragraph)) {
          if (seen.has(term.name)) continue;
          seen.add(term.name);
          this.place(term, range, paragraph);
        }
      }
      for (const [name, button] of this.buttons) {
        if (seen.has(name)) continue;
        button.remove();
        this.buttons.delete(name);
      }
    }

    *found(paragraph) {
      const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node.parentElement.closest(`${this.data.notRead}, .term`)) continue;
        for (const match of node.data.matchAll(this.pattern)) {
          const range = document.createRange();
          range.setStart(node, match.index);
          range.setEnd(node, match.index + match[0].length);
          yield [this.byForm.get(match[0].toLowerCase()), range];
        }
      }
    }

    place(term, range, paragraph) {
      if (!this.buttons.has(term.name)) this.buttons.set(term.name, this.make(term));
      const button = this.buttons.get(term.name);
      const [word, box] = [range.getClientRects()[0], paragraph.getBoundingClientRect()];
      paragraph.style.position = "relative";
      if (button.parentElement !== paragraph) paragraph.append(button);
      const lengths = { left: word.left - box.left, top: word.top - box.top, width: word.width, height: word.height };
      for (const [name, px] of Object.entries(lengths)) {
        const length = `${px.toFixed(1)}px`;
        if (button.style[name] !== length) button.style[name] = length;
      }
    }

    make(term) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "term";
      button.setAttribute("aria-label", term.name);
      button.setAttribute("aria-description", term.means);
      button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.open(button, term));
      button.addEventListener("pointerleave", () => this.closeSoon());
      button.addEventListener("focus", () => this.open(button, term));
      button.addEventListener("blur", () => this.close());
      button.addEventListener("click", () => this.open(button, term));
      return button;
    }

    open(button, term) {
      clearTimeout(this.closing);
      this.name.textContent = term.name;
      this.text.textContent = ` ${term.means}`;
      this.at = button;
      this.bubble.showPopover();
      this.put();
    }

    put() {
      const [word, box] = [this.at.getBoundingClientRect(), this.bubble.getBoundingClientRect()];
      // Above the word: what comes next stands beside it or below.
      const above = word.top - box.height - GAP;
      this.bubble.style.top = `${above >= GAP ? above : word.bottom + GAP}px`;
      this.bubble.style.left = `${Math.max(GAP, Math.min(word.left, innerWidth - box.width - GAP))}px`;
    }

    closeSoon() {
      clearTimeout(this.closing);
      this.closing = setTimeout(() => this.close(), LINGER);
    }

    close() {
      clearTimeout(this.closing);
      if (this.isOpen()) this.bubble.hidePopover();
    }

    isOpen() {
      return this.bubble.matches(":popover-open");
    }

    isOutside(event) {
      return !event.target.closest?.(".term, .term-meaning");
    }

    press(event) {
      if (event.key !== "Escape" || !this.isOpen()) return;
      this.close();
      event.stopImmediatePropagation();
    }
  }

  (window.markedTerms ??= new Terms()).update(data); // no name that a heading may have
}
