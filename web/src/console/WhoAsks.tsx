import { currentSession, rest } from "./server";

export function WhoAsks() {
  const { session, key } = currentSession();
  const leave = async () => {
    await rest("DELETE", "/console/session").catch(() => {});
    location.reload();
  };
  if (session === "open") return <p class="who quiet">This server has no access keys: anybody on this machine may look.</p>;
  return (
    <p class="who quiet">
      Signed in as <b>{key?.name || key?.id}</b>
      <button class="plain" onClick={leave}>
        Sign out
      </button>
    </p>
  );
}
