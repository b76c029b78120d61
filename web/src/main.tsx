import { render } from "preact";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/play.css";
import "./styles/results.css";
import "./styles/home.css";
import { App } from "./App";

render(<App />, document.getElementById("app")!);
