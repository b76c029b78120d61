// The pages of boards, in one file of the program.
import "../styles/boards.css";

export { BoardPage } from "./BoardPage";
export { BoardsPage } from "./BoardsPage";
