import { useEffect, useRef } from "preact/hooks";
import { HomePage } from "./home/HomePage";
import { NotFound } from "./home/NotFound";
import { OwnRooms } from "./play/OwnRooms";
import { PlayPage } from "./play/PlayPage";
import { RoomPage } from "./play/RoomPage";
import { Announcer } from "./shared/announce";
import { Header } from "./shared/Header";
import { KeyGate } from "./shared/KeyGate";
import { useAddress } from "./shared/address";
import { late } from "./shared/late";

const BoardPage = late(() => import("./boards/pages").then((pages) => pages.BoardPage));
const BoardsPage = late(() => import("./boards/pages").then((pages) => pages.BoardsPage));
const TvPage = late(() => import("./play/TvPage").then((pages) => pages.TvPage));

/** A path that is not well encoded leads nowhere. */
function partsOf(path: string): string[] {
  try {
    return path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    return ["%"];
  }
}

function Page() {
  const { path, query } = useAddress();
  const [first, second, third, ...more] = partsOf(path);
  const code = second?.toUpperCase() ?? "";
  if (more.length > 0) return <NotFound />;
  if (first === "play" || first === "rooms") {
    if (third === "tv") return <TvPage key={code} code={code} />;
    if (third !== undefined) return <NotFound />;
    return second ? <RoomPage key={code} code={code} /> : <PlayPage />;
  }
  if (first === "boards" && third === undefined)
    return second ? (
      <BoardPage key={path + query} id={second} scope={query.get("scope") ?? ""} period={query.get("period") ?? ""} />
    ) : (
      <BoardsPage />
    );
  return first === undefined ? <HomePage /> : <NotFound />;
}

/** On another page the focus is at its beginning, where a screen reader goes on reading. */
function useFocusOnChange() {
  const { path } = useAddress();
  const main = useRef<HTMLElement>(null);
  const before = useRef(path);
  useEffect(() => {
    if (before.current !== path) main.current?.focus({ preventScroll: true });
    before.current = path;
  }, [path]);
  return main;
}

export function App() {
  const main = useFocusOnChange();
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <Header />
      <main id="main" tabIndex={-1} ref={main}>
        <KeyGate guests={<OwnRooms />}>
          <Page />
        </KeyGate>
      </main>
      <Announcer />
    </>
  );
}
