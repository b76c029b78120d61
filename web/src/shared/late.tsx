// Pages that are files of their own, loaded when somebody goes there: who plays does not wait for boards.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

export function late<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let found: ComponentType<P> | undefined;
  return function Late(props: P) {
    const [state, set] = useState<"loading" | "none" | "here">(found ? "here" : "loading");
    useEffect(() => {
      if (found) return;
      load().then(
        (page) => {
          found = page;
          set("here");
        },
        () => set("none"),
      );
    }, []);
    const Page = found;
    if (state === "here" && Page) return <Page {...props} />;
    return (
      <div class="page">
        {state === "none" && (
          <p class="problem" role="alert">
            The page could not be loaded. <a href="">Try again</a>
          </p>
        )}
      </div>
    );
  };
}
