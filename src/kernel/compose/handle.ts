import { ERRORS, ServiceError } from '../errors.ts'

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
    if (this.#current === null) throw new ServiceError(ERRORS.RESTARTING, `${this.#what} restart; retry`)
    return this.#current
  }

  /**
   * Adds to an object properties that read these keys of the current resource, whichever it is by then. Reading one
   * throws RESTARTING while the resource is unavailable. A spread of the object would read them once, so add to it here.
   */
  view<const Key extends keyof T, Rest extends object>(
    keys: readonly Key[],
    rest: Rest
  ): Rest & Readonly<Pick<T, Key>> {
    return withGetters(rest, new Map(keys.map((key) => [key, () => this.get()[key]]))) as Rest & T
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

/** Adds to an object properties that read the resources of handles, as `Handle.view` does for the keys of one resource. */
export function viewOf<Resources extends object, Rest extends object>(
  handles: { readonly [Name in keyof Resources]: Pick<Handle<Resources[Name]>, 'get'> },
  rest: Rest
): Rest & Readonly<Resources> {
  const names = Object.keys(handles) as (keyof Resources)[]
  return withGetters(rest, new Map(names.map((name) => [name, () => handles[name].get()]))) as Rest &
    Resources
}

function withGetters(rest: object, getters: ReadonlyMap<PropertyKey, () => unknown>): object {
  for (const [name, get] of getters) Object.defineProperty(rest, name, { get, enumerable: true })
  return rest
}
