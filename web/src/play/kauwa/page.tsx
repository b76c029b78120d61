import "./kauwa.css";

export { KauwaUdd as default } from "./KauwaUdd";
export const lastMoveMs = 1200;
