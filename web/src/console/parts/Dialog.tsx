import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface DialogProps {
  title: string;
  close: () => void;
  children: ComponentChildren;
  wide?: boolean;
}

/** The browser's own dialog: it keeps the focus, Escape closes it, and the focus comes back to where it was. */
export function Dialog({ title, close, children, wide }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const gone = useRef(false);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    dialog.current?.showModal();
    return () => {
      gone.current = true; // its event comes when another dialog may be in its place
      dialog.current?.close(); // what is behind an open one cannot be focused
      before?.focus?.();
    };
  }, []);
  return (
    <dialog ref={dialog} class={wide ? "wide" : ""} aria-labelledby={id} onClose={() => gone.current || close()} onCancel={close}>
      <div class="panel-top">
        <h2 id={id}>{title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick={close}>
          <svg class="drawing" viewBox="0 0 24 24" aria-hidden="true">
            <path d="M6 6l12 12M18 6L6 18" />
          </svg>
        </button>
      </div>
      {children}
    </dialog>
  );
}
