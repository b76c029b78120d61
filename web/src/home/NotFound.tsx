import { Link } from "../shared/address";
import { useTitle } from "../shared/title";

export function NotFound() {
  useTitle("Nothing here");
  return (
    <div class="page narrow centred">
      <h1>There is nothing here</h1>
      <p class="quiet">The link may be old, or mistyped.</p>
      <p class="hero-links">
        <Link to="/play" class="button main">
          Play
        </Link>
        <Link to="/boards" class="button">
          Boards
        </Link>
        <Link to="/" class="button">
          Start
        </Link>
      </p>
    </div>
  );
}
