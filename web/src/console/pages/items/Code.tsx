import { useState } from "preact/hooks";
import { Command } from "../../../shared/Copy";
import { generate, LANGUAGES, type Language } from "../../logic/generateCode";
import { Panel } from "../../parts/Panel";
import { Tabs } from "../../parts/Tabs";
import type { AskedItems } from "./useItems";

/** The program that asks the same. */
export function Code({ asked, problem }: { asked: AskedItems | undefined; problem: string }) {
  const [language, choose] = useState<Language>("AWS CLI");
  return (
    <Panel title="The same as a program">
      <Tabs label="Language" tabs={LANGUAGES} chosen={language} choose={choose} />
      {asked ? (
        <Command title={language} text={generate(language, asked.operation, asked.request, location.origin)} />
      ) : (
        <p class="quiet">{problem}</p>
      )}
    </Panel>
  );
}
