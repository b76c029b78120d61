// The board: where a square sends the player who lands on it.
export const standardBoard = {
  size: 100,
  snakesAndLadders: [
    [2, 38], [7, 14], [8, 31], [15, 26], [21, 42], [28, 84], [36, 44], [51, 67], [71, 91], [78, 98],
    [16, 6], [46, 25], [49, 11], [62, 19], [64, 60], [74, 53], [89, 68], [92, 88], [95, 75], [99, 80],
  ].map(([from, to]) => ({ from, to })),
};

// A roll past the end is not moved; the last square must be met exactly.
export function landing({ size, snakesAndLadders }, position, roll) {
  const square = position + roll;
  if (square > size) return position;
  return snakesAndLadders.find(({ from }) => from === square)?.to ?? square;
}
