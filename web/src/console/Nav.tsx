import { useEffect, useState } from "preact/hooks";
import { Link, useAddress } from "../shared/address";
import { Icon } from "../shared/Icon";
import { addressOf, type ConsolePage } from "./pageList";
import { UnlockButton } from "./UnlockButton";
import { WhoAsks } from "./WhoAsks";

function Entry({ page, current }: { page: ConsolePage; current: boolean }) {
  return (
    <li>
      <Link to={addressOf(page.name)} current={current}>
        <svg class="drawing" viewBox="0 0 24 24" aria-hidden="true">
          <path d={page.icon} />
        </svg>
        <span>{page.title}</span>
      </Link>
    </li>
  );
}

/** On a phone the list folds under a button; on a desk it stands at the left. */
export function Nav({ pages }: { pages: ConsolePage[] }) {
  const { path } = useAddress();
  const [, name = ""] = path.split("/").filter(Boolean);
  const [open, set] = useState(false);
  useEffect(() => set(false), [path]);
  const here = pages.find((page) => page.name === name) ?? pages[0];
  return (
    <header class="rail">
      <div class="rail-top">
        <a href="/" class="brand" aria-label="gametable, the pages for players">
          <Icon name="crow" />
          <span>gametable</span>
        </a>
        <button class="rail-fold" aria-expanded={open} aria-controls="rail-nav" onClick={() => set(!open)}>
          {here.title} <span aria-hidden="true">{open ? "▴" : "▾"}</span>
        </button>
        <UnlockButton />
      </div>
      <nav id="rail-nav" aria-label="Console" class={open ? "open" : ""}>
        <ul>
          {pages.map((page) => (
            <Entry key={page.name} page={page} current={page.name === here.name} />
          ))}
        </ul>
        <WhoAsks />
      </nav>
    </header>
  );
}
