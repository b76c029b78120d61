import "./four.css";

export { Four as default } from "./Four";
export const lastMoveMs = 2200; // to see which four they are
