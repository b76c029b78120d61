import { LazyPage } from "./parts/LazyPage";
import { Announcer } from "../shared/announce";
import { useAddress } from "../shared/address";
import { Nav } from "./Nav";
import { SessionGate } from "./SessionGate";
import { PAGES, pageOf } from "./pageList";

function CurrentPage() {
  const { path } = useAddress();
  const [, name = "", id = ""] = path.split("/").filter(Boolean).map(decodeURIComponent);
  const page = pageOf(name);
  return <LazyPage key={`${page.name}/${id}`} load={page.load} id={id} />;
}

export function Console() {
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <SessionGate>
        <div class="console">
          <Nav pages={PAGES} />
          <main id="main" tabIndex={-1}>
            <CurrentPage />
          </main>
        </div>
      </SessionGate>
      <Announcer />
    </>
  );
}
