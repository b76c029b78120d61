// Sounds made on the spot, and the phone's motor. Browsers allow both only after a touch or key.
import { sound, vibration } from "./store";

let context: AudioContext | null = null;

/** Called on the first touch, so that later sounds may come by themselves. */
function wake(): AudioContext | null {
  if (context === null && "AudioContext" in window) context = new AudioContext();
  if (context?.state === "suspended") void context.resume();
  return context;
}
addEventListener("pointerdown", wake, { passive: true });
addEventListener("keydown", wake, { passive: true });

interface Note {
  hz: number;
  to?: number; // glides there
  at?: number;
  lasts: number;
  loud?: number;
  wave?: OscillatorType;
}

function play(note: Note): void {
  if (context === null || context.state !== "running") return;
  const start = context.currentTime + (note.at ?? 0);
  const tone = context.createOscillator();
  const gain = context.createGain();
  tone.type = note.wave ?? "sine";
  tone.frequency.setValueAtTime(note.hz, start);
  if (note.to) tone.frequency.exponentialRampToValueAtTime(note.to, start + note.lasts);
  gain.gain.setValueAtTime(0.0001, start);
  gain.gain.exponentialRampToValueAtTime(note.loud ?? 0.12, start + 0.012);
  gain.gain.exponentialRampToValueAtTime(0.0001, start + note.lasts);
  tone.connect(gain).connect(context.destination);
  tone.start(start);
  tone.stop(start + note.lasts + 0.02);
}

const tunes = {
  call: [{ hz: 520, lasts: 0.09 }],
  tick: [{ hz: 880, lasts: 0.05, loud: 0.06 }],
  tap: [{ hz: 300, to: 760, lasts: 0.1, wave: "triangle" }],
  right: [
    { hz: 660, lasts: 0.1 },
    { hz: 990, at: 0.08, lasts: 0.16 },
  ],
  wrong: [{ hz: 190, to: 95, lasts: 0.28, wave: "sawtooth", loud: 0.08 }],
  die: [0, 0.09, 0.17, 0.24].map((at) => ({ hz: 180 + 900 * at, at, lasts: 0.04, wave: "square" as const, loud: 0.04 })),
  step: [{ hz: 420, lasts: 0.05, wave: "triangle", loud: 0.08 }],
  ladder: [0, 0.09, 0.18, 0.27].map((at, i) => ({ hz: 440 * 1.26 ** i, at, lasts: 0.12 })),
  snake: [{ hz: 640, to: 110, lasts: 0.6, wave: "sawtooth", loud: 0.06 }],
  turn: [
    { hz: 590, lasts: 0.1 },
    { hz: 790, at: 0.1, lasts: 0.14 },
  ],
  win: [523, 659, 784, 1047].map((hz, i) => ({ hz, at: i * 0.13, lasts: i === 3 ? 0.5 : 0.16, wave: "triangle" as const })),
} satisfies Record<string, Note[]>;

export type Tune = keyof typeof tunes;

export function hear(tune: Tune): void {
  if (sound.get()) (tunes[tune] as Note[]).forEach(play);
}

export function shake(pattern: number | number[]): void {
  if (vibration.get() && "vibrate" in navigator && navigator.userActivation?.hasBeenActive) navigator.vibrate(pattern);
}
