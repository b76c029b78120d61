import { render } from "preact";
import "../styles/base.css";
import "../styles/parts.css";
import "./styles/console.css";
import { Console } from "./Console";

render(<Console />, document.getElementById("app")!);
