import { useRef } from "preact/hooks";
import { compact } from "../../../shared/numbers";
import { TABLE, type Model, type ModelEntity } from "../../logic/model";
import { Template } from "./Template";

interface CardProps {
  model: Model;
  entity: ModelEntity;
  chosen: boolean;
  choose: () => void;
  move: (x: number, y: number) => void;
}

const STEP = 20;
const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};

export function EntityCard({ model, entity, chosen, choose, move }: CardProps) {
  const grip = useRef<{ x: number; y: number } | null>(null);
  const take = (event: PointerEvent) => {
    if ((event.target as HTMLElement).closest("button:not(.grip)")) return;
    grip.current = { x: event.clientX - entity.x, y: event.clientY - entity.y };
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };
  const drag = (event: PointerEvent) => {
    if (grip.current) move(event.clientX - grip.current.x, event.clientY - grip.current.y);
  };
  const press = (event: KeyboardEvent) => {
    const step = ARROWS[event.key];
    if (!step) return;
    event.preventDefault();
    move(entity.x + step[0], entity.y + step[1]);
  };
  const keys = model.indexes.filter(({ name }) => entity.keys[name]);
  return (
    <article class={`entity-card ${chosen ? "chosen" : ""}`} style={{ left: `${entity.x}px`, top: `${entity.y}px` }} aria-label={entity.name}>
      <div class="entity-bar" onPointerDown={take} onPointerMove={drag} onPointerUp={() => (grip.current = null)}>
        <button class="grip" aria-label={`Move ${entity.name}: arrow keys`} title="Drag, or use the arrow keys" onKeyDown={press}>
          ⠿
        </button>
        <b class="grow">{entity.name}</b>
        <button class="small" aria-expanded={chosen} onClick={choose}>
          Edit<span class="unseen"> {entity.name}</span>
        </button>
      </div>
      <dl>
        {keys.map((index) => (
          <div key={index.name}>
            <dt>{index.name === TABLE ? "Key" : index.name}</dt>
            <dd>
              <Template text={entity.keys[index.name].pk} />
              {index.sk && <Template text={entity.keys[index.name].sk} />}
            </dd>
          </div>
        ))}
      </dl>
      <p class="quiet">
        {compact(entity.count)} of {entity.bytes} bytes · {entity.fields.length} attributes
      </p>
    </article>
  );
}
