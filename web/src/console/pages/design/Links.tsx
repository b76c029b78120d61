import { TABLE, type Model, type ModelEntity } from "../../logic/model";

interface LinksProps {
  model: Model;
  width: number;
  height: number;
  card: { width: number; height: number };
}

interface Link {
  from: ModelEntity;
  to: ModelEntity;
  index: string;
}

function shape(template: string | undefined): string {
  return (template ?? "").replace(/\$\{[^}]*\}/g, "*");
}

/** Pairs that lie in one partition, of the table or of an index. */
function linksOf(model: Model): Link[] {
  const links: Link[] = [];
  model.entities.forEach((from, i) => {
    for (const to of model.entities.slice(i + 1)) {
      const index = model.indexes.find(({ name }) => from.keys[name] && to.keys[name] && shape(from.keys[name].pk) === shape(to.keys[name].pk));
      if (index) links.push({ from, to, index: index.name });
    }
  });
  return links;
}

export function Links({ model, width, height, card }: LinksProps) {
  const middle = (entity: ModelEntity) => ({ x: entity.x + card.width / 2, y: entity.y + 70 });
  return (
    <svg class="links" width={width} height={height} aria-hidden="true">
      {linksOf(model).map(({ from, to, index }) => {
        const a = middle(from);
        const b = middle(to);
        const bend = Math.abs(a.x - b.x) / 3;
        return (
          <g key={`${from.name} ${to.name}`} class={index === TABLE ? "" : "by-index"}>
            <path d={`M${a.x} ${a.y}C${a.x + Math.sign(b.x - a.x) * bend} ${a.y} ${b.x - Math.sign(b.x - a.x) * bend} ${b.y} ${b.x} ${b.y}`} />
          </g>
        );
      })}
    </svg>
  );
}
