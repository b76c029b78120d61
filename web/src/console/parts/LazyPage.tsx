// A page that is loaded when it is first shown.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ConsolePage, PageProps } from "../pageList";

export function LazyPage({ load, id }: { load: ConsolePage["load"]; id: string }) {
  const [Page, set] = useState<ComponentType<PageProps> | null>(null);
  const [failed, fail] = useState(false);
  useEffect(() => {
    load().then(
      (module) => set(() => module.default),
      () => fail(true),
    );
  }, []);
  if (failed) return <p class="problem">This page could not be loaded: is the server still there?</p>;
  return Page && <Page id={id} />;
}
