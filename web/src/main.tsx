import { render } from "preact";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/play.css";
import "./styles/kauwa.css";
import "./styles/snakes.css";
import "./styles/results.css";
import "./styles/boards.css";
import "./styles/home.css";
import { App } from "./App";

render(<App />, document.getElementById("app")!);
