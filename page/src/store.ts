// A value that components follow.
import { useEffect, useState } from "preact/hooks";

export class Store<T> {
  private listeners = new Set<() => void>();
  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }
  set(next: T): void {
    if (Object.is(next, this.current)) return;
    this.current = next;
    for (const listener of this.listeners) listener();
  }
  update(change: Partial<T>): void {
    this.set({ ...this.current, ...change });
  }
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export function useStore<T>(store: Store<T>): T {
  const [, again] = useState(0);
  useEffect(() => store.subscribe(() => again((n) => n + 1)), [store]);
  return store.value;
}

/** A store that the tab remembers, if the browser lets it. */
export function remembered<T extends string>(name: string, first: T, allowed: readonly T[]): Store<T> {
  let start = first;
  try {
    const kept = localStorage.getItem(name);
    start = allowed.find((each) => each === kept) ?? first;
  } catch {
    // storage is off
  }
  const store = new Store<T>(start);
  store.subscribe(() => {
    try {
      localStorage.setItem(name, store.value);
    } catch {
      // storage is off
    }
  });
  return store;
}
