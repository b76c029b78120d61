/** A line of what was, without words: the number beside it has those. */
export function Spark({ values }: { values: number[] }) {
  const most = Math.max(...values, 1e-9);
  const least = Math.min(...values, 0);
  const step = 100 / Math.max(1, values.length - 1);
  const y = (value: number) => (26 - ((value - least) / (most - least)) * 24).toFixed(1);
  const line = values.map((value, i) => `${(i * step).toFixed(1)} ${y(value)}`).join("L");
  return (
    <svg class="spark" viewBox="0 0 100 28" preserveAspectRatio="none" aria-hidden="true">
      {values.length > 1 && (
        <>
          <path class="spark-area" d={`M0 28L${line}L100 28Z`} />
          <path class="spark-line" d={`M${line}`} />
        </>
      )}
    </svg>
  );
}
