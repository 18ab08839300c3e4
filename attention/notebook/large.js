// One head as a map of squares with the numbers in its cells, and a frame around the chosen one.
// The same things as in squares.js. Joined behind it, and in front of head_grid.js.

const large = {
  ...squares,
  sizes: largeSizes,

  paint(grid) {
    squares.paint(grid);
    if (!grid.sizes) return; // in a closed tab or expander
    const { rows, cols, cell, words, numbers: texts } = grid.data;
    const [{ parts, offset }] = grid.tiles;
    const numbers = (parts.numbers ??= add(parts.map, "div", "numbers"));
    const chosen = (parts.chosen ??= add(parts.map, "div", "chosen"));
    numbers.setAttribute("aria-hidden", "true"); // the picture's name has them in words
    numbers.style.setProperty("--cols", cols.length);
    fill(numbers, grid.sizes.numbered ? texts.length : 0, () => make("span"));
    [...numbers.children].forEach((node, place) => {
      const open = grid.isOpen(offset, place);
      const begins = place % cols.length === 0 && cols.every((_, col) => !grid.isOpen(offset, place + col));
      node.className = begins ? "closed" : "";
      node.style.color = open ? grid.inkOn(grid.data.thousandths[offset + place]) : "";
      setText(node, open ? shortened(texts[place], grid.sizes.short) : begins ? words.no_keys : "");
    });
    chosen.hidden = !cell;
    if (cell) large.frame(grid, ...cell);
  },

  frame(grid, row, col) {
    const [x, y] = [col * grid.sizes.cellWidth, row * grid.sizes.cellHeight];
    grid.tiles[0].parts.chosen.style.transform = `translate(${x}px, ${y}px)`;
  },

  // The first press of a key goes on from the chosen cell.
  next(grid, cell, down, right) {
    const [row, col] = grid.data.cell ?? [-down, -right];
    return squares.next(grid, cell ?? { row, col }, down, right);
  },
};

// "0.12" as ".12", "1.00" as "1.0".
const shortened = (text, short) => (!short ? text : text.startsWith("0") ? text.slice(1) : text.slice(0, 3));
