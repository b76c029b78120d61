// Numbers as people read them.
export function signed(number: number): string {
  return number < 0 ? `−${-number}` : String(number);
}

export function change(number: number): string {
  return number < 0 ? `−${-number}` : `+${number}`;
}

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function grouped(number: number): string {
  return plain.format(number);
}

/** A decimal number that came as text, with all its digits. */
export function exact(text: string): string {
  const [whole = "", rest] = text.split(".");
  const digits = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return (rest === undefined ? digits : `${digits}.${rest}`).replace("-", "−");
}

export function compact(number: number): string {
  return Math.abs(number) < 10000 ? plain.format(number) : short.format(number);
}

const UNITS = ["B", "KB", "MB", "GB", "TB"];

export function bytes(number: number): string {
  const step = number < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(number) / 10));
  return `${(number / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${UNITS[step]}`;
}
