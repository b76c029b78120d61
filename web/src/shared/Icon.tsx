// Drawings of one line each, in the colour of the text around them.
const paths = {
  crow: "M3 15c3 0 4-1 6-4 1-3 3-5 6-5 1.5 0 2.5.7 3 2l3 1-3 1c0 5-3 9-8 9l-1 2M10 19H3l4-3M15.5 8.500v.01",
  sound: "M4 9v6h4l5 4V5L8 9zM16.5 8.500a5 5 0 0 1 0 7M19 6a8.5 8.5 0 0 1 0 12",
  mute: "M4 9v6h4l5 4V5L8 9zM17 9.500l5 5M22 9.500l-5 5",
  voice: "M4 5h16v11h-9l-4 4v-4H4zM8.5 9h7M8.5 12h5",
  silent: "M4 5h16v11h-9l-4 4v-4H4zM9.500 8.500l5 5M14.500 8.500l-5 5",
  shake: "M8 4h8v16H8zM4.5 9v6M1.5 10.500v3M19.5 9v6M22.5 10.500v3",
  calm: "M8 4h8v16H8zM3 3l18 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  done: "M4 12.500l5.5 5.500L20 7",
  share: "M12 15V3M7.5 7.500L12 3l4.5 4.500M5 12v8h14v-8",
  crown: "M3 18h18l1-10-5.5 4L12 5l-4.5 7L2 8z",
  cross: "M6 6l12 12M18 6L6 18",
  flame: "M12 3c1 4 6 6 6 11a6 6 0 0 1-12 0c0-2 1-4 2.5-5 .3 2 1 3 2 3 .5-3-.5-6 1.5-9z",
  eye: "M2 12c3-5 6.5-7 10-7s7 2 10 7c-3 5-6.5 7-10 7s-7-2-10-7zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="drawing" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
