// A head as a map of squares: one canvas pixel for each cell, which CSS enlarges without smoothing (image-rendering:
// pixelated). Cells that may not be attended to are transparent, and the hatching behind the canvas shows through.
// `squares` and `lines` (lines.js) can do the same things; head_grid.js calls either. Joined in front of it.

const squares = {
  sizes: squareSizes,

  paint(grid) {
    const { rows, cols } = grid.data;
    const pixels = new Uint32Array(rows.length * cols.length);
    for (const { parts, offset } of grid.tiles) {
      for (let i = 0; i < pixels.length; i++) {
        pixels[i] = grid.isOpen(offset, i) ? grid.table[grid.data.thousandths[offset + i]] : 0;
      }
      putPixels(parts.canvas, pixels, cols.length, rows.length);
    }
  },

  // The cell that the pointer is on, if any.
  cellAt(grid, tile, event) {
    if (!event.target.closest(".map")) return null;
    const box = tile.parts.map.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / grid.sizes.cellHeight);
    const col = Math.floor((event.clientX - box.left) / grid.sizes.cellWidth);
    return { row: within(row, grid.data.rows.length), col: within(col, grid.data.cols.length), tile };
  },

  // The cell beside the lit one; the first press of a key lights the first cell.
  next(grid, cell, down, right) {
    const { row, col } = cell ?? { row: -down, col: -right };
    return { row: within(row + down, grid.data.rows.length), col: within(col + right, grid.data.cols.length) };
  },

  // Set on each mark: a variable on the root would make the browser restyle every label at each move.
  light(grid, cell) {
    if (!cell || !grid.sizes) return;
    const [x, y] = [cell.col * grid.sizes.cellWidth, cell.row * grid.sizes.cellHeight];
    for (const { parts } of grid.tiles) parts.mark.style.transform = `translate(${x}px, ${y}px)`;
  },

  valueAt(grid, tile, { row, col }) {
    return grid.isOpen(tile.offset, grid.place(row, col)) ? grid.weightAt(tile, row, col).toFixed(3) : "–";
  },

  // What is said of a cell, in parts that each stay on one line: [[kind, text], …].
  told(grid, { row, col, tile }) {
    const { cols, words } = grid.data;
    const { offset } = tile ?? grid.tiles[0];
    const parts = [grid.named("row", row), grid.named("col", col)];
    if (grid.isOpen(offset, grid.place(row, col))) {
      if (tile) parts.push([["name", tile.name], ["number", squares.valueAt(grid, tile, { row, col })]]);
    } else {
      const anyKey = cols.some((_, other) => grid.isOpen(offset, grid.place(row, other)));
      parts.push([["closed", anyKey ? words.masked : words.no_keys]]);
    }
    return parts;
  },
};

function putPixels(canvas, pixels, width, height) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer), width, height);
  canvas.getContext("2d").putImageData(image, 0, 0);
}
