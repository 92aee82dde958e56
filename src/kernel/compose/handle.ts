import { ServiceError } from '../errors.ts'

/** A resource, as its users see it. */
export interface Held<T> {
  readonly current: T | null
  /** Calls `listener` with each new resource, and with null when it ends, until the returned function is called. */
  onChange(listener: (resource: T | null) => void): () => void
}

/**
 * A resource of a process, for units beside its owner. It is unavailable until the process is ready, and while the owner
 * restarts. Units that hold the handle are not restarted with the owner.
 */
export class Handle<T> implements Held<T> {
  readonly #what: string
  readonly #listeners = new Set<(resource: T | null) => void>()
  #current: T | null = null

  /** `what` names the resource in refusals, such as `the connections to nodes`. */
  constructor(what: string) {
    this.#what = what
  }

  get current(): T | null {
    return this.#current
  }

  /** Returns the resource. Throws RESTARTING while it is unavailable. */
  get(): T {
    if (this.#current === null) throw new ServiceError('RESTARTING', `${this.#what} restart; retry`)
    return this.#current
  }

  /** Sets the resource; null when it ends. */
  set(resource: T | null): void {
    if (resource === this.#current) return
    this.#current = resource
    for (const listener of this.#listeners) listener(resource)
  }

  onChange(listener: (resource: T | null) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
