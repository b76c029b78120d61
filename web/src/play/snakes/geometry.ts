// Where squares are: ten rows from the bottom, every other one from right to left, a unit of ten each.
export interface Point {
  x: number;
  y: number;
}

export const SIDE = 10;

/** The middle of a square; 0 is the start, below the first. */
export function centre(square: number): Point {
  if (square <= 0) return { x: 5, y: 105.5 };
  const row = Math.floor((square - 1) / SIDE);
  const along = (square - 1) % SIDE;
  const column = row % 2 === 0 ? along : SIDE - 1 - along;
  return { x: column * SIDE + 5, y: (SIDE - 1 - row) * SIDE + 5 };
}

export function between(a: Point, b: Point, t: number): Point {
  return { x: a.x + (b.x - a.x) * t, y: a.y + (b.y - a.y) * t };
}

/** A body that winds from head to tail and gets thinner: the outline, and where it looks. */
export function snakeShape(head: Point, tail: Point, phase: number): { outline: string; spine: string; angle: number } {
  const STEPS = 44;
  const dx = tail.x - head.x;
  const dy = tail.y - head.y;
  const length = Math.hypot(dx, dy);
  const across = { x: -dy / length, y: dx / length };
  const waves = Math.max(1, Math.round(length / 22));
  const at = (t: number): Point => {
    const sway = Math.sin(t * waves * 2 * Math.PI + phase * Math.PI) * 2.6 * Math.min(1, 6 * t, 5 * (1 - t) + 0.2);
    return { x: head.x + dx * t + across.x * sway, y: head.y + dy * t + across.y * sway };
  };
  const left: Point[] = [];
  const right: Point[] = [];
  const middle: Point[] = [];
  for (let i = 0; i <= STEPS; i++) {
    const t = i / STEPS;
    const here = at(t);
    const next = at(Math.min(1, t + 0.01));
    const before = at(Math.max(0, t - 0.01));
    const slope = Math.atan2(next.y - before.y, next.x - before.x);
    const half = 1.25 * (1 - t) ** 0.6 + 0.12;
    left.push({ x: here.x - Math.sin(slope) * half, y: here.y + Math.cos(slope) * half });
    right.push({ x: here.x + Math.sin(slope) * half, y: here.y - Math.cos(slope) * half });
    middle.push(here);
  }
  const text = (points: Point[]) => points.map(({ x, y }) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L");
  const neck = at(0.06);
  return {
    outline: `M${text([...left, ...right.reverse()])}Z`,
    spine: `M${text(middle.slice(2, -4))}`,
    angle: (Math.atan2(head.y - neck.y, head.x - neck.x) * 180) / Math.PI,
  };
}

/** Two rails and rungs between two squares. */
export function ladderShape(foot: Point, top: Point): { rails: string; rungs: string } {
  const dx = top.x - foot.x;
  const dy = top.y - foot.y;
  const length = Math.hypot(dx, dy);
  const across = { x: (-dy / length) * 1.7, y: (dx / length) * 1.7 };
  const side = (point: Point, sign: number) => `${(point.x + sign * across.x).toFixed(2)} ${(point.y + sign * across.y).toFixed(2)}`;
  const rungs = Math.max(3, Math.round(length / 4));
  const steps = Array.from({ length: rungs }, (_, i) => between(foot, top, (i + 0.5) / rungs));
  return {
    rails: `M${side(foot, -1)}L${side(top, -1)}M${side(foot, 1)}L${side(top, 1)}`,
    rungs: steps.map((step) => `M${side(step, -1)}L${side(step, 1)}`).join(""),
  };
}

/** Where a piece stands among others on its square. */
export function spread(index: number, count: number): Point {
  if (count <= 1) return { x: 0, y: 0 };
  const angle = (index / count) * 2 * Math.PI - Math.PI / 2;
  return { x: Math.cos(angle) * 2.2, y: Math.sin(angle) * 2.2 };
}
