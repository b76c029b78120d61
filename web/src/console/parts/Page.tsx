// A page's frame: its title, which has the focus after a change of pages, and what can be done.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

let opened = 0;

interface PageFrame {
  title: string;
  about?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
  wide?: boolean;
}

export function Page({ title, about, actions, children, wide }: PageFrame) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · gametable console`;
  }, [title]);
  useEffect(() => {
    // The first page leaves the focus where the browser has it.
    if (opened++ > 0) heading.current?.focus();
  }, []);
  return (
    <div class={`sheet ${wide ? "wide" : ""}`}>
      <div class="sheet-top">
        <div class="grow">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {about && <p class="quiet">{about}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
    </div>
  );
}
