// The caller's voice, where the device has one.
import { sound, voice } from "./store";

export const canSpeak = "speechSynthesis" in window;

/** Says it now, instead of what is being said. */
export function speak(text: string, hindi: boolean): void {
  if (!canSpeak || !voice.get() || !sound.get()) return;
  const said = new SpeechSynthesisUtterance(text);
  said.lang = hindi ? "hi-IN" : "en-IN";
  said.rate = 1.1;
  speechSynthesis.cancel();
  speechSynthesis.speak(said);
}

export function hush(): void {
  if (canSpeak) speechSynthesis.cancel();
}
