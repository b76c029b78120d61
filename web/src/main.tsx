import { render } from "preact";

function App() {
  return <main>gametable</main>;
}

render(<App />, document.getElementById("app")!);
