import { BoardPage } from "./boards/BoardPage";
import { BoardsPage } from "./boards/BoardsPage";
import { HomePage } from "./home/HomePage";
import { PlayPage } from "./play/PlayPage";
import { RoomPage } from "./play/RoomPage";
import { Announcer } from "./shared/announce";
import { Header } from "./shared/Header";
import { KeyGate } from "./shared/KeyGate";
import { useAddress } from "./shared/address";

function Page() {
  const { path, query } = useAddress();
  const [first, second] = path.split("/").filter(Boolean).map(decodeURIComponent);
  if (first === "play" || first === "rooms")
    return second ? <RoomPage key={second} code={second.toUpperCase()} /> : <PlayPage />;
  if (first === "boards")
    return second ? (
      <BoardPage key={path + query} id={second} scope={query.get("scope") ?? ""} period={query.get("period") ?? ""} />
    ) : (
      <BoardsPage />
    );
  return <HomePage />;
}

export function App() {
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        <KeyGate>
          <Page />
        </KeyGate>
      </main>
      <Announcer />
    </>
  );
}
