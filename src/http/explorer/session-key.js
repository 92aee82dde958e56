const ITEM = 'millrace.key'
const listeners = new Set()

/** The API key of this browser tab. It is held in sessionStorage, which ends with the tab, and nowhere else. */
export const sessionKey = {
  /** Empty where there is none. */
  get: () => sessionStorage.getItem(ITEM) ?? '',
  /** Replaces the key; an empty one is forgotten. */
  set(key) {
    if (key === '') sessionStorage.removeItem(ITEM)
    else sessionStorage.setItem(ITEM, key)
    for (const listener of listeners) listener()
  },
  subscribe(listener) {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }
}
