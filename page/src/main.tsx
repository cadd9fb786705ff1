import { render } from "preact";
import { App } from "./app";

const place = document.getElementById("page");
if (place) render(<App />, place);
