"""How large the type on a page is: every text that can be seen, in shadow roots, charts and canvases too."""

# The sizes of `--small`, and of labels in the maps and rows of which CONTRIBUTING.md says that they may be smaller.
SMALLEST, CROWDED = 14, 12
LABELS = ".cols, .rows, .letters, .sounds"

# Canvases are asked while they are painted.
WATCH_CANVASES = """() => {
    window.painted = [];
    for (const name of ["fillText", "strokeText"]) {
        const paint = CanvasRenderingContext2D.prototype[name];
        CanvasRenderingContext2D.prototype[name] = function (text, ...more) {
            // A canvas that is enlarged or reduced by its style does the same to its type.
            const { width, clientWidth } = this.canvas;
            const size = parseFloat(this.font.match(/([\\d.]+)px/)[1]);
            if (clientWidth) window.painted.push([size * this.getTransform().a * (clientWidth / width), text]);
            return paint.call(this, text, ...more);
        };
    }
}"""

SEEN = """labels => {
    const found = { text: [], labels: [] };
    const look = root => {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        for (let node = walker.currentNode; node; node = walker.nextNode()) {
            if (node.shadowRoot) look(node.shadowRoot);
            const parent = node.parentElement;
            if (node.nodeType !== Node.TEXT_NODE || !node.textContent.trim() || !parent) continue;
            if (parent.closest("style, script, noscript, .katex-mathml, .unseen")) continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            const box = range.getBoundingClientRect();
            if (box.width < 2 || box.height < 2 || !parent.checkVisibility({ visibilityProperty: true })) continue;
            const kind = parent.closest(labels) ? "labels" : "text";
            found[kind].push([parseFloat(getComputedStyle(parent).fontSize), node.textContent.trim().slice(0, 40)]);
        }
    };
    look(document.body);
    found.text.push(...window.painted);
    return found;
}"""


def watch_type(page) -> None:
    """To be called before the page is opened."""
    page.add_init_script(f"({WATCH_CANVASES})()")


def type_of(page) -> tuple[list, list]:
    """(size in px, text) of all that is written on the page, and of the labels that may be smaller, smallest first."""
    found = page.evaluate(SEEN, LABELS)
    return sorted(found["text"]), sorted(found["labels"])
