// What the board says, in the room's language.
export interface Words {
  yourTurn: string;
  turnOf(name: string): string;
  done: string;
  draw: string;
  won(name: string): string;
  youWon: string;
  hint: string;
  keys: string;
  left(seconds: number): string;
  you: string;
  away: string;
  gone: string;
  looksOn(count: number): string;
  column(column: number, free: number): string;
  dropped(name: string, column: number, byClock: boolean): string;
}

const english: Words = {
  yourTurn: "Your turn",
  turnOf: (name) => `${name}'s turn`,
  done: "It is done!",
  draw: "A draw: the board is full",
  won: (name) => `${name} has four in a row!`,
  youWon: "You have four in a row!",
  hint: "Tap a column.",
  keys: "Or press 1 to 7.",
  left: (seconds) => `${seconds} s left`,
  you: "you",
  away: "away",
  gone: "has left",
  looksOn: (count) => `${count} ${count === 1 ? "looks" : "look"} on`,
  column: (column, free) => `Column ${column}, ${free === 0 ? "full" : `${free} free`}`,
  dropped: (name, column, byClock) => `${name || "You"} dropped into column ${column}${byClock ? " (by the clock)" : ""}`,
};

const hindi: Words = {
  yourTurn: "आपकी बारी",
  turnOf: (name) => `${name} की बारी`,
  done: "खेल ख़त्म!",
  draw: "बराबरी: बोर्ड भर गया",
  won: (name) => `${name} की चार एक कतार में!`,
  youWon: "आपकी चार एक कतार में!",
  hint: "किसी खाने को छुएँ।",
  keys: "या 1 से 7 दबाएँ।",
  left: (seconds) => `${seconds} सेकंड बाक़ी`,
  you: "आप",
  away: "बाहर",
  gone: "चले गए",
  looksOn: (count) => `${count} देख रहे हैं`,
  column: (column, free) => `खाना ${column}, ${free === 0 ? "भरा हुआ" : `${free} ख़ाली`}`,
  dropped: (name, column, byClock) => `${name || "आप"}: खाना ${column}${byClock ? " (समय पूरा)" : ""}`,
};

export function wordsOf(inHindi: boolean): Words {
  return inHindi ? hindi : english;
}
