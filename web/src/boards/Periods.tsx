import { useEffect, useState } from "preact/hooks";
import { Link } from "../shared/address";
import { exact, grouped } from "../shared/numbers";
import { addressOf, periods, type Period } from "./board";

export function Periods({ id, instance }: { id: string; instance: string }) {
  const [list, set] = useState<Period[]>([]);
  useEffect(() => {
    periods(id).then((found) => set(found.periods), () => {});
  }, [id]);
  const others = list.filter((period) => period.instance !== instance);
  if (others.length === 0) return null;
  return (
    <section class="card" aria-labelledby="periods-title">
      <h2 id="periods-title">Other periods and scopes</h2>
      <ul class="periods">
        {others.map((period) => (
          <li key={period.instance}>
            <Link to={addressOf(id, period.scope, period.period)}>
              {[period.scope, period.period].filter(Boolean).join(" · ") || "everybody"}
            </Link>
            <span class="quiet">
              {`${grouped(period.total)} on it`}
              {period.first[0] && `, best ${exact(period.first[0].score)}`}
              {period.sealed && ", final"}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
