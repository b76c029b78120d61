import { useRef } from "preact/hooks";
import { TABLE, type Model, type ModelEntity } from "../../logic/model";
import { Panel } from "../../parts/Panel";
import { EntityCard } from "./EntityCard";
import { Links } from "./Links";
import { Palette } from "./Palette";

interface CanvasProps {
  model: Model;
  set: (model: Model) => void;
  chosen: string;
  choose: (name: string) => void;
}

const CARD = { width: 290, height: 240 };

function freeName(model: Model, name: string): string {
  let free = name;
  for (let n = 2; model.entities.some((entity) => entity.name === free); n++) free = `${name}${n}`;
  return free;
}

/** An entity of the palette in this model: keys of indexes that are not here are left out. */
function laid(model: Model, pattern: ModelEntity | null, at: { x: number; y: number }): ModelEntity {
  const own: ModelEntity = {
    name: "Entity",
    fields: [{ name: "id", type: "S" }],
    keys: { [TABLE]: { pk: "ENTITY#${id}", sk: "META" } },
    count: 1000,
    bytes: 300,
    ...at,
  };
  const entity = structuredClone(pattern ?? own);
  const names = model.indexes.map(({ name }) => name);
  const keys = Object.fromEntries(Object.entries(entity.keys).filter(([name]) => names.includes(name)));
  return { ...entity, keys, name: freeName(model, entity.name), ...at };
}

function freePlace(model: Model): { x: number; y: number } {
  for (let n = 0; ; n++) {
    const place = { x: 20 + (n % 3) * 320, y: 20 + Math.floor(n / 3) * 270 };
    if (!model.entities.some(({ x, y }) => Math.abs(x - place.x) < 200 && Math.abs(y - place.y) < 160)) return place;
  }
}

/** Entities are dragged here, by pointer or by arrow keys; a line joins those that one query of a partition reads. */
export function Canvas({ model, set, chosen, choose }: CanvasProps) {
  const area = useRef<HTMLDivElement>(null);
  const add = (entity: ModelEntity | null, at = freePlace(model)) => {
    const next = laid(model, entity, at);
    set({ ...model, entities: [...model.entities, next] });
    choose(next.name);
  };
  const move = (name: string, x: number, y: number) =>
    set({
      ...model,
      entities: model.entities.map((entity) => (entity.name === name ? { ...entity, x: Math.max(0, x), y: Math.max(0, y) } : entity)),
    });
  const drop = (entity: ModelEntity | null, x: number, y: number) => {
    const seen = area.current?.parentElement?.getBoundingClientRect();
    const box = area.current?.getBoundingClientRect();
    if (!seen || !box || x < seen.left || x > seen.right || y < seen.top || y > seen.bottom) return;
    add(entity, { x: Math.max(0, x - box.left - CARD.width / 2), y: Math.max(0, y - box.top - 20) });
  };
  const width = Math.max(960, ...model.entities.map(({ x }) => x + CARD.width + 30));
  const height = Math.max(300, ...model.entities.map(({ y }) => y + CARD.height + 30));
  return (
    <Panel title="Entities" actions={<Palette add={(entity) => add(entity)} drop={drop} />}>
      <div class="canvas-scroll" tabIndex={0} role="group" aria-label="Canvas">
        <div class="canvas" ref={area} style={{ width: `${width}px`, height: `${height}px` }}>
          <Links model={model} width={width} height={height} card={CARD} />
          {model.entities.map((entity) => (
            <EntityCard
              key={entity.name}
              model={model}
              entity={entity}
              chosen={chosen === entity.name}
              choose={() => choose(chosen === entity.name ? "" : entity.name)}
              move={(x, y) => move(entity.name, x, y)}
            />
          ))}
          {model.entities.length === 0 && <p class="quiet canvas-empty">Drag an entity here, or press one above.</p>}
        </div>
      </div>
    </Panel>
  );
}
