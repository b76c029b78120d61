// A graph over time, by uPlot; what it shows is also told in words.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface GraphLine {
  label: string;
  values: (number | null)[];
}

interface GraphProps {
  title: string;
  times: number[];
  lines: GraphLine[];
  show: (value: number) => string;
}

const HEIGHT = 190;
const COLOURS = ["--accent", "--cool", "--good", "--grape", "--bad"];

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A time of day on one line, with seconds only where ticks are closer than a minute.
function timeOfDay(seconds: number, step: number): string {
  const text = new Date(seconds * 1000).toTimeString();
  return text.slice(0, step < 60 ? 8 : 5);
}

function optionsOf({ lines, show }: GraphProps, width: number): uPlot.Options {
  const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") }, font: "12px system-ui" };
  return {
    width,
    height: HEIGHT,
    cursor: { y: false },
    legend: { live: true },
    scales: { y: { range: (_, __, most) => [0, Math.max(most * 1.1, 0.001)] } },
    axes: [{ ...axis, space: 72, values: (_, ticks, __, ___, step) => ticks.map((tick) => timeOfDay(tick, step)) }, { ...axis, size: 78, values: (_, ticks) => ticks.map(show) }],
    series: [
      { label: "Time", value: (_: uPlot, value: number | null) => (value === null ? "–" : timeOfDay(value, 1)) },
      ...lines.map(({ label }, i) => ({
        label,
        stroke: colour(COLOURS[i % COLOURS.length]),
        width: 2,
        points: { show: false },
        value: (_: uPlot, value: number | null) => (value === null ? "–" : show(value)),
      })),
    ],
  };
}

function words({ title, lines, show }: GraphProps): string {
  const each = lines.map(({ label, values }) => {
    const known = values.filter((value): value is number => value !== null);
    return known.length ? `${label}: now ${show(known[known.length - 1])}, at most ${show(Math.max(...known))}` : `${label}: nothing yet`;
  });
  return `${title}. ${each.join("; ")}`;
}

export function Graph(props: GraphProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = [props.times, ...props.lines.map(({ values }) => values)] as uPlot.AlignedData;
  const labels = props.lines.map(({ label }) => label).join();
  useEffect(() => {
    const element = place.current!;
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(props, element.clientWidth), data, element);
    };
    make();
    const sized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    sized.observe(element);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", make);
    return () => {
      dark.removeEventListener("change", make);
      sized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [labels]);
  useEffect(() => plot.current?.setData(data), [props.times, props.lines]);
  return <div class="graph" ref={place} role="img" aria-label={words(props)} />;
}
