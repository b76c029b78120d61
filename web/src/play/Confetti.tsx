// Paper in the air, for a few seconds, on a canvas that nobody can click on.
import { useEffect, useRef } from "preact/hooks";
import { still } from "../shared/motion";

const COLOURS = ["#f5a300", "#e4572e", "#17a05d", "#3b82f6", "#c026d3", "#facc15"];
const LASTS_MS = 4500;
const GRAVITY = 0.0011; // pixels a ms²

interface Scrap {
  x: number;
  y: number;
  vx: number;
  vy: number;
  turn: number;
  spin: number;
  size: number;
  colour: string;
}

function throwScrap(width: number, height: number, i: number): Scrap {
  const fromLeft = i % 2 === 0;
  const angle = (fromLeft ? -0.35 : -0.65) * Math.PI + (Math.random() - 0.5) * 0.5;
  const speed = (0.55 + Math.random() * 0.7) * Math.sqrt(height / 800);
  return {
    x: fromLeft ? 0 : width,
    y: height * 0.75,
    vx: Math.cos(angle) * speed,
    vy: Math.sin(angle) * speed * 1.25,
    turn: Math.random() * 7,
    spin: (Math.random() - 0.5) * 0.02,
    size: 6 + Math.random() * 7,
    colour: COLOURS[i % COLOURS.length]!,
  };
}

function step(scrap: Scrap, ms: number): void {
  scrap.vy += GRAVITY * ms;
  scrap.vx *= 0.999 ** ms;
  scrap.vy *= 0.9985 ** ms;
  scrap.x += scrap.vx * ms;
  scrap.y += scrap.vy * ms;
  scrap.turn += scrap.spin * ms;
}

function draw(to: CanvasRenderingContext2D, scrap: Scrap): void {
  to.save();
  to.translate(scrap.x, scrap.y);
  to.rotate(scrap.turn);
  to.scale(1, Math.cos(scrap.turn * 2));
  to.fillStyle = scrap.colour;
  to.fillRect(-scrap.size / 2, -scrap.size / 3, scrap.size, scrap.size / 1.5);
  to.restore();
}

function run(canvas: HTMLCanvasElement, much: number): () => void {
  const to = canvas.getContext("2d")!;
  const ratio = Math.min(2, devicePixelRatio);
  canvas.width = innerWidth * ratio;
  canvas.height = innerHeight * ratio;
  const scraps = Array.from({ length: much }, (_, i) => throwScrap(innerWidth, innerHeight, i));
  const began = performance.now();
  let last = began;
  let frame = 0;
  const next = (now: number) => {
    to.setTransform(ratio, 0, 0, ratio, 0, 0);
    to.clearRect(0, 0, innerWidth, innerHeight);
    to.globalAlpha = Math.min(1, (LASTS_MS - (now - began)) / 800);
    if (now - began >= LASTS_MS) return;
    for (const scrap of scraps) {
      step(scrap, Math.min(40, now - last));
      draw(to, scrap);
    }
    last = now;
    frame = requestAnimationFrame(next);
  };
  frame = requestAnimationFrame(next);
  return () => cancelAnimationFrame(frame);
}

export function Confetti({ much }: { much: number }) {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => (ref.current && !still() ? run(ref.current, much) : undefined), []);
  return <canvas ref={ref} class="confetti" aria-hidden="true" />;
}
