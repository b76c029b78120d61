import "./snakes.css";

export { Snakes as default } from "./Snakes";
export const lastMoveMs = 3200; // the last piece has to arrive
