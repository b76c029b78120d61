// A clock that runs down around something, by the server's time.
import { serverNow } from "./clock";

interface RingProps {
  startsAt: number;
  endsAt: number;
}

export function Ring({ startsAt, endsAt }: RingProps) {
  const whole = Math.max(1, endsAt - startsAt);
  const past = Math.min(whole, Math.max(0, serverNow() - startsAt));
  // A style of its own for every run: a new key is a new element, which begins anew.
  return (
    <svg class="ring" viewBox="0 0 100 100" aria-hidden="true">
      <circle class="ring-track" cx="50" cy="50" r="47" />
      {endsAt > 0 && (
        <circle
          key={endsAt}
          class="ring-rest"
          cx="50"
          cy="50"
          r="47"
          pathLength={1}
          style={{ animationDuration: `${whole}ms`, animationDelay: `${-past}ms` }}
        />
      )}
    </svg>
  );
}
