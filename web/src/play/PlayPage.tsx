import { useRef, useState } from "preact/hooks";
import { api, reasonOf } from "../shared/api";
import { go } from "../shared/address";
import { keepInvite, keepSeat, ownPlayer, playerName } from "../shared/store";
import { useTitle } from "../shared/title";
import { NameField } from "./NameField";
import { NewRoomForm, type RoomWish } from "./NewRoomForm";
import { OpenRooms } from "./OpenRooms";
import { OwnRooms } from "./OwnRooms";

function JoinForm() {
  return (
    <form
      class="row join"
      onSubmit={(event) => {
        event.preventDefault();
        const given = String(new FormData(event.currentTarget).get("code"));
        // A pasted link will do as well as the code at its end; it may carry an invitation.
        const [path = "", invite] = given.trim().split(/#i=/);
        const code = path.replace(/[/?#]*$/, "").split("/").pop()!.toUpperCase();
        if (invite) keepInvite(code, invite);
        if (code) go(`/play/${encodeURIComponent(code)}`);
      }}
    >
      <label class="grow">
        Room code or link
        <input name="code" placeholder="DW7ZP" autocomplete="off" autocapitalize="characters" spellcheck={false} required />
      </label>
      <button>Join</button>
    </form>
  );
}

export function PlayPage() {
  useTitle("Play");
  const name = playerName.use();
  const [problem, setProblem] = useState("");
  const making = useRef(false); // one room, however often one presses
  const make = async (wish: RoomWish) => {
    if (name.trim() === "") {
      setProblem("Say your name first, so that the others know who plays.");
      document.getElementById("name")?.focus();
      return;
    }
    if (making.current) return;
    making.current = true;
    try {
      const seat = await api().createRoom({ ...wish, name: name.trim(), player: ownPlayer() });
      keepSeat(seat.room.code, { player: seat.player, token: seat.token });
      go(`/play/${seat.room.code}`);
    } catch (error) {
      setProblem(reasonOf(error));
    } finally {
      making.current = false;
    }
  };
  return (
    <div class="page play">
      <h1>Who plays?</h1>
      <OwnRooms />
      <NameField />
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <section class="card" aria-labelledby="join-title">
        <h2 id="join-title">Join a room</h2>
        <JoinForm />
        <OpenRooms />
      </section>
      <section class="card" aria-labelledby="make-title">
        <h2 id="make-title">Make a room</h2>
        <NewRoomForm onMake={make} />
      </section>
    </div>
  );
}
