import { useEffect, useRef, useState } from "preact/hooks";
import type { Entry } from "../client";
import { compact, grouped } from "../shared/numbers";
import { histogram, type Bucket, type Place } from "./board";

const WIDE = 320;
const HIGH = 120;
const AGAIN_MS = 2000;

/** The histogram, again when the board has changed, but not more often than every two seconds. */
function useBuckets(place: Place, stamp: unknown): Bucket[] {
  const [buckets, set] = useState<Bucket[]>([]);
  const asked = useRef(0);
  useEffect(() => {
    const look = () => {
      asked.current = Date.now();
      histogram(place).then((found) => set(found.buckets), () => {});
    };
    const timer = setTimeout(look, Math.max(0, asked.current + AGAIN_MS - Date.now()));
    return () => clearTimeout(timer);
  }, [stamp]);
  return buckets;
}

interface DistributionProps {
  place: Place;
  mark: Entry | null;
  stamp: unknown;
}

export function Distribution({ place, mark, stamp }: DistributionProps) {
  const buckets = useBuckets(place, stamp);
  if (buckets.length === 0) return null;
  const most = Math.max(...buckets.map(({ count }) => count), 1);
  const step = WIDE / buckets.length;
  const least = buckets[0]!.from;
  const span = buckets[buckets.length - 1]!.to - least;
  const at = mark && span > 0 ? ((Number(mark.score) - least) / span) * WIDE : null;
  return (
    <section class="card" aria-labelledby="plot-title">
      <h2 id="plot-title">How the scores are spread</h2>
      <svg
        class="plot"
        viewBox={`0 -16 ${WIDE} ${HIGH + 36}`}
        role="img"
        aria-label={`Scores from ${grouped(least)} to ${grouped(least + span)}; at most ${grouped(most)} in a step`}
      >
        {buckets.map(({ from, to, count }, i) => (
          <rect key={i} x={i * step + 1} y={HIGH - (count / most) * HIGH} width={Math.max(1, step - 2)} height={(count / most) * HIGH} rx="2">
            <title>{`${grouped(from)} to ${grouped(to)}: ${grouped(count)}`}</title>
          </rect>
        ))}
        <path class="plot-floor" d={`M0 ${HIGH}.5h${WIDE}`} />
        {at !== null && (
          <g class="plot-mark">
            <path d={`M${at} -2V${HIGH}`} />
            <text x={Math.min(WIDE - 30, Math.max(30, at))} y="-5">
              {mark!.name || mark!.member}
            </text>
          </g>
        )}
        <text x="0" y={HIGH + 15}>
          {compact(least)}
        </text>
        <text x={WIDE} y={HIGH + 15} class="end">
          {compact(least + span)}
        </text>
      </svg>
    </section>
  );
}
