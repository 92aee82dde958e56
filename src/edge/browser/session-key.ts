const ITEM = 'millrace.key'
const listeners = new Set<() => void>()

/** The API key of this browser tab, which the page at `/` uses too. It is stored only in sessionStorage, which ends with the tab. */
export const sessionKey = {
  /** Returns the key; empty if no key is set. */
  get: (): string => sessionStorage.getItem(ITEM) ?? '',
  /** Replaces the key; an empty text removes it. */
  set(key: string): void {
    if (key === '') sessionStorage.removeItem(ITEM)
    else sessionStorage.setItem(ITEM, key)
    for (const listener of listeners) listener()
  },
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
}
