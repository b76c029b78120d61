import { useState } from "preact/hooks";
import { boardPath, type Board } from "../../boards";
import { toBody, toForm, WORDS, type BoardForm } from "../../logic/boardForm";
import { curl } from "../../logic/shell";
import { Change } from "../../parts/Change";
import { Dialog } from "../../parts/Dialog";
import { Check, Choice, TextField } from "../../parts/Field";
import { How } from "../../parts/How";
import { messageOf, rest } from "../../server";
import { useDoing } from "../../useAnswer";
import { SeasonFields } from "./SeasonFields";

interface BoardDialogProps {
  board?: Board; // to be changed; none: a new one
  close: () => void;
  done: (id: string) => void;
}

function More({ form, change }: { form: BoardForm; change: (part: Partial<BoardForm>) => void }) {
  return (
    <details class="more">
      <summary>More: limits, lives, fair play, sources</summary>
      <div class="columns">
        <TextField label="Time zone" value={form.timeZone} set={(timeZone) => change({ timeZone })} placeholder="UTC" />
        <TextField label="Scopes, by commas" value={form.scopes} set={(scopes) => change({ scopes })} placeholder="global, room" />
        <TextField label="Least score" value={form.scoreMin} set={(scoreMin) => change({ scoreMin })} />
        <TextField label="Greatest score" value={form.scoreMax} set={(scoreMax) => change({ scoreMax })} />
        <TextField label="Digits after the point" type="number" value={form.decimals} set={(decimals) => change({ decimals })} />
        <TextField label="An entry lives, seconds" type="number" value={form.entryLifeSeconds} set={(entryLifeSeconds) => change({ entryLifeSeconds })} />
        <TextField label="An ended period lives, seconds" type="number" value={form.periodLifeSeconds} set={(periodLifeSeconds) => change({ periodLifeSeconds })} />
        <TextField label="A play lasts at least, ms" type="number" value={form.playMinMs} set={(playMinMs) => change({ playMinMs })} />
        <TextField label="A play brings at most" value={form.playScoreMax} set={(playScoreMax) => change({ playScoreMax })} />
        <TextField label="Made of these boards, by commas" value={form.sources} set={(sources) => change({ sources })} />
        {form.sources && <Choice label="As their" value={form.combine} set={(combine) => change({ combine })} choices={WORDS.combine} />}
      </div>
      <Check label="Scores have a second part" value={form.subscores} set={(subscores) => change({ subscores })} />
      <Check label="Only with the token of a play" value={form.needsPlay} set={(needsPlay) => change({ needsPlay })} />
    </details>
  );
}

export function BoardDialog({ board, close, done }: BoardDialogProps) {
  const [form, set] = useState<BoardForm>(() => toForm(board));
  const doing = useDoing();
  const change = (part: Partial<BoardForm>) => set({ ...form, ...part });
  const request = () =>
    board
      ? { method: "PUT", path: `/v1${boardPath(board.id)}`, body: toBody(form) }
      : { method: "POST", path: "/v1/boards", body: toBody(form) };
  const submit = async (event: Event) => {
    event.preventDefault();
    const ok = await doing.run(async () => {
      const { method, path, body } = request();
      await rest(method, path.slice(3), body);
    });
    if (ok) done(form.id);
  };
  let command = "";
  try {
    command = curl(request(), location.origin);
  } catch (error) {
    command = `# ${messageOf(error)}`;
  }
  return (
    <Dialog title={board ? `Change ${board.id}` : "Define a board"} close={close} wide>
      <form onSubmit={submit}>
        <div class="columns">
          {!board && <TextField label="Id" value={form.id} set={(id) => change({ id })} required placeholder="tetris:daily" />}
          <TextField label="Game" value={form.game} set={(game) => change({ game })} required placeholder="tetris" />
          <TextField label="Title" value={form.title} set={(title) => change({ title })} />
          <Choice label="Begins anew" value={form.timeframe} set={(timeframe) => change({ timeframe })} choices={WORDS.timeframe} />
          <Choice label="First is the" value={form.order} set={(order) => change({ order })} choices={WORDS.order} />
          <Choice label="Of several scores it keeps the" value={form.keep} set={(keep) => change({ keep })} choices={WORDS.keep} />
          <Choice label="Of equals stands first the" value={form.ties} set={(ties) => change({ ties })} choices={WORDS.ties} />
          <Choice label="Ranks of equals" value={form.ranking} set={(ranking) => change({ ranking })} choices={WORDS.ranking} />
        </div>
        {form.timeframe === "season" && <SeasonFields seasons={form.seasons} set={(seasons) => change({ seasons })} />}
        <More form={form} change={change} />
        {doing.problem && (
          <p class="problem" role="alert">
            {doing.problem}
          </p>
        )}
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <Change main submit busy={doing.busy}>
            {board ? "Change the board" : "Define it"}
          </Change>
        </div>
        <How about="This board" told={[{ title: "curl", text: command }]} />
      </form>
    </Dialog>
  );
}
