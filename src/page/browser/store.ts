import { useEffect, useState } from 'preact/hooks'

/** A value that components follow. */
export class Store<T> {
  readonly #listeners = new Set<() => void>()
  #value: T

  constructor(value: T) {
    this.#value = value
  }

  get value(): T {
    return this.#value
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return
    this.#value = value
    for (const listener of [...this.#listeners]) listener()
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** Returns the value of a store, and renders again when it changes. */
export function useStore<T>(store: Store<T>): T {
  const [, render] = useState({})
  const rendered = store.value
  useEffect(() => {
    const unsubscribe = store.subscribe(() => render({}))
    // Effects run after the frame is drawn: the value may have changed since it was rendered.
    if (!Object.is(rendered, store.value)) render({})
    return unsubscribe
  }, [store])
  return rendered
}
