// The admin token: kept by the tab until it is closed, and sent only with changes.
import { Store } from "./store";

const place = "deltamatch-admin-token";

export class Admin {
  readonly token: Store<string>;

  constructor() {
    let kept = "";
    try {
      kept = sessionStorage.getItem(place) ?? "";
    } catch {
      // storage is off
    }
    this.token = new Store(kept);
  }

  set(token: string): void {
    try {
      if (token === "") sessionStorage.removeItem(place);
      else sessionStorage.setItem(place, token);
    } catch {
      // storage is off: the page itself remembers it
    }
    this.token.set(token);
  }
}
