import { useRef, useState } from "preact/hooks";
import type { ModelEntity } from "../../logic/model";
import { PALETTE } from "../../logic/modelSeeds";

interface PaletteProps {
  add: (entity: ModelEntity | null) => void;
  drop: (entity: ModelEntity | null, x: number, y: number) => void; // where the pointer was let go
}

interface Drag {
  name: string;
  x: number;
  y: number;
}

const FAR = 8; // pixels: less is a press

/** Entities to be dragged onto the canvas, by mouse or finger; a press, or Enter, lays one down in a free place. */
export function Palette({ add, drop }: PaletteProps) {
  const [drag, set] = useState<Drag | null>(null);
  const from = useRef<{ x: number; y: number } | null>(null);
  const dropped = useRef(false);
  const choices: [string, ModelEntity | null][] = [...PALETTE.map((entity): [string, ModelEntity] => [entity.name, entity]), ["Own entity", null]];
  const move = (name: string, event: PointerEvent) => {
    const start = from.current;
    if (start && (drag || Math.hypot(event.clientX - start.x, event.clientY - start.y) > FAR)) set({ name, x: event.clientX, y: event.clientY });
  };
  const release = (entity: ModelEntity | null, event: PointerEvent) => {
    from.current = null;
    dropped.current = drag !== null;
    if (drag) drop(entity, event.clientX, event.clientY);
    set(null);
  };
  return (
    <>
      {choices.map(([name, entity]) => (
        <button
          key={name}
          class="palette"
          title="Drag it onto the canvas, or press it"
          onPointerDown={(event) => {
            from.current = { x: event.clientX, y: event.clientY };
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerMove={(event) => move(name, event)}
          onPointerUp={(event) => release(entity, event)}
          onPointerCancel={() => {
            from.current = null;
            set(null);
          }}
          onClick={() => {
            if (!dropped.current) add(entity);
            dropped.current = false;
          }}
        >
          + {name}
        </button>
      ))}
      {drag && (
        <span class="ghost" aria-hidden="true" style={{ left: `${drag.x}px`, top: `${drag.y}px` }}>
          {drag.name}
        </span>
      )}
    </>
  );
}
